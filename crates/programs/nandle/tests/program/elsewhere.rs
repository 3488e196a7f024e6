use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::{NANDLE, Outcome, Place};

/// The program alone in a directory, where nothing lies beside it, and nothing is on the path.
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
    for command in ["table load t a.csv", "scan t --columns a", "cubes t"] {
        run(&place, command).refused(
            1,
            &[
                "nandle-tables",
                "cargo install --path crates/programs/nandle-tables",
                "cargo build --release -p",
            ],
        );
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
    assert_eq!(said("cubes --help"), "path/nandle-tables cubes --help\n");
    // What lies beside it counts more than what is on the path.
    write_script(&place, "bin/nandle-tables");
    assert_eq!(said("scan -- t"), "bin/nandle-tables scan -- t\n");
}

#[test]
fn help_completions_and_manual_know_the_commands() {
    let place = Place::new();
    let help = run(&place, "--help").done().stdout;
    let (script, page) = (run(&place, "completions bash").done().stdout, run(&place, "man").done().stdout);
    for command in ["table", "scan", "cubes"] {
        assert!(help.contains(&format!("  {command} ")), "{help}");
        assert!(script.contains(&format!("nandle,{command})")), "{command}");
        assert!(page.contains(&format!("nandle\\-{command}(1)")), "{page}");
        assert!(run(&place, &format!("man {command}")).done().stdout.contains(".SH EXAMPLES"));
    }
}
