//! Installs the tools that tests need. A test whose tool can't be installed is skipped with a
//! message.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;

use crate::command::{answer, find_program, succeeds};
use crate::output;
use crate::tally::Tally;
use crate::workspace_root;

/// A program that some test can't do without.
struct Need {
    program: &'static str,
    debian_package: &'static str,
    /// The folder whose tests use it; without the folder there is no need.
    used_by: &'static str,
    purpose: &'static str,
    /// Set to 1, this environment variable makes those tests pass over what needs the program.
    skip_variable: &'static str,
}

const NEEDS: &[Need] = &[
    Need {
        program: "chromium",
        debian_package: "chromium",
        used_by: "crates/show/report",
        purpose: "the report's and the dashboard's tests in a browser",
        skip_variable: "NANDLE_SKIP_BROWSER",
    },
    Need {
        program: "pgbench",
        debian_package: "postgresql",
        used_by: "crates/decide/advise",
        purpose: "the tests of advice in PostgreSQL",
        skip_variable: "NANDLE_SKIP_POSTGRESQL",
    },
    Need {
        program: "mariadbd",
        debian_package: "mariadb-server",
        used_by: "crates/decide/advise",
        purpose: "the tests of advice in MariaDB",
        skip_variable: "NANDLE_SKIP_MARIADB",
    },
    Need {
        program: "db_bench",
        debian_package: "rocksdb-tools",
        used_by: "crates/decide/advise",
        purpose: "the tests of advice in RocksDB",
        skip_variable: "NANDLE_SKIP_ROCKSDB",
    },
    Need {
        program: "sqlite3",
        debian_package: "sqlite3",
        used_by: "crates/query/flights",
        purpose: "the test of an index's leaves against SQLite's own cache misses",
        skip_variable: "NANDLE_SKIP_SQLITE3",
    },
    Need {
        program: "psql",
        debian_package: "postgresql-client",
        used_by: "crates/programs/nandle-sql",
        purpose: "the tests of serving PostgreSQL's own client",
        skip_variable: "NANDLE_SKIP_PSQL",
    },
];

/// Installs every tool, counts what will be skipped, and returns the environment variables that
/// tell the tests.
pub(crate) fn prepare(tally: &mut Tally) -> Vec<&'static str> {
    NEEDS.iter().filter(|need| is_wanted(need)).filter_map(|need| provide(need, tally)).collect()
}

fn is_wanted(need: &Need) -> bool {
    workspace_root().join(need.used_by).is_dir()
}

fn provide(need: &Need, tally: &mut Tally) -> Option<&'static str> {
    let reason = if std::env::var(need.skip_variable).is_ok_and(|value| value == "1") {
        format!("{} is set", need.skip_variable)
    } else if is_there(need) || install(need) {
        return None;
    } else {
        format!("no `{}` here; install the Debian package `{}`", need.program, need.debian_package)
    };
    output::complain(&format!("{} will be skipped: {reason}", need.purpose));
    tally.skip(format!("{}: {reason}", need.purpose));
    Some(need.skip_variable)
}

/// Installs the package where that asks for no password; says whether the program is there now.
fn install(need: &Need) -> bool {
    let Some(prefix) = privilege().filter(|_| find_program("apt-get").is_some()) else {
        return false;
    };
    output::headline(&format!("installing {} for {}", need.debian_package, need.purpose));
    let install = ["install", "-y", "--no-install-recommends", need.debian_package];
    let run = |arguments: &[&str]| succeeds(&mut apt(prefix, arguments)).unwrap_or(false);
    let installed = run(&install) || (run(&["update"]) && run(&install));
    installed && is_there(need)
}

/// On the search path, or where Debian keeps the programs of servers.
fn is_there(need: &Need) -> bool {
    let servers = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let beside = servers.map(|version| version.path().join("bin")).chain(["/usr/sbin".into()]);
    find_program(need.program).is_some()
        || beside.into_iter().any(|folder: PathBuf| folder.join(need.program).is_file())
}

/// Prefix for a command that needs root: nothing, or sudo if it needs no password.
fn privilege() -> Option<&'static [&'static str]> {
    if is_root().unwrap_or(false) {
        Some(&[])
    } else {
        answer("sudo", &["-n", "echo", "yes"]).map(|_| ["sudo", "-n"].as_slice())
    }
}

fn is_root() -> io::Result<bool> {
    Ok(fs::metadata("/proc/self")?.uid() == 0)
}

/// `env` carries the variable through sudo, which clears the environment.
fn apt(prefix: &[&str], arguments: &[&str]) -> Command {
    let fixed = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
    let mut words = prefix.iter().chain(&fixed).chain(arguments);
    let mut command = Command::new(words.next().unwrap_or(&"env"));
    command.args(words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn apt_runs_as_root_or_through_sudo() {
        let plain = apt(&[], &["update"]);
        assert_eq!(words(&plain), ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "update"]);
        let through_sudo = apt(&["sudo", "-n"], &["update"]);
        assert_eq!(words(&through_sudo)[..3], ["sudo", "-n", "env"]);
    }

    #[test]
    fn what_cannot_be_installed_is_counted_as_skipped() {
        let need = Need {
            program: "sh",
            debian_package: "dash",
            used_by: "xtask",
            purpose: "a test",
            skip_variable: "NANDLE_TEST_NEVER_SET",
        };
        let mut tally = Tally::default();
        assert_eq!(provide(&need, &mut tally), None, "a program that is there needs no skipping");
        assert_eq!(tally.closing_line(), "0 passed, 0 failed");
    }
}
