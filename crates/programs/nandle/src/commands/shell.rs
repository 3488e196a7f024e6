//! What a shell asks of the program: completion scripts and manual pages, from the definition of its command line.

use clap::{Args, Command};
use nandle_terminal::output;

use crate::error::CliError;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle completions bash > ~/.local/share/bash-completion/completions/nandle\n  nandle completions zsh > ~/.zfunc/_nandle\n  nandle completions fish > ~/.config/fish/completions/nandle.fish"
)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: clap_complete::Shell,
    /// What other commands have; a script has no such form.
    #[arg(long, hide = true)]
    json: bool,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle man > nandle.1 && man -l nandle.1\n  nandle man sweep > nandle-sweep.1 && man -l nandle-sweep.1"
)]
pub(crate) struct ManArgs {
    /// The page of this command [default: that of the program]
    command: Option<String>,
    /// What other commands have; a page has no such form.
    #[arg(long, hide = true)]
    json: bool,
}

/// Prints a completion script.
pub(crate) fn completions(mut program: Command, args: &CompletionsArgs) -> Result<(), CliError> {
    refuse_json(args.json, "a completion script")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "nandle", &mut script);
    print_bytes(script)
}

/// Prints the manual page of the program, or of one of its commands.
pub(crate) fn man_page(program: Command, args: &ManArgs) -> Result<(), CliError> {
    refuse_json(args.json, "a manual page")?;
    let mut program = program.disable_help_subcommand(true);
    // Gives the commands the names under which they are called.
    program.build();
    let described = match &args.command {
        None => program,
        Some(name) => described(&program, name)?,
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(described).render(&mut page);
    rendered.map_err(|error| CliError::failed(format!("rendering the manual page: {error}")))?;
    let page = String::from_utf8(page).map_err(|error| CliError::failed(error.to_string()))?;
    Ok(output::result(&with_examples(&page))?)
}

fn refuse_json(is_wanted: bool, what: &str) -> Result<(), CliError> {
    if is_wanted {
        Err(CliError::usage(format!("--json: {what} has no JSON form; leave it out")))
    } else {
        Ok(())
    }
}

fn described(program: &Command, name: &str) -> Result<Command, CliError> {
    let command = program.find_subcommand(name).cloned();
    command.ok_or_else(|| {
        let names: Vec<_> = program.get_subcommands().map(Command::get_name).collect();
        CliError::usage(format!("{name}: there is no such command; expected one of {}", names.join(", ")))
    })
}

/// The examples under a heading of their own, each on its line.
fn with_examples(page: &str) -> String {
    let Some((before, examples)) = page.split_once(".SH EXTRA\nExamples:\n") else { return page.to_owned() };
    let end = examples.find("\n.SH").unwrap_or(examples.trim_end().len());
    let (examples, after) = examples.split_at(end);
    format!("{before}.SH EXAMPLES\n.nf\n{examples}\n.fi{after}")
}

fn print_bytes(bytes: Vec<u8>) -> Result<(), CliError> {
    let text = String::from_utf8(bytes).map_err(|error| CliError::failed(error.to_string()))?;
    Ok(output::result(&text)?)
}
