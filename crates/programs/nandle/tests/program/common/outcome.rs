use std::process::Output;

use serde_json::Value;

/// Exit code and output of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Outcome {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Outcome {
    /// Asserts success.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Asserts the exit code, that no result was printed, and that the messages contain each of
    /// `parts`.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.says(parts)
    }

    /// Asserts that the messages contain each of `parts`.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }

    /// Asserts that the messages don't contain `part`.
    #[track_caller]
    pub(crate) fn says_not(&self, part: &str) {
        assert!(!self.stderr.contains(part), "{part:?} is in: {}", self.stderr);
    }

    /// Asserts that the output fits 80 columns, except single long words such as paths.
    #[track_caller]
    pub(crate) fn fits_80_columns(self) -> Self {
        for line in self.stdout.lines() {
            let line = line.trim();
            assert!(line.chars().count() <= 80 || !line.contains(' '), "too wide: {line}");
        }
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Standard output as CSV rows, keyed by column names.
    #[track_caller]
    pub(crate) fn rows(&self) -> Vec<csv::StringRecord> {
        csv::Reader::from_reader(self.stdout.as_bytes()).records().map(Result::unwrap).collect()
    }
}
