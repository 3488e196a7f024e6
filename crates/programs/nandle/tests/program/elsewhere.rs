use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::{NANDLE, Outcome, Place};

/// Runs the program from a directory of its own, with an empty path.
fn run(place: &Place, arguments: &str) -> Outcome {
    let own = place.path("bin/nandle");
    if !own.exists() {
        fs::create_dir(place.path("bin")).unwrap();
        fs::hard_link(NANDLE, &own).unwrap();
    }
    let words = [own.display().to_string()];
    place.command_of(&words, arguments).env("PATH", place.path("path")).output().unwrap().into()
}

fn write_script(place: &Place, name: &str) {
    let path = place.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("#!/bin/sh\necho {name} \"$@\"\nexit 7\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_the_second_program_it_is_said_how_to_install_it() {
    let place = Place::new();
    for (command, program) in [
        ("table load t a.csv", "nandle-tables"),
        ("scan t --columns a", "nandle-tables"),
        ("cubes t", "nandle-tables"),
        ("sql t -c 'SELECT 1'", "nandle-sql"),
        ("serve t --pg 127.0.0.1:5433", "nandle-sql"),
    ] {
        let install = format!("cargo install --path crates/programs/{program}`");
        run(&place, command).refused(1, &[&install, &format!("cargo build --release -p {program}`")]);
    }
}

#[test]
fn arguments_and_exit_codes_are_passed_on() {
    let place = Place::new();
    write_script(&place, "path/nandle-tables");
    let said = |arguments: &str| {
        let outcome = run(&place, arguments);
        assert_eq!(outcome.code, Some(7), "{outcome:?}");
        outcome.stdout
    };
    assert_eq!(said("scan t --columns a --help"), "path/nandle-tables scan t --columns a --help\n");
    assert_eq!(said("--json table describe t"), "path/nandle-tables table --json describe t\n");
    assert_eq!(said("scan --json t"), "path/nandle-tables scan --json t\n");
    assert_eq!(said("--no-progress scan --json t"), "path/nandle-tables scan --no-progress --json t\n");
    assert_eq!(said("cubes --help"), "path/nandle-tables cubes --help\n");
    write_script(&place, "path/nandle-sql");
    assert_eq!(said("sql t -c SELECT"), "path/nandle-sql sql t -c SELECT\n");
    // A program next to this one takes precedence over the path.
    write_script(&place, "bin/nandle-tables");
    assert_eq!(said("scan -- t"), "bin/nandle-tables scan -- t\n");
}

#[test]
fn help_completions_and_manual_know_the_commands() {
    let place = Place::new();
    let help = run(&place, "--help").done().stdout;
    let (script, page) = (run(&place, "completions bash").done().stdout, run(&place, "man").done().stdout);
    for command in ["table", "scan", "cubes", "sql", "serve", "worker"] {
        assert!(help.contains(&format!("  {command} ")), "{help}");
        assert!(script.contains(&format!("nandle,{command})")), "{command}");
        assert!(page.contains(&format!("nandle\\-{command}(1)")), "{page}");
        assert!(run(&place, &format!("man {command}")).done().stdout.contains(".SH EXAMPLES"));
    }
    // The message names the missing program and how to get it.
    for arguments in ["completions bash", "man", "man scan"] {
        let outcome = run(&place, arguments).done();
        outcome.says(&[
            "table, scan and cubes are left out",
            "options of sql, serve and worker are left out",
            "install it",
        ]);
    }
    run(&place, "help scan").refused(1, &["nandle-tables", "install it"]);
    run(&place, "help sql").refused(1, &["nandle-sql", "install it"]);
    run(&place, "help serve").refused(1, &["nandle-sql", "install it"]);
}

/// Output of another program's `definition`.
const DEFINITION: &str = r#"{"name": "nandle-tables", "about": null, "long_about": null, "after_help": null, "requires_subcommand": true,
    "arguments": [], "subcommands": [{"name": "table", "about": "Tables", "long_about": null, "after_help": null,
    "requires_subcommand": true, "arguments": [], "subcommands": [{"name": "load", "about": "Loads", "long_about": null,
    "after_help": "Examples:\n  nandle table load t a.csv", "requires_subcommand": false, "subcommands": [], "arguments": [{"id": "order",
    "long": "order", "short": null, "help": "How", "long_help": null, "values": "one", "value_names": ["HOW"], "default_values": [],
    "possible_values": [{"name": "cells", "help": null, "is_hidden": false}], "value_hint": "unknown", "is_required": false,
    "is_global": false, "is_hidden": false}]}]}]}"#;

