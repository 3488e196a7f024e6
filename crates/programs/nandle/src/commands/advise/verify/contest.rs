use serde::Serialize;

/// Paired results of a workload: with the defaults and with the advice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in crate::commands::advise) struct Contest {
    pub(in crate::commands::advise) workload: String,
    /// Work per second of each run with the defaults.
    pub(in crate::commands::advise) defaults_per_s: Vec<f64>,
    /// Work per second of each run with the advice.
    pub(in crate::commands::advise) advised_per_s: Vec<f64>,
    /// True if the unit of work is a transaction; otherwise a round of queries.
    pub(in crate::commands::advise) counts_transactions: bool,
}

/// Effect of the advice over all pairs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(in crate::commands::advise) struct Outcome {
    /// Median over the pairs of advised divided by default.
    pub(in crate::commands::advise) ratio: f64,
    /// Least ratio of a pair.
    pub(in crate::commands::advise) ratio_min: f64,
    /// Greatest ratio of a pair.
    pub(in crate::commands::advise) ratio_max: f64,
    /// Number of pairs.
    pub(in crate::commands::advise) pairs: usize,
}

/// Least number of pairs for a verdict: with all six on one side, chance explains one case in 32.
pub(super) const PAIRS_TO_TELL: u32 = 6;

impl Contest {
    pub(super) fn new(workload: String, counts_transactions: bool) -> Self {
        Self { workload, defaults_per_s: Vec::new(), advised_per_s: Vec::new(), counts_transactions }
    }

    /// Adds one pair's results, defaults first.
    pub(super) fn add(&mut self, [defaults, advised]: [f64; 2]) {
        self.defaults_per_s.push(defaults);
        self.advised_per_s.push(advised);
    }

    /// Returns `None` if there were no pairs.
    pub(in crate::commands::advise) fn outcome(&self) -> Option<Outcome> {
        let mut ratios: Vec<f64> = self
            .defaults_per_s
            .iter()
            .zip(&self.advised_per_s)
            .map(|(defaults, advised)| advised / defaults)
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (ratio_min, ratio_max) = (*ratios.first()?, *ratios.last()?);
        Some(Outcome { ratio: median(&ratios)?, ratio_min, ratio_max, pairs: ratios.len() })
    }
}

impl Outcome {
    /// Sign test: without a difference, all n pairs fall on one side in one case of 2^(n-1).
    pub(in crate::commands::advise) fn verdict(&self) -> &'static str {
        let (wins, loses) = (self.ratio_min > 1.0, self.ratio_max < 1.0);
        match (wins, loses) {
            (false, false) => "no difference that could be told from noise",
            _ if self.pairs < PAIRS_TO_TELL as usize => "too few pairs to tell, six are needed",
            (true, _) => "the advice wins",
            (false, true) => "THE ADVICE LOSES",
        }
    }
}

/// Median of ascending numbers.
pub(in crate::commands::advise) fn median(ascending: &[f64]) -> Option<f64> {
    let middle = ascending.len() / 2;
    let upper = *ascending.get(middle)?;
    let lower =
        if ascending.len().is_multiple_of(2) { *ascending.get(middle.checked_sub(1)?)? } else { upper };
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(pairs: &[[f64; 2]]) -> Outcome {
        let mut contest = Contest::new(String::new(), true);
        for pair in pairs {
            contest.add(*pair);
        }
        contest.outcome().unwrap()
    }

    #[test]
    fn ratios_are_of_pairs_and_a_loss_is_told() {
        let pairs = [[100.0, 80.0], [10.0, 9.0], [50.0, 45.0], [1.0, 0.85], [1.0, 0.95], [1.0, 0.9]];
        let slower = outcome(&pairs);
        assert!((slower.ratio - 0.9).abs() < 1e-12);
        assert!((slower.ratio_min - 0.8).abs() < 1e-12);
        assert_eq!(slower.verdict(), "THE ADVICE LOSES");
        assert_eq!(outcome(&[[1.0, 2.0]; 6]).verdict(), "the advice wins");
        assert!(outcome(&pairs[..5]).verdict().contains("too few"));
        assert!(outcome(&[[[1.0, 2.0]; 9].as_slice(), &[[1.0, 0.9]]].concat()).verdict().contains("noise"));
        assert_eq!(Contest::new(String::new(), true).outcome(), None);
    }
}
