//! Commands that other programs provide: `nandle scan …` runs `nandle-tables scan …`, found next to
//! `nandle` or on the path, as git does.

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

/// A program that provides some of the commands.
#[derive(Debug)]
pub(crate) struct Program {
    name: &'static str,
    commands: &'static [&'static str],
}

/// Provides the commands for tables.
pub(crate) const TABLES: Program = Program { name: "nandle-tables", commands: &["table", "scan", "cubes"] };
/// Provides the commands for SQL.
pub(crate) const SQL: Program = Program { name: "nandle-sql", commands: &["sql", "serve", "worker"] };
pub(crate) const PROGRAMS: [Program; 2] = [TABLES, SQL];

/// Arguments passed unchanged to the other program.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct ElsewhereArgs {
    /// Options and arguments of the command; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    rest: Vec<OsString>,
}

/// Replaces this process with the other program. Returns only on failure.
pub(crate) fn run(
    program: &Program,
    command: &str,
    args: &ElsewhereArgs,
    common: Common,
) -> Result<(), CliError> {
    let handed = behind(command, std::env::args_os());
    // Global flags before the command were parsed here, and are passed on.
    let flags = [(common.json, "--json"), (common.no_progress, "--no-progress")];
    let is_before = |flag: &str| {
        !handed.iter().take(handed.len().saturating_sub(args.rest.len())).any(|word| word == flag)
    };
    let flags = flags.into_iter().filter_map(|(is_set, flag)| (is_set && is_before(flag)).then_some(flag));
    Err(program.replace_this(command, |own| own.arg(command).args(flags).args(&handed)))
}

/// Replaces this process with the other program for help on one of its commands, as in `nandle help
/// table load`.
pub(crate) fn help() -> Option<CliError> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (program, command) = helped(&words)?;
    Some(program.replace_this(command, |own| own.args(&words)))
}

fn helped(words: &[OsString]) -> Option<(Program, &'static str)> {
    let mut words = words.iter().filter(|word| *word != "--json" && *word != "--no-progress");
    let (help, command) = (words.next()?, words.next()?);
    if help != "help" {
        return None;
    }
    PROGRAMS.into_iter().find_map(|program| {
        let own = program.commands.iter().find(|own| command == **own)?;
        Some((program, *own))
    })
}

impl Program {
    /// The program's commands as a phrase.
    pub(crate) fn commands(&self) -> String {
        match self.commands {
            [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
            commands => commands.concat(),
        }
    }

    /// Definitions of the program's commands and their arguments.
    pub(crate) fn definitions(&self) -> Result<Vec<CommandDefinition>, CliError> {
        let path = self.path();
        let wrong = |said: &dyn Display| {
            let path = path.display();
            CliError::failed(format!("{path} doesn't say which commands it has; install it anew: {said}"))
        };
        let output = Command::new(&path)
            .arg("definition")
            .output()
            .map_err(|error| self.not_run(&path, &error, self.commands.first().unwrap_or(&self.name)))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(wrong(&format!("{} {}", output.status, said.trim())));
        }
        let all: CommandDefinition = serde_json::from_slice(&output.stdout).map_err(|error| wrong(&error))?;
        // A newer program may have commands that this one doesn't forward.
        let handed_over = |one: &&CommandDefinition| self.commands.contains(&one.name());
        Ok(all.subcommands().iter().filter(handed_over).cloned().collect())
    }

    /// Executes the program in place of this process.
    fn replace_this(
        &self,
        command: &str,
        with_arguments: impl FnOnce(&mut Command) -> &mut Command,
    ) -> CliError {
        let path = self.path();
        let error = with_arguments(&mut Command::new(&path)).exec();
        self.not_run(&path, &error, command)
    }

    fn not_run(&self, path: &Path, error: &std::io::Error, command: &str) -> CliError {
        let name = self.name;
        CliError::failed(match error.kind() {
            ErrorKind::NotFound => format!(
                "{command} is a command of the program {name}, which is neither beside nandle nor on the path; install it: \
                 `cargo install --path crates/programs/{name}`, or `cargo build --release -p {name}` for one beside nandle"
            ),
            _ => format!("running {}: {error}", path.display()),
        })
    }

    /// The program next to this one, or else on the path.
    fn path(&self) -> PathBuf {
        let path = beside(self.name, std::env::current_exe().ok().as_deref());
        path.unwrap_or_else(|| PathBuf::from(self.name))
    }
}

/// Arguments after the command, verbatim: clap would consume a `--` right after it.
fn behind(command: &str, words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    words.skip(1).skip_while(|word| word != command).skip(1).collect()
}

/// Program in the directory of this one.
fn beside(name: &str, own: Option<&Path>) -> Option<PathBuf> {
    let program = own?.parent()?.join(name);
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
        let helped = |text: &str| helped(&words(text)).map(|(program, command)| (program.name, command));
        assert_eq!(helped("help table load"), Some(("nandle-tables", "table")));
        assert_eq!(helped("help sql"), Some(("nandle-sql", "sql")));
        assert_eq!(helped("help serve"), Some(("nandle-sql", "serve")));
        for other in ["help", "help probe", "scan help", "help help scan"] {
            assert_eq!(helped(other), None, "{other}");
        }
    }

    #[test]
    fn it_is_looked_for_beside_this_program() {
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("nandle");
        assert_eq!(beside("nandle-tables", Some(&own)), None);
        std::fs::write(directory.path().join("nandle-tables"), "").unwrap();
        assert_eq!(beside("nandle-tables", Some(&own)), Some(directory.path().join("nandle-tables")));
        assert_eq!(beside("nandle-sql", Some(&own)), None);
        assert_eq!(beside("nandle-tables", None), None);
    }

    #[test]
    fn commands_are_named_in_a_sentence() {
        assert_eq!(TABLES.commands(), "table, scan and cubes");
        assert_eq!(SQL.commands(), "sql, serve and worker");
    }
}
