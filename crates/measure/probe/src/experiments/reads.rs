//! The read side, as an experiment among the others: it is chosen by name like them, and has its share of the budget. How it is
//! measured is [`crate::search`].

use nandle_io::Nanos;

use super::Selection;

/// Its name on the command line.
pub const READS: &str = "reads";
/// Of a larger budget than it needs, so much is for it …
const PART: u64 = 5;
/// … within these bounds.
const TIME_MIN: Nanos = Nanos::from_secs(60);
const TIME_MAX: Nanos = Nanos::from_secs(120);

/// Its share of a selection's budget; `None` when it isn't wanted. Without another experiment it may have all of it.
pub fn reads_time(selection: &Selection) -> Option<Nanos> {
    let part = Nanos(selection.budget.0 / PART).clamp(TIME_MIN, TIME_MAX);
    selection.wants(READS).then(|| part.min(selection.budget))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(budget_s: u64, only: &[&str], skip: &[&str]) -> Option<u64> {
        let [only, skip] = [only, skip].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let selection = Selection { budget: Nanos::from_secs(budget_s), only, skip, ..Selection::default() };
        reads_time(&selection).map(|time| time.0 / 1_000_000_000)
    }

    #[test]
    fn a_fifth_of_a_large_budget_is_for_reading_and_all_of_a_small_one() {
        assert_eq!(
            [30, 200, 500, 3600].map(|budget_s| time(budget_s, &[], &[])),
            [30, 60, 100, 120].map(Some)
        );
    }

    #[test]
    fn it_is_chosen_by_name_like_the_others() {
        assert_eq!(time(60, &["flush"], &[]), None);
        assert_eq!(time(60, &["flush", READS], &[]), Some(60));
        assert_eq!(time(60, &[], &[READS]), None);
    }
}
