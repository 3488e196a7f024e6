//! Budget of the probe's reads, which are selected by name like an experiment. [`crate::search`]
//! measures them.

use nandle_io::Nanos;

use super::Selection;

/// Name on the command line.
pub const READS: &str = "reads";
/// Fraction (one in `PART`) of a large budget for the reads.
const PART: u64 = 5;
/// Fraction (one in `ESSENTIAL_PART`) of a short budget for essential experiments.
const ESSENTIAL_PART: u64 = 6;
/// Bounds of the reads' time in a large budget.
const TIME_MIN: Nanos = Nanos::from_secs(60);
const TIME_MAX: Nanos = Nanos::from_secs(120);
const SECOND: u64 = 1_000_000_000;

/// Time for the reads along with experiments with the minimum times `least`; `None` if they aren't
/// selected or are already done. Without other experiments they may use the whole budget.
///
/// In a short budget, a part is reserved for essential experiments if it is enough for their time
/// `essential`. Experiments selected by name get equal shares with the reads. If these don't fit,
/// the reads shrink down to their minimum part.
pub(super) fn reads_time(selection: &Selection, least: &[Nanos], essential: Nanos) -> Option<Nanos> {
    let budget = selection.budget;
    let part = Nanos(budget.0 / PART);
    let beside = Nanos(budget.0 / ESSENTIAL_PART);
    let beside = if essential > Nanos::ZERO && essential <= beside { beside } else { Nanos::ZERO };
    let time = match (selection.only.is_empty(), least) {
        (_, []) => budget,
        (true, _) => part.clamp(TIME_MIN, TIME_MAX).min(budget - beside),
        (false, named) => {
            let shares = named.len() as u64 + 1;
            let spare = budget - Nanos(named.iter().map(|least| least.0).sum());
            Nanos(budget.0 / shares).min(spare).max(part).min(TIME_MAX)
        }
    };
    is_to_come(selection).then(|| time.min(budget))
}

/// Smallest budget, in whole seconds, that leaves `time` for experiments, including `essential` for
/// the essential ones.
pub(super) fn budget_least(selection: &Selection, time: Nanos, essential: Nanos) -> Nanos {
    let beside_part = Nanos(time.0.saturating_mul(PART) / (PART - 1)).min(time + TIME_MAX);
    let budget = match (is_to_come(selection), selection.only.is_empty()) {
        (false, _) => time,
        (true, true) if essential > Nanos::ZERO => {
            beside_part.max(time + TIME_MIN).min(Nanos(time.0.saturating_mul(ESSENTIAL_PART)))
        }
        (true, true) => beside_part.max(time + TIME_MIN),
        (true, false) => beside_part,
    };
    Nanos(budget.0.div_ceil(SECOND) * SECOND)
}

fn is_to_come(selection: &Selection) -> bool {
    selection.selects(READS) && !selection.reads_done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(budget_s: u64, only: &[&str], skip: &[&str]) -> Selection {
        let [only, skip] = [only, skip].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Selection { budget: Nanos::from_secs(budget_s), only, skip, ..Selection::default() }
    }

    /// Seconds for the reads along with an experiment with a minimum of ten seconds.
    fn time(budget_s: u64, only: &[&str], skip: &[&str]) -> Option<u64> {
        let time = reads_time(&selection(budget_s, only, skip), &[Nanos::from_secs(10)], Nanos::ZERO);
        time.map(|time| time.0 / SECOND)
    }

    #[test]
    fn a_fifth_of_a_large_budget_is_for_reading_and_all_of_a_small_one() {
        assert_eq!(
            [30, 200, 500, 3600].map(|budget_s| time(budget_s, &[], &[])),
            [30, 60, 100, 120].map(Some)
        );
    }

    #[test]
    fn a_sixth_of_a_short_budget_is_for_the_rest_of_a_first_look() {
        let ten = Nanos::from_secs(10);
        let time = |budget_s| reads_time(&selection(budget_s, &[], &[]), &[ten, ten], ten);
        let times = [59, 60, 66, 72, 200].map(|budget_s| time(budget_s).map(|time| time.0 / SECOND));
        assert_eq!(times, [59, 50, 55, 60, 60].map(Some));
    }

    #[test]
    fn reads_are_selected_by_name() {
        assert_eq!(time(60, &["flush"], &[]), None);
        assert_eq!(time(60, &[], &[READS]), None);
    }

    #[test]
    fn reads_share_their_time_with_selected_experiments() {
        let times = [60, 15, 10, 3600].map(|budget_s| time(budget_s, &["flush", READS], &[]));
        assert_eq!(
            times,
            [30, 5, 2, 120].map(Some),
            "half, what ten seconds leave, and never less than a fifth"
        );
    }

    #[test]
    fn the_least_budget_leaves_the_time_and_a_second_less_does_not() {
        for (only, essential_s) in [(&[][..], 0), (&[], 10), (&["flush", READS], 0), (&["flush"], 0)] {
            for needed_s in [10, 13, 16, 100, 235, 250, 400, 479, 481, 1000] {
                let (least, essential) = ([Nanos::from_secs(needed_s)], Nanos::from_secs(essential_s));
                let budget_s = budget_least(&selection(1, only, &[]), least[0], essential).0 / SECOND;
                let left_s = |budget_s| {
                    let reads = reads_time(&selection(budget_s, only, &[]), &least, essential);
                    (Nanos::from_secs(budget_s) - reads.unwrap_or(Nanos::ZERO)).0 / SECOND
                };
                assert!(left_s(budget_s) >= needed_s, "{only:?} {needed_s} {budget_s}");
                assert!(left_s(budget_s - 1) < needed_s, "{only:?} {needed_s} {budget_s}");
            }
        }
    }
}