/// Writes a program to the path that prints this definition, or else its arguments.
fn write_defined(place: &Place, name: &str, definition: &str) {
    write_script(place, &format!("path/{name}"));
    place.write(&format!("{name}.json"), definition);
    let file = place.path(&format!("{name}.json"));
    let script =
        format!("#!/bin/sh\n[ \"$*\" = definition ] && exec /bin/cat {}\necho \"$@\"\n", file.display());
    place.write(&format!("path/{name}"), script);
}

#[test]
fn options_of_the_second_program_are_asked_of_it() {
    let place = Place::new();
    write_defined(&place, "nandle-tables", DEFINITION);
    write_defined(&place, "nandle-sql", &DEFINITION.replace("table", "sql").replace("order", "spill"));
    for shell in ["bash", "zsh", "fish"] {
        let outcome = run(&place, &format!("completions {shell}")).done();
        for part in ["order", "cells", "spill"] {
            assert!(outcome.stdout.contains(part), "{part:?} is missing for {shell}");
        }
        outcome.says_not("left out");
    }
    let page = run(&place, "man table load").done().stdout;
    for part in [".TH nandle-table-load 1", "\\-\\-order", ".SH EXAMPLES", "cells"] {
        assert!(page.contains(part), "{part:?} is missing in {page}");
    }
    run(&place, "man table swap")
        .refused(2, &["swap: there is no such command of nandle table", "one of load"]);
    std::fs::create_dir(place.path("man1")).unwrap();
    run(&place, "man --directory man1").done();
    for name in
        ["nandle", "nandle-probe", "nandle-models-age", "nandle-table", "nandle-table-load", "nandle-sql"]
    {
        assert!(place.path(&format!("man1/{name}.1")).exists(), "{name}");
    }
    run(&place, "man --directory nowhere").refused(1, &["nowhere/nandle.1", "--directory"]);
    assert_eq!(run(&place, "help table load").done().stdout, "help table load\n");
}

/// Ignores a command that this program doesn't forward, and one of this program's own.
#[test]
fn a_second_program_that_is_newer_has_no_commands_more() {
    let place = Place::new();
    write_script(&place, "path/nandle-tables");
    let more = ["merge", "probe"].map(|name| {
        format!(
            r#"{{"name": "{name}", "about": "Theirs", "long_about": null, "after_help": null, "requires_subcommand": false, "arguments": [], "subcommands": []}},"#
        )
    });
    let list = "\"subcommands\": [";
    place.write("definition.json", DEFINITION.replacen(list, &format!("{list}{}", more.concat()), 1));
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = definition ] && exec /bin/cat {}\necho \"$@\"\n",
        place.path("definition.json").display()
    );
    place.write("path/nandle-tables", script);
    let outcome = run(&place, "completions bash").done();
    assert!(outcome.stdout.contains("cells") && !outcome.stdout.contains("merge"), "{}", outcome.stdout);
    assert!(run(&place, "man probe").done().stdout.contains("budget"));
}

#[test]
fn a_second_program_that_is_too_old_is_named() {
    let place = Place::new();
    write_script(&place, "path/nandle-tables");
    run(&place, "completions fish").done().says(&[
        "nandle-tables",
        "doesn't say which commands it has",
        "install it anew",
    ]);
}
