/// Consecutive rows of a batch with one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeRun {
    /// Row after the last one. The first run begins at row 0, each other at the end of the one
    /// before.
    pub end: usize,
    /// The code.
    pub code: u32,
}

/// Codes of a batch's rows.
#[derive(Debug, Clone, Copy)]
pub enum Codes<'a> {
    /// One code per row.
    Each(&'a [u32]),
    /// Runs, for a column that changes seldom.
    Runs(&'a [CodeRun]),
}

impl Codes<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Each(codes) => codes.len(),
            Self::Runs(runs) => runs.last().map_or(0, |run| run.end),
        }
    }

    /// Returns the code of each row.
    pub fn to_vec(&self) -> Vec<u32> {
        match self {
            Self::Each(codes) => codes.to_vec(),
            Self::Runs(runs) => {
                let mut codes = Vec::with_capacity(self.rows());
                for run in *runs {
                    codes.resize(run.end, run.code);
                }
                codes
            }
        }
    }
}

/// Codes being decoded: as runs, until these become too short. Reuses its buffers.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeBuffer {
    each: Vec<u32>,
    runs: Vec<CodeRun>,
    are_runs: bool,
}

impl CodeBuffer {
    /// Minimum average length of runs, in rows.
    const RUN_ROWS_MIN: usize = 8;

    pub(super) fn clear(&mut self) {
        self.each.clear();
        self.runs.clear();
        self.are_runs = true;
    }

    pub(super) fn codes(&self) -> Codes<'_> {
        if self.are_runs { Codes::Runs(&self.runs) } else { Codes::Each(&self.each) }
    }

    /// Returns the runs so far for appending, or `None` if the codes aren't stored as runs.
    pub(super) fn runs(&mut self) -> Option<Runs<'_>> {
        let begun = self.runs.last().map_or(0, |run| run.end);
        let is_worth_it = self.runs.len() <= begun / Self::RUN_ROWS_MIN + Self::RUN_ROWS_MIN;
        (self.are_runs && is_worth_it).then_some(Runs(&mut self.runs))
    }

    /// Ends a batch: converts runs to codes if they are too short.
    pub(super) fn conclude(&mut self) {
        if self.runs().is_none() {
            self.each();
        }
    }

    /// Returns the codes so far, converted to one per row.
    pub(super) fn each(&mut self) -> &mut Vec<u32> {
        if self.are_runs {
            let Self { each, runs, .. } = self;
            each.clear();
            for run in runs.iter() {
                each.resize(run.end, run.code);
            }
            self.are_runs = false;
        }
        &mut self.each
    }
}

/// Runs that rows are appended to.
pub(super) struct Runs<'a>(&'a mut Vec<CodeRun>);

impl Runs<'_> {
    /// Returns the greatest code, or 0 for none.
    pub(super) fn greatest(&self) -> u32 {
        self.0.iter().map(|run| run.code).max().unwrap_or_default()
    }

    /// Appends rows with one code.
    #[inline]
    pub(super) fn add(&mut self, code: u32, rows: usize) {
        match self.0.last_mut() {
            Some(last) if last.code == code => last.end += rows,
            last => {
                let end = last.map_or(0, |last| last.end) + rows;
                self.0.push(CodeRun { end, code });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CodeBuffer, CodeRun, Codes};

    #[test]
    fn runs_become_codes_when_they_are_too_short() {
        let mut buffer = CodeBuffer::default();
        buffer.clear();
        let mut runs = buffer.runs().unwrap();
        for (code, rows) in [(3, 2), (3, 1), (4, 70)] {
            runs.add(code, rows);
        }
        let expected = [CodeRun { end: 3, code: 3 }, CodeRun { end: 73, code: 4 }];
        assert!(matches!(buffer.codes(), Codes::Runs(runs) if runs == expected));
        let each = buffer.codes().to_vec();
        assert_eq!((buffer.codes().rows(), &each[..4]), (73, [3, 3, 3, 4].as_slice()));
        for code in 0..200 {
            let Some(mut runs) = buffer.runs() else { break };
            runs.add(code, 1);
        }
        assert!(buffer.runs().is_none());
        let codes = buffer.codes().to_vec();
        buffer.each().push(9);
        assert!(matches!(buffer.codes(), Codes::Each(each) if each.len() == codes.len() + 1));
        assert_eq!(buffer.codes().to_vec()[..codes.len()], codes);
    }
}
