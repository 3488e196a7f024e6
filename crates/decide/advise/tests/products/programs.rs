use std::path::{Path, PathBuf};
use std::process::Command;

/// Directories of programs that Debian keeps out of the users' path.
const MORE: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// Finds a program on this machine. Returns `None` with a message if it isn't installed or its
/// tests are skipped.
pub(crate) fn find(program: &str, package: &str, skip_variable: &str) -> Option<PathBuf> {
    if std::env::var(skip_variable).is_ok_and(|value| value == "1") {
        eprintln!("SKIPPED: {skip_variable} is set");
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(MORE.map(PathBuf::from)).chain(postgresql_directories());
    let found = places.map(|place| place.join(program)).find(|place| place.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: no {program} here; install the Debian package {package}");
    }
    found
}

fn postgresql_directories() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    versions.map(|version| version.path().join("bin")).collect()
}

/// Command that runs as another user if we are root, because servers refuse root.
pub(crate) fn as_user(user: &str, program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--init-groups", "--"]).arg(program);
    command
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.current_dir("/").output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    said
}
