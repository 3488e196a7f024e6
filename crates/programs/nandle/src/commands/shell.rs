//! Completion scripts and manual pages, generated from the command line's definition.

use std::path::{Path, PathBuf};

use clap::{Args, Command};
use nandle_terminal::{CommandDefinition, output};

use super::elsewhere::{PROGRAMS, Program};
use crate::error::CliError;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle completions bash > ~/.local/share/bash-completion/completions/nandle\n  nandle completions zsh > ~/.zfunc/_nandle\n  nandle completions fish > ~/.config/fish/completions/nandle.fish"
)]
pub(crate) struct CompletionsArgs {
    /// Name of the shell
    shell: clap_complete::Shell,
    /// Refused: a completion script has no JSON form
    #[arg(long, hide = true)]
    json: bool,
}

/// Print a manual page, or write all of them
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle man > nandle.1 && man -l nandle.1\n  nandle man table load > nandle-table-load.1 && man -l nandle-table-load.1\n  nandle man --directory ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Command to document, such as `table load` [default: the program]
    command: Vec<String>,
    /// Write the pages of the program and of all commands to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    directory: Option<PathBuf>,
    /// Refused: a manual page has no JSON form
    #[arg(long, hide = true)]
    json: bool,
}

/// Prints a completion script.
pub(crate) fn completions(program: Command, args: &CompletionsArgs) -> Result<(), CliError> {
    refuse_json(args.json, "a completion script")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(program), "nandle", &mut script);
    let script = String::from_utf8(script).map_err(|error| CliError::failed(error.to_string()))?;
    Ok(output::result(&script)?)
}

/// Prints the manual page of the program or a command, or writes all pages.
pub(crate) fn man_page(program: Command, args: &ManArgs) -> Result<(), CliError> {
    refuse_json(args.json, "a manual page")?;
    let mut program = whole(program).disable_help_subcommand(true);
    // Sets the full names of the subcommands.
    program.build();
    match &args.directory {
        Some(directory) => write_pages(&program, directory),
        None => Ok(output::result(&page(described(&program, &args.command)?)?)?),
    }
}

/// The program including the commands of other programs.
fn whole(program: Command) -> Command {
    PROGRAMS.iter().fold(program, with_commands_of)
}

fn with_commands_of(program: Command, other: &Program) -> Command {
    match other.definitions() {
        Ok(definitions) => definitions.iter().fold(program, |program, definition| {
            program.mut_subcommand(definition.name(), |_| CommandDefinition::command(definition))
        }),
        Err(error) => {
            output::note(&format!("nandle: options of {} are left out: {error}", other.commands()));
            program
        }
    }
}

/// Writes a page for the command and for each subcommand.
fn write_pages(command: &Command, directory: &Path) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = directory.join(format!("{name}.1"));
    std::fs::write(&path, page(command)?)
        .map_err(|error| CliError::failed(format!("{} (--directory): {error}", path.display())))?;
    command.get_subcommands().try_for_each(|below| write_pages(below, directory))
}

fn page(described: &Command) -> Result<String, CliError> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(described.clone()).render(&mut page);
    rendered.map_err(|error| CliError::failed(format!("rendering the manual page: {error}")))?;
    let page = String::from_utf8(page).map_err(|error| CliError::failed(error.to_string()))?;
    Ok(with_examples(&page))
}

fn refuse_json(is_wanted: bool, what: &str) -> Result<(), CliError> {
    if is_wanted {
        Err(CliError::usage(format!("--json: {what} has no JSON form; leave it out")))
    } else {
        Ok(())
    }
}

fn described<'a>(program: &'a Command, names: &[String]) -> Result<&'a Command, CliError> {
    names.iter().try_fold(program, |command, name| {
        command.find_subcommand(name).ok_or_else(|| {
            let own = command.get_bin_name().unwrap_or_else(|| command.get_name());
            let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
            let expected =
                if names.is_empty() { "none".to_owned() } else { format!("one of {}", names.join(", ")) };
            CliError::usage(format!("{name}: there is no such command of {own}; expected {expected}"))
        })
    })
}

/// Moves the examples under their own heading, one per line.
fn with_examples(page: &str) -> String {
    let Some((before, examples)) = page.split_once(".SH EXTRA\nExamples:\n") else { return page.to_owned() };
    let end = examples.find("\n.SH").unwrap_or(examples.trim_end().len());
    let (examples, after) = examples.split_at(end);
    format!("{before}.SH EXAMPLES\n.nf\n{examples}\n.fi{after}")
}
