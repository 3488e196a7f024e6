//! `docs/reference/sql.md` is the output of `--help`. With `NANDLE_WRITE_REFERENCE=1`, which `cargo
//! xtask docs` sets, the page is written instead of compared.

use std::fs;
use std::path::Path;
use std::process::Command;

use nandle_terminal::reference::reference;

fn help(command: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_nandle-sql"));
    let output = program.args(command).arg("--help").output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_reference_is_what_the_commands_say_of_themselves() {
    let page = reference(&help, &[]).replacen("# Commands", "# SQL", 1);
    // Relative, so that the test finds it wherever the workspace was built.
    let path = Path::new("../../../docs/reference/sql.md");
    if std::env::var_os("NANDLE_WRITE_REFERENCE").is_some() {
        fs::write(path, page).unwrap();
    } else {
        let there = fs::read_to_string(path).unwrap_or_default();
        assert!(there == page, "{} is out of date: run cargo xtask docs", path.display());
    }
}
