use std::process::Output;

use serde_json::Value;

/// How a run of the program ended, and what it said.
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
    /// It did what was asked.
    #[track_caller]
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// It ended with a code, printed no result, and said each of these parts of a message to the user.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, parts: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        self.says(parts)
    }

    /// It said each of these parts of a message to the user.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is missing in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }

    /// It didn't say a thing to the user.
    #[track_caller]
    pub(crate) fn says_not(&self, part: &str) {
        assert!(!self.stderr.contains(part), "{part:?} is in: {}", self.stderr);
    }

    /// What it printed fits a terminal of 80 columns. A single word, such as a long path, can't be broken.
    #[track_caller]
    pub(crate) fn fits_80_columns(self) -> Self {
        for line in self.stdout.lines() {
            let line = line.trim();
            assert!(line.chars().count() <= 80 || !line.contains(' '), "too wide: {line}");
        }
        self
    }

    /// What it printed, as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What it printed, as rows of CSV by the names of the columns.
    #[track_caller]
    pub(crate) fn rows(&self) -> Vec<csv::StringRecord> {
        csv::Reader::from_reader(self.stdout.as_bytes()).records().map(Result::unwrap).collect()
    }
}
