//! Counts what passed, failed and was skipped, over the test binaries and the checks of our own.

use std::process::ExitCode;

use crate::output;

/// The sum over everything that ran.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<String>,
    skips: Vec<String>,
}

/// Counts of one `test result:` line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestCounts {
    /// Tests that passed.
    pub(crate) passed: u64,
    /// Tests that failed.
    pub(crate) failed: u64,
    /// Tests that the harness left out.
    pub(crate) ignored: u64,
}

impl TestCounts {
    /// Reads a line as the test harness prints it after each binary; `None` for any other line.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (_verdict, counts) = line.trim_end().strip_prefix("test result: ")?.split_once(". ")?;
        let count = |name: &str| {
            let mut parts = counts.split("; ").filter_map(|part| part.split_once(' '));
            parts.find(|(_, what)| *what == name).and_then(|(number, _)| number.parse().ok())
        };
        Some(Self { passed: count("passed")?, failed: count("failed")?, ignored: count("ignored")? })
    }

    /// Adds the counts of another binary.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

impl Tally {
    /// One check passed.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// One check failed; `what` is shown at the end.
    pub(crate) fn fail(&mut self, what: impl Into<String>) {
        self.failed += 1;
        self.failures.push(what.into());
    }

    /// One check did not run; `what` and why is shown at the end.
    pub(crate) fn skip(&mut self, what: impl Into<String>) {
        self.skipped += 1;
        self.skips.push(what.into());
    }

    /// Counts a check by whether it succeeded.
    pub(crate) fn check(&mut self, what: &str, succeeded: bool) {
        if succeeded { self.pass() } else { self.fail(what) }
    }

    /// Adds the counts of a `cargo test` run. A run that failed without a failed test (a build
    /// error, a crash), or ran no test at all, counts as one more failure.
    pub(crate) fn tests(&mut self, counts: TestCounts, succeeded: bool) {
        self.passed += counts.passed;
        self.failed += counts.failed;
        self.skipped += counts.ignored;
        if counts.failed > 0 {
            self.failures.push(format!("{} test(s), named above under `failures:`", counts.failed));
        }
        if counts.ignored > 0 {
            self.skips.push(format!("{} test(s) marked #[ignore]", counts.ignored));
        }
        if !succeeded && counts.failed == 0 {
            self.fail("cargo test: something did not build, or a test binary crashed");
        } else if succeeded && counts.passed == 0 {
            self.fail("cargo test: it ran no test");
        }
    }

    /// The last line: `N passed, N failed`, and `, N skipped` when something was.
    pub(crate) fn closing_line(&self) -> String {
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        format!("{} passed, {} failed{skipped}", self.passed, self.failed)
    }

    /// Names the failures and skipped tests, prints the closing line, and returns the exit code.
    pub(crate) fn finish(&self) -> ExitCode {
        output::say("");
        for what in &self.skips {
            output::say(&format!("SKIPPED: {what}"));
        }
        for what in &self.failures {
            output::say(&format!("FAILED: {what}"));
        }
        output::say(&self.closing_line());
        if self.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_harness_lines_and_no_others() {
        let line = "test result: FAILED. 5 passed; 2 failed; 1 ignored; 0 measured; 3 filtered out; \
                    finished in 0.01s";
        assert_eq!(TestCounts::parse(line), Some(TestCounts { passed: 5, failed: 2, ignored: 1 }));
        assert_eq!(TestCounts::parse("running 5 tests"), None);
        assert_eq!(TestCounts::parse("test result: unknown"), None);
    }

    #[test]
    fn sums_tests_and_checks() {
        let mut tally = Tally::default();
        tally.check("fmt", true);
        tally.tests(TestCounts { passed: 5, failed: 0, ignored: 0 }, true);
        assert_eq!(tally.closing_line(), "6 passed, 0 failed");
        tally.check("clippy", false);
        tally.skip("the browser test");
        assert_eq!(tally.closing_line(), "6 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn a_crash_and_an_empty_run_are_failures() {
        let mut crashed = Tally::default();
        crashed.tests(TestCounts { passed: 5, failed: 0, ignored: 0 }, false);
        assert_eq!(crashed.closing_line(), "5 passed, 1 failed");
        let mut empty = Tally::default();
        empty.tests(TestCounts::default(), true);
        assert_eq!(empty.closing_line(), "0 passed, 1 failed");
    }

    #[test]
    fn a_failed_test_counts_once() {
        let mut tally = Tally::default();
        tally.tests(TestCounts { passed: 5, failed: 2, ignored: 1 }, false);
        assert_eq!(tally.closing_line(), "5 passed, 2 failed, 1 skipped");
    }
}
