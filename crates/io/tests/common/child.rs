//! Runs an ignored test of a test program in a process with less than usual.

use std::process::Command;

use super::skipped;

/// Runs `test` as a user without privileges, under a limit as `prlimit(1)` names it.
///
/// When this process is root's, as a user of its own, because the system counts by user what users may lock
/// and start.
pub(crate) fn in_a_child_with(test: &str, limit: &str) {
    let mut child = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        let user = (1 << 20) + std::process::id() % (1 << 20);
        child.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
        child.args(["--bounding-set=-all", "--inh-caps=-all"]);
    }
    child.args(["prlimit", limit]).arg(std::env::current_exe().unwrap());
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
