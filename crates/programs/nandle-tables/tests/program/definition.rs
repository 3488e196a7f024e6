//! `nandle` generates help, completions and manual pages from `nandle-tables definition`.

use std::process::Command;

use nandle_terminal::CommandDefinition;

fn run(arguments: &[&str]) -> String {
    // Width of the help generated from the definition.
    let mut program = Command::new(env!("CARGO_BIN_EXE_nandle-tables"));
    let output = program.args(arguments).env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compares the help of a command and its subcommands. Returns their number.
fn compare(program: &clap::Command, command: &CommandDefinition, names: &[&str]) -> usize {
    let line = [&["nandle"], names, &["--help"]].concat();
    let made = program.clone().try_get_matches_from(line).unwrap_err().to_string();
    assert_eq!(made, run(&[names, &["--help"]].concat()), "{names:?}");
    let below = command.subcommands().iter();
    1 + below.map(|below| compare(program, below, &[names, &[below.name()]].concat())).sum::<usize>()
}

#[test]
fn help_made_of_the_definition_is_the_programs_own() {
    let definition: CommandDefinition = serde_json::from_str(&run(&["definition"])).unwrap();
    let program = definition.command().bin_name("nandle").version("1").term_width(100);
    assert!(compare(&program, &definition, &[]) > 10);
}
