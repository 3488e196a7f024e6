//! Commands of other programs: `nandle scan …` is `nandle-tables scan …`, which lies beside `nandle` or on the path, as git has it.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use nandle_terminal::CommandDefinition;
use nandle_terminal::args::Common;

use crate::error::CliError;

/// The program that has the commands of tables.
const PROGRAM: &str = "nandle-tables";
/// Its commands.
const COMMANDS: [&str; 3] = ["table", "scan", "cubes"];

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
    let handed = behind(command, std::env::args_os());
    debug_assert!(handed.len() >= args.rest.len(), "{args:?} is what is handed on, but for a `--`");
    Err(become_program(Command::new(program()).arg(command).args(flags).args(handed), command))
}

/// Becomes the other program where the help of one of its commands is asked for, as in `nandle help table load`.
pub(crate) fn help() -> Option<CliError> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let command = helped(&words)?;
    Some(become_program(Command::new(program()).args(&words), command))
}

fn helped(words: &[OsString]) -> Option<&'static str> {
    let mut words = words.iter().filter(|word| *word != "--json" && *word != "--no-progress");
    let (help, command) = (words.next()?, words.next()?);
    COMMANDS.into_iter().find(|own| help == "help" && command == own)
}

/// What the other program's commands and their arguments are.
pub(crate) fn definitions() -> Result<Vec<CommandDefinition>, CliError> {
    let program = program();
    let wrong = |said: &dyn Display| {
        let program = program.display();
        CliError::failed(format!("{program} doesn't say which commands it has; install it anew: {said}"))
    };
    let output = Command::new(&program)
        .arg("definition")
        .output()
        .map_err(|error| not_run(&program, &error, "table"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(wrong(&format!("{} {}", output.status, said.trim())));
    }
    let all: CommandDefinition = serde_json::from_slice(&output.stdout).map_err(|error| wrong(&error))?;
    // A newer one may have commands that this program doesn't hand over.
    let handed_over = |one: &&CommandDefinition| COMMANDS.contains(&one.name());
    Ok(all.subcommands().iter().filter(handed_over).cloned().collect())
}

fn become_program(program: &mut Command, command: &str) -> CliError {
    let error = program.exec();
    not_run(Path::new(program.get_program()), &error, command)
}

fn not_run(program: &Path, error: &std::io::Error, command: &str) -> CliError {
    CliError::failed(match error.kind() {
        ErrorKind::NotFound => format!(
            "{command} is a command of the program {PROGRAM}, which is neither beside nandle nor on the path; install it: \
             `cargo install --path crates/programs/nandle-tables`, or `cargo build --release -p {PROGRAM}` for one beside nandle"
        ),
        _ => format!("running {}: {error}", program.display()),
    })
}

/// The one beside this program, or else on the path.
fn program() -> PathBuf {
    let program = beside(std::env::current_exe().ok().as_deref());
    program.unwrap_or_else(|| PathBuf::from(PROGRAM))
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
    fn help_on_its_commands_is_its_own() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(helped(&words("help table load")), Some("table"));
        for other in ["help", "help probe", "scan help", "help help scan"] {
            assert_eq!(helped(&words(other)), None, "{other}");
        }
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
