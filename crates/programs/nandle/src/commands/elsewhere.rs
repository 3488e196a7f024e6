//! Commands of other programs: `nandle scan …` is `nandle-tables scan …`, which lies beside `nandle` or on the path, as git has it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use nandle_terminal::args::Common;

use crate::error::CliError;

/// The program that has the commands of tables.
const PROGRAM: &str = "nandle-tables";

/// What is handed to the other program as it is.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct ElsewhereArgs {
    /// Options and arguments of the command; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// Becomes the other program, which returns only if that isn't possible.
pub(crate) fn run(command: &'static str, args: &ElsewhereArgs, common: Common) -> Result<(), CliError> {
    let flags = [(common.json, "--json"), (common.no_progress, "--no-progress")];
    let flags = flags.into_iter().filter_map(|(is_set, flag)| is_set.then_some(flag));
    let program = beside(std::env::current_exe().ok().as_deref());
    let program = program.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let handed = behind(command, std::env::args_os());
    debug_assert!(handed.len() >= args.rest.len(), "{args:?} is what is handed on, but for a `--`");
    let error = Command::new(&program).arg(command).args(flags).args(handed).exec();
    Err(match error.kind() {
        ErrorKind::NotFound => CliError::failed(format!(
            "{command} is a command of the program {PROGRAM}, which is neither beside nandle nor on the path; install it: \
             `cargo install --path crates/programs/nandle-tables`, or `cargo build --release -p {PROGRAM}` for one beside nandle"
        )),
        _ => CliError::failed(format!("running {}: {error}", program.display())),
    })
}

/// What stands behind the command, word for word: a `--` right behind it would otherwise be taken as this program's own.
fn behind(command: &str, words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    words.skip(1).skip_while(|word| word != command).skip(1).collect()
}

/// The program in the directory of this one.
fn beside(own: Option<&Path>) -> Option<PathBuf> {
    let program = own?.parent()?.join(PROGRAM);
    program.is_file().then_some(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_the_command_is_handed_on_word_for_word() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(behind("scan", words("nandle --json scan -- -t scan").into_iter()), words("-- -t scan"));
        assert!(behind("scan", words("nandle scan").into_iter()).is_empty());
    }

    #[test]
    fn it_is_looked_for_beside_this_program() {
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("nandle");
        assert_eq!(beside(Some(&own)), None);
        std::fs::write(directory.path().join(PROGRAM), "").unwrap();
        assert_eq!(beside(Some(&own)), Some(directory.path().join(PROGRAM)));
        assert_eq!(beside(None), None);
    }
}
