//! Python environment with the packages that tests compare results with, and with the driver of a
//! browser. It lies below `target` and is rebuilt when a version changes. Without a network, tests
//! that need it are skipped with a message.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::command::succeeds;
use crate::output;
use crate::tally::Tally;
use crate::workspace_root;

const PACKAGES: [&str; 6] = [
    "duckdb==2.0.0",
    "pyarrow==26.0.1",
    "tpchgen-cli==4.0.0",
    "psycopg[binary]==3.3.9",
    // Drives Debian's Chromium, and brings no browser of its own; with axe-core's rules.
    "playwright==1.65.2",
    "axe-playwright-python==0.1.8",
];
/// Names the Python for the tests; a user may have one already.
pub(crate) const VARIABLE: &str = "NANDLE_PYARROW";

/// The Python, if there is one or it can be made.
pub(crate) fn python(tally: &mut Tally) -> Option<PathBuf> {
    if let Some(python) = std::env::var_os(VARIABLE) {
        return Some(python.into());
    }
    let folder = workspace_root().join("target/peers");
    let (python, made_of) = (folder.join("bin/python"), folder.join("packages"));
    let wanted = PACKAGES.join(" ");
    if fs::read_to_string(&made_of).is_ok_and(|found| found == wanted) && python.is_file() {
        return Some(python);
    }
    output::headline(&format!("installing {wanted} for the tests that compare with them"));
    let run = |command: &mut Command| succeeds(command).unwrap_or(false);
    let is_made = run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        && run(Command::new(folder.join("bin/pip")).args(["--quiet", "install"]).args(PACKAGES))
        && fs::write(made_of, wanted).is_ok();
    if !is_made {
        let what = "comparisons with DuckDB and pyarrow, psycopg's tests and the dashboard's in a browser: PyPI's packages can't be installed here";
        output::complain(&format!("{what}; set {VARIABLE} to a Python that has them"));
        tally.skip(what);
    }
    is_made.then_some(python)
}
