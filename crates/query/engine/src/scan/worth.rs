//! Estimate of a filter's benefit.

/// Batches that a filter is tried on.
const TRIED_BATCHES: u32 = 4;
/// Batches for which a useless filter pauses: joins fill theirs later, and the best rows improve.
const RESTED_BATCHES: u32 = 60;
/// A filter is useful if it drops at least one row of this many.
const WORTH_ONE_ROW_OF: usize = 8;

/// Effect of a filter on the rows that it was tried on.
#[derive(Debug, Default)]
pub(super) struct Worth {
    tried_batches: u32,
    rows: usize,
    left: usize,
    rested_batches: u32,
}

impl Worth {
    /// Counts a batch; returns true if the filter should be evaluated on it.
    pub(super) fn tries_next(&mut self) -> bool {
        if self.tried_batches < TRIED_BATCHES {
            return true;
        }
        let is_worth = (self.rows - self.left) * WORTH_ONE_ROW_OF >= self.rows;
        self.rested_batches += 1;
        let begins_again = is_worth || self.rested_batches > RESTED_BATCHES;
        if begins_again {
            *self = Self::default();
        }
        begins_again
    }

    /// Records the rows of a batch before and after the filter.
    pub(super) fn note(&mut self, rows: usize, left: usize) {
        self.tried_batches += 1;
        self.rows += rows;
        self.left += left;
    }

    /// Pauses a filter that couldn't be evaluated.
    pub(super) fn rest(&mut self) {
        *self = Self { tried_batches: TRIED_BATCHES, rows: 1, left: 1, rested_batches: 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of evaluated batches of 100 rows, each with `left` remaining rows.
    fn evaluated(batches: usize, left: usize) -> usize {
        let mut worth = Worth::default();
        let evaluated = (0..batches).filter(|_| {
            let is_evaluated = worth.tries_next();
            if is_evaluated {
                worth.note(100, left);
            }
            is_evaluated
        });
        evaluated.count()
    }

    #[test]
    fn filters_that_rule_little_out_are_tried_now_and_then() {
        assert_eq!(evaluated(1000, 0), 1000);
        assert_eq!(evaluated(1000, 87), 1000);
        assert_eq!(evaluated(1000, 100), 64);
        assert_eq!(evaluated(1000, 88), 64);
    }

    #[test]
    fn filters_that_fail_rest() {
        let mut worth = Worth::default();
        assert!(worth.tries_next());
        worth.rest();
        assert_eq!((0..100).position(|_| worth.tries_next()), Some(60));
    }
}
