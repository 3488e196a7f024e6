//! Time comes only through an `Io`: a run in virtual time must not depend on the machine's clock.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

/// Calls that read the machine's clock or wait on it.
const CALLS: &[&[&str]] =
    &[&["Instant", ":", ":", "now"], &["SystemTime", ":", ":", "now"], &["thread", ":", ":", "sleep"]];

/// Folders that may read the clock: the real worlds, the programs, and the chores. Tests and
/// examples may, too.
const HOMES: &[&str] = &["crates/device/io/", "crates/programs/", "xtask/"];

pub(super) const RULE: Rule = Rule {
    says: "only nandle-io, the programs, the chores, examples and tests read the system clock",
    check,
};

fn check(workspace: &Workspace) -> Vec<Finding> {
    let files = workspace.files.iter().filter(|file| !is_home(file));
    files.flat_map(|file| CALLS.iter().flat_map(|call| check_call(file, call))).collect()
}

fn is_home(file: &SourceFile) -> bool {
    file.is_test() || file.path.contains("/examples/") || HOMES.iter().any(|home| file.path.starts_with(home))
}

fn check_call(file: &SourceFile, call: &[&str]) -> Vec<Finding> {
    let message = format!("`{}`: take the time from the `Io` (`now`, `sleep`)", call.concat());
    let places = file.lexed.find(call).filter(|token| !token.in_tests);
    places.map(|token| Finding::new(&file.path, token.line, message.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, code: &str) -> usize {
        check(&Workspace::sample(&[(path, code)])).len()
    }

    #[test]
    fn the_clock_is_read_at_home_and_in_tests_alone() {
        let code = "fn f() { std::thread::sleep(pause); Instant::now(); SystemTime::now(); }";
        assert_eq!(findings("crates/measure/probe/src/driver.rs", code), 3);
        assert_eq!(
            findings("crates/measure/probe/src/lib.rs", &format!("#[cfg(test)] mod tests {{ {code} }}")),
            0
        );
        for home in [
            "crates/device/io/src/ring.rs",
            "crates/programs/nandle/src/main.rs",
            "crates/measure/probe/tests/load.rs",
            "crates/a/examples/b.rs",
        ] {
            assert_eq!(findings(home, code), 0, "{home}");
        }
    }

    #[test]
    fn types_and_other_clocks_are_free() {
        assert_eq!(findings("crates/measure/probe/src/a.rs", "fn f(at: Instant, io: &Io) { io.now(); }"), 0);
    }
}
