//! `nandle` makes help, completions and manual pages of what `nandle-tables definition` says.

use std::process::Command;

use nandle_terminal::CommandDefinition;

fn run(arguments: &[&str]) -> String {
    // As wide as the help of what is made of the definition.
    let mut program = Command::new(env!("CARGO_BIN_EXE_nandle-tables"));
    let output = program.args(arguments).env("COLUMNS", "100").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compares the help of a command and of each below it, and says how many there are.
fn compare(command: &mut clap::Command, names: &[&str]) -> usize {
    let own = run(&[names, &["--help"]].concat());
    assert_eq!(command.render_long_help().to_string(), own, "{names:?}");
    let below: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    let below = below.iter().filter(|name| *name != "help");
    let counts = below
        .map(|name| compare(command.find_subcommand_mut(name).unwrap(), &[names, &[name.as_str()]].concat()));
    1 + counts.sum::<usize>()
}

#[test]
fn help_made_of_the_definition_is_the_programs_own() {
    let definition: CommandDefinition = serde_json::from_str(&run(&["definition"])).unwrap();
    let program = definition.command().bin_name("nandle").version("1").max_term_width(100);
    let mut built = program.term_width(100);
    built.build();
    assert!(compare(&mut built, &[]) > 10);
}
