//! Starts other programs: cargo with its output as it comes, and small tools that answer in a line.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::{output, workspace_root};

/// The cargo that started this program, so that the toolchain stays the same, in the workspace's
/// root.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(workspace_root());
    // Cargo describes this program in variables. Build scripts that read them would run again, and
    // so would all builds that depend on them.
    for (name, _) in env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Cargo's build folder.
pub(crate) fn build_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from)
}

/// Runs a program with our own terminal, and says whether it succeeded.
///
/// # Errors
/// When the program can't be started.
pub(crate) fn succeeds(command: &mut Command) -> io::Result<bool> {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    Ok(status.success())
}

/// Runs a program, passes its standard output on line by line, and shows each line to `look`.
/// Returns true if it succeeded.
///
/// # Errors
/// When the program can't be started, or its output not be read.
pub(crate) fn watch(command: &mut Command, mut look: impl FnMut(&str)) -> io::Result<bool> {
    let started = command.stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| cannot_start(command, &error))?;
    if let Some(output) = child.stdout.take() {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        while output.read_until(b'\n', &mut line)? > 0 {
            let text = String::from_utf8_lossy(&line);
            output::echo(&text);
            look(&text);
            line.clear();
        }
    }
    Ok(child.wait()?.success())
}

/// Trimmed output of a small tool; `None` if it is missing, fails or prints nothing.
pub(crate) fn answer(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Path of a program on the search path.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

fn cannot_start(command: &Command, error: &io::Error) -> io::Error {
    let program = command.get_program().display();
    io::Error::new(error.kind(), format!("cannot start {program}: {error}; is it installed?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watching_sees_every_line_and_the_exit_code() {
        let mut seen = Vec::new();
        let mut script = Command::new("sh");
        script.args(["-c", "echo one; echo two; exit 3"]);
        let succeeded = watch(&mut script, |line| seen.push(line.trim().to_owned())).unwrap();
        assert!(!succeeded);
        assert_eq!(seen, ["one", "two"]);
    }

    #[test]
    fn answers_only_come_from_programs_that_succeed() {
        assert_eq!(answer("sh", &["-c", "echo hello"]).as_deref(), Some("hello"));
        assert_eq!(answer("sh", &["-c", "echo hello; exit 1"]), None);
        assert_eq!(answer("no-such-program-anywhere", &[]), None);
    }

    #[test]
    fn programs_are_found_on_the_search_path() {
        assert!(find_program("sh").is_some());
        assert!(find_program("no-such-program-anywhere").is_none());
    }
}
