//! `docs/reference/commands.md` is what `--help` says, of every command. With `NANDLE_WRITE_REFERENCE=1`, as `cargo xtask docs`
//! sets it, the page is written instead of compared.

use std::fs;
use std::process::Command;

const OPENING: &str = "# Commands\n\nWritten by `cargo xtask docs` from what each command says of itself.\n";

#[test]
fn the_reference_is_what_the_commands_say_of_themselves() {
    let mut page = OPENING.to_owned();
    add(&mut page, &[]);
    let path = super::book().join("reference/commands.md");
    if std::env::var_os("NANDLE_WRITE_REFERENCE").is_some() {
        fs::write(path, page).unwrap();
    } else {
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == page, "{} is out of date: run cargo xtask docs", path.display());
    }
}

/// Commands of a second program, which may be there or not.
const ELSEWHERE: [&str; 3] = ["table", "scan", "cubes"];

/// A section for a command, and those of the commands below it.
fn add(page: &mut String, command: &[&str]) {
    if let [name] = command
        && ELSEWHERE.contains(name)
    {
        page.extend([
            "\n## nandle ",
            name,
            "\n\nThe program `nandle-tables` runs it: `nandle ",
            name,
            " --help` says what it does.\n",
        ]);
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_nandle")).args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    let name = ["nandle"].iter().chain(command).copied().collect::<Vec<_>>().join(" ");
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.extend(["\n## ", &name, "\n\n```text\n", &lines.join("\n"), "\n```\n"]);
    for below in subcommands(&help) {
        add(page, &[command, &[below]].concat());
    }
}

/// The names below `Commands:`, but for `help`.
fn subcommands(help: &str) -> Vec<&str> {
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[test]
fn commands_are_found_in_help() {
    let help = "About\n\nCommands:\n  probe  Profile\n         more\n  help   Print\n\nOptions:\n  -h\n";
    assert_eq!(subcommands(help), ["probe"]);
    assert!(subcommands("Usage: nandle probe\n").is_empty());
}
