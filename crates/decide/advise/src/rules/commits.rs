use nandle_profile::experiments::CommitMethod;

use crate::figures::words::whole;
use crate::settings::Figure;

/// `commit_delay` in microseconds: half the time of a flush after an 8 kB write (PostgreSQL's
/// documentation, WAL Configuration), up to the maximum of the setting.
pub(crate) fn commit_delay_us(flush_mean_ns: f64) -> u64 {
    const GREATEST_US: u64 = 100_000;
    whole(flush_mean_ns / 2e3).min(GREATEST_US)
}

/// Chooses the commit method: the default, unless another is surely faster and its 99th percentile
/// is no worse. Surely faster means that the intervals don't overlap.
pub(crate) fn best_commit_method(
    methods: &[(CommitMethod, Figure, Option<u64>)],
    default: CommitMethod,
) -> Option<&(CommitMethod, Figure, Option<u64>)> {
    let usual = methods.iter().find(|(method, ..)| *method == default)?;
    let challenger = methods.iter().min_by(|a, b| a.1.value.value.total_cmp(&b.1.value.value))?;
    let surely_faster = challenger.1.value.high < usual.1.value.low;
    let tail_no_worse = match (challenger.2, usual.2) {
        (Some(tail), Some(usual_tail)) => tail <= usual_tail,
        _ => false,
    };
    Some(if surely_faster && tail_no_worse { challenger } else { usual })
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    fn method(method: CommitMethod, ns: f64, p99: Option<u64>) -> (CommitMethod, Figure, Option<u64>) {
        let value = Interval { value: ns, low: ns * 0.95, high: ns * 1.05 };
        (method, Figure::new("commit_ns", value, ""), p99)
    }

    #[test]
    fn commit_delay_is_half_a_flush() {
        assert_eq!(commit_delay_us(8_000_000.0), 4000);
        assert_eq!(commit_delay_us(1e12), 100_000);
        assert_eq!(commit_delay_us(20_000.0), 10);
    }

    #[test]
    fn a_faster_method_must_win_in_the_tail_too() {
        let default = method(CommitMethod::Fdatasync, 1000.0, Some(2000));
        let fast = method(CommitMethod::DurableWrite, 500.0, Some(1900));
        let slow_tail = method(CommitMethod::DurableWrite, 500.0, Some(9000));
        let unsure_tail = method(CommitMethod::DurableWrite, 500.0, None);
        let near = method(CommitMethod::DurableWrite, 980.0, Some(1000));
        let best = |other: &_| {
            best_commit_method(&[default.clone(), Clone::clone(other)], CommitMethod::Fdatasync).unwrap().0
        };
        assert_eq!(best(&fast), CommitMethod::DurableWrite);
        for loser in [slow_tail, unsure_tail, near] {
            assert_eq!(best(&loser), CommitMethod::Fdatasync);
        }
        assert!(best_commit_method(&[fast], CommitMethod::Fdatasync).is_none());
    }
}
