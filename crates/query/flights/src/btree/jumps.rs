use nandle_reads::recording::{QueryTotals, RecordedQuery};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Samples up to `leaves_max` leaves with a given share of jumps: leaves in file order, cut into
/// random runs, and the runs shuffled. Jumps cover the whole file, so caches hold no more of it
/// than in a full scan. Without processor time, so that the result is device time.
pub fn with_jumps(leaves: &RecordedQuery, share: f64, seed: u64, leaves_max: usize) -> RecordedQuery {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut in_order = leaves.wants.clone();
    in_order.sort_by_key(|want| (want.file, want.offset_bytes));
    let mut cuts: Vec<usize> = (1..in_order.len()).collect();
    cuts.shuffle(&mut random);
    cuts.truncate(jumps_of(cuts.len(), share));
    cuts.sort_unstable();
    let ends = cuts.iter().copied().chain([in_order.len()]);
    let begins = [0].into_iter().chain(cuts.iter().copied());
    let mut runs: Vec<_> = begins.zip(ends).filter_map(|(begin, end)| in_order.get(begin..end)).collect();
    runs.shuffle(&mut random);
    let read = in_order.len().min(leaves_max);
    let wants = (0..).zip(runs.concat()).take(read).map(|(step, mut want)| {
        want.step = step;
        want
    });
    RecordedQuery {
        name: leaves.name.clone(),
        text: None,
        wants: wants.collect(),
        cpu_after_ns: vec![0; read],
        totals: QueryTotals::default(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a count, rounded")]
fn jumps_of(places: usize, share: f64) -> usize {
    ((places as f64 * share).round() as usize).min(places)
}

/// Returns the share of jumps at which the second of two devices becomes as slow as the first.
/// `times` are `(share, first, second)` at rising shares; interpolates linearly. Returns `None` if
/// one device is always faster.
pub fn turning_share(times: &[(f64, f64, f64)]) -> Option<f64> {
    times.iter().zip(times.iter().skip(1)).find_map(|(before, after)| {
        let lead = |(_, first, second): &(f64, f64, f64)| first - second;
        let (from, to) = (lead(before), lead(after));
        let turns = from > 0.0 && to <= 0.0;
        turns.then(|| before.0 + (after.0 - before.0) * from / (from - to))
    })
}

#[cfg(test)]
mod tests {
    use nandle_reads::{FileId, Want};

    use super::*;

    fn leaves(count: u32) -> RecordedQuery {
        let want = |step: u32| Want {
            file: FileId(0),
            offset_bytes: u64::from(count - step) * 8192,
            length_bytes: 8192,
            step,
        };
        RecordedQuery { wants: (0..count).map(want).collect(), ..RecordedQuery::default() }
    }

    #[test]
    fn a_share_of_all_leaves_jumps_and_none_is_lost() {
        for share in [0.0, 0.01, 0.3, 1.0] {
            let cut = with_jumps(&leaves(5001), share, 1, usize::MAX);
            let follows = |pair: &[Want]| pair[1].offset_bytes == pair[0].offset_bytes + 8192;
            let jumps = cut.wants.windows(2).filter(|pair| !follows(pair)).count();
            // Two adjacent runs may keep their order.
            assert!((jumps as f64 - 5000.0 * share).abs() <= 5.0, "{share}: {jumps}");
            let mut offsets: Vec<u64> = cut.wants.iter().map(|want| want.offset_bytes).collect();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!((offsets.len(), cut.cpu_after_ns.len()), (5001, 5001));
            assert!(cut.wants.iter().zip(0..).all(|(want, step)| want.step == step));
        }
        let few = with_jumps(&leaves(5001), 0.5, 7, 100);
        assert_eq!((few.wants.len(), few.cpu_after_ns.len()), (100, 100));
        assert!(
            few.wants.iter().any(|want| want.offset_bytes > 4000 * 8192),
            "they come from the whole file"
        );
    }

    #[test]
    fn it_turns_where_the_times_cross() {
        let times = [(0.0, 2.0, 1.0), (0.1, 2.0, 1.5), (0.2, 2.0, 2.5), (1.0, 2.0, 9.0)];
        assert!((turning_share(&times).unwrap() - 0.15).abs() < 1e-9);
        assert_eq!(turning_share(&times[2..]), None);
        assert_eq!(turning_share(&[]), None);
    }
}
