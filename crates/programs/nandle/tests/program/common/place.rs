use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::{Outcome, Running};

pub(crate) const NANDLE: &str = env!("CARGO_BIN_EXE_nandle");

/// Empty directory on the build's disk in which the program runs.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    /// Place that every user can reach.
    pub(crate) fn for_everybody() -> Self {
        Self { directory: tempfile::tempdir_in("/tmp").unwrap() }
    }

    /// Place in memory, if there is such a directory.
    pub(crate) fn in_memory() -> Option<Self> {
        Some(Self { directory: tempfile::tempdir_in("/dev/shm").ok()? })
    }

    /// Name in results.
    pub(crate) fn name(&self) -> String {
        fs::canonicalize(self.directory.path()).unwrap().display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The program with arguments separated by blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        self.command_of(&[NANDLE.to_owned()], arguments)
    }

    /// A program with `words` as its first arguments, followed by `arguments` separated by blanks.
    pub(crate) fn command_of(&self, words: &[String], arguments: &str) -> Command {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(arguments.split_whitespace()).current_dir(self.directory.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end.
    pub(crate) fn nandle(&self, arguments: &str) -> Outcome {
        self.command(arguments).output().unwrap().into()
    }

    pub(crate) fn start(&self, arguments: &str) -> Running {
        Running::new(self.command_at_terminal(arguments).spawn().unwrap())
    }

    /// The program as started by a terminal that later hangs up. Resets the signal: under `nohup`
    /// tests inherit it ignored.
    pub(crate) fn command_at_terminal(&self, arguments: &str) -> Command {
        self.command_of(&["env", "--default-signal=HUP", NANDLE].map(str::to_owned), arguments)
    }

    /// The program after a shell line `set_up`, in a private mount namespace. `None`, with a
    /// notice, if mounting is forbidden.
    pub(crate) fn command_after(&self, set_up: &str, arguments: &str) -> Option<Command> {
        if !super::is_root() {
            super::skip("only an administrator can mount");
            return None;
        }
        let script = format!("{{ {set_up}; }} >set-up.log 2>&1 || exit 99; rm set-up.log; exec \"$@\"");
        let words = ["unshare", "--mount", "sh", "-c", &script, "sh", NANDLE].map(str::to_owned);
        Some(self.command_of(&words, arguments))
    }

    /// Runs such a program. `None`, with a notice, if the line fails.
    pub(crate) fn nandle_after(&self, set_up: &str, arguments: &str) -> Option<Outcome> {
        let outcome = self.command_after(set_up, arguments)?.output().unwrap().into();
        self.was_set_up(&outcome).then_some(outcome)
    }

    /// Runs a shell script in a private mount namespace, with the program as `$0`. `None`, with a
    /// notice, if mounting is forbidden or the script exits with 99.
    pub(crate) fn in_own_mounts(&self, script: &str) -> Option<Outcome> {
        if !super::is_root() {
            super::skip("only an administrator can mount");
            return None;
        }
        let words = ["unshare", "--mount", "sh", "-c", script, NANDLE].map(str::to_owned);
        let outcome: Outcome = self.command_of(&words, "").output().unwrap().into();
        if outcome.code == Some(99) {
            super::skip(&outcome.stderr);
            return None;
        }
        Some(outcome)
    }

    /// Returns true if the shell line before the program succeeded.
    pub(crate) fn was_set_up(&self, outcome: &Outcome) -> bool {
        if outcome.code == Some(99) {
            super::skip(&String::from_utf8_lossy(&self.read("set-up.log")));
        }
        outcome.code != Some(99)
    }

    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), contents).unwrap();
        self.path(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// All names in the place, hidden ones included, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Writes incompressible bytes without duplicate blocks.
    pub(crate) fn write_noise(&self, name: &str, bytes: u64) -> Vec<u8> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let contents: Vec<u8> = (0..bytes / 8)
            .flat_map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state.to_le_bytes()
            })
            .collect();
        let path = self.write(name, &contents);
        fs::File::open(path).unwrap().sync_all().unwrap();
        contents
    }
}
