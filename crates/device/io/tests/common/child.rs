//! Runs an ignored test of a test program in a restricted process.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::skipped;

/// Runs `test` as an unprivileged user, under a limit in the syntax of `prlimit(1)`.
///
/// If this process is root's, the child runs as a new user, because the system counts locked memory
/// and threads by user. That user may not be able to reach the build directory, so it runs a copy
/// of the program.
pub(crate) fn in_a_child_with(test: &str, limit: &str) {
    let readable = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let program = readable.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    let mut child = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        let user = (1 << 20) + std::process::id() % (1 << 20);
        child.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
        child.args(["--bounding-set=-all", "--inh-caps=-all"]);
    }
    child.args(["prlimit", limit]).arg(&program);
    child.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
    match child.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("1 passed"), "{said}{complaints}");
        }
        Err(error) => skipped("a process with less than usual; it takes setpriv and prlimit", &error),
    }
}
