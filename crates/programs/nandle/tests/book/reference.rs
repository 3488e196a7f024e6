//! `docs/reference/commands.md` is the output of `--help` for every command. With
//! `NANDLE_WRITE_REFERENCE=1`, which `cargo xtask docs` sets, the page is written instead of
//! compared.

use std::fs;
use std::process::Command;

use nandle_terminal::reference::reference;

/// Commands of a second program, which has its own page.
const ELSEWHERE: [&str; 4] = ["table", "scan", "cubes", "sql"];

fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_nandle")).args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_reference_is_what_the_commands_say_of_themselves() {
    let page = reference(&help, &ELSEWHERE);
    let path = super::book().join("reference/commands.md");
    if std::env::var_os("NANDLE_WRITE_REFERENCE").is_some() {
        fs::write(path, page).unwrap();
    } else {
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == page, "{} is out of date: run cargo xtask docs", path.display());
    }
}
