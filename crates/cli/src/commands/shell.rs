use clap::CommandFactory;

use crate::args::Args;
use crate::error::CliError;
use crate::output;

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "nandle", &mut script);
    print_bytes(script)
}

/// Prints the manual page.
pub(crate) fn man_page() -> Result<(), CliError> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Args::command()).render(&mut page);
    rendered.map_err(|error| CliError::failed(format!("rendering the manual page: {error}")))?;
    print_bytes(page)
}

fn print_bytes(bytes: Vec<u8>) -> Result<(), CliError> {
    let text = String::from_utf8(bytes).map_err(|error| CliError::failed(error.to_string()))?;
    output::result(&text)
}
