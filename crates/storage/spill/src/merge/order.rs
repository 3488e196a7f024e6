//! Chooses the runs to merge next.

/// Returns the positions of the runs for the next merge, such that all merges together move the
/// fewest bytes. Returns none if one last merge can take all runs. The first merge takes just
/// enough runs to make all later merges full, and each takes the shortest runs (Knuth, *The Art of
/// Computer Programming* 3, §5.4.9). If `keeps_order`, only neighbouring runs are merged, so that
/// rows with equal keys keep their order.
pub(crate) fn next_merge(lengths: &[u64], fan_in: usize, keeps_order: bool) -> Option<Vec<usize>> {
    debug_assert!(fan_in >= 2, "a merge joins two runs at least");
    if lengths.len() <= fan_in {
        return None;
    }
    let count = match (lengths.len() - 1) % (fan_in - 1) {
        0 => fan_in,
        rest => rest + 1,
    };
    shortest(lengths, count, keeps_order)
}

/// Returns the positions of the `count` shortest runs, or of the `count` neighbours with the
/// smallest sum if `keeps_order`.
pub(crate) fn shortest(lengths: &[u64], count: usize, keeps_order: bool) -> Option<Vec<usize>> {
    if keeps_order {
        let windows = lengths.windows(count).map(|window| window.iter().sum::<u64>());
        let (first, _) = windows.enumerate().min_by_key(|(_, length)| *length)?;
        return Some((first..first + count).collect());
    }
    let mut shortest: Vec<usize> = (0..lengths.len()).collect();
    shortest.sort_by_key(|run| lengths.get(*run));
    shortest.truncate(count);
    shortest.sort_unstable();
    Some(shortest)
}

/// Predicts the bytes that merges before the last one read and write, for `runs` runs of equal
/// length.
pub(crate) fn predicted_bytes(runs: u64, run_bytes: u64, fan_in: usize) -> u64 {
    let fan_in = fan_in as u64;
    // Runs of equal length are counted together, as (length, count).
    let mut left = std::collections::BTreeMap::from([(run_bytes, runs)]);
    let mut moved = 0;
    let mut count = runs;
    let mut wanted = match count.saturating_sub(1) % (fan_in - 1) {
        0 => fan_in,
        rest => rest + 1,
    };
    while count > fan_in {
        let Some((&length, &there)) = left.first_key_value() else { break };
        // Do as many full merges of this length as possible.
        if there >= wanted {
            let merges = if wanted == fan_in {
                (there / wanted).min((count - fan_in).div_ceil(fan_in - 1))
            } else {
                1
            };
            take(&mut left, length, merges * wanted);
            *left.entry(length * wanted).or_default() += merges;
            moved += merges * wanted * length;
            count -= merges * (wanted - 1);
        } else {
            let mut joined = 0;
            let mut needed = wanted;
            while let Some((&length, &there)) = left.first_key_value().filter(|_| needed > 0) {
                let taken = there.min(needed);
                take(&mut left, length, taken);
                joined += taken * length;
                needed -= taken;
            }
            *left.entry(joined).or_default() += 1;
            moved += joined;
            count -= wanted - 1;
        }
        wanted = fan_in;
    }
    moved
}

fn take(left: &mut std::collections::BTreeMap<u64, u64>, length: u64, count: u64) {
    if let Some(there) = left.get_mut(&length) {
        *there -= count;
        if *there == 0 {
            left.remove(&length);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bytes moved by following `next_merge` to the end.
    fn moved(mut lengths: Vec<u64>, fan_in: usize, keeps_order: bool) -> u64 {
        let mut moved = 0;
        while let Some(joined) = next_merge(&lengths, fan_in, keeps_order) {
            let length: u64 = joined.iter().map(|run| lengths[*run]).sum();
            moved += length;
            lengths[joined[0]] = length;
            let mut position = 0;
            lengths.retain(|_| {
                position += 1;
                position - 1 == joined[0] || !joined.contains(&(position - 1))
            });
        }
        moved
    }

    /// Fewest bytes that any merge order moves, by exhaustive search.
    fn least(lengths: &[u64], fan_in: usize) -> u64 {
        if lengths.len() <= fan_in {
            return 0;
        }
        let subsets =
            (0_u32..1 << lengths.len()).filter(|set| (2..=fan_in).contains(&(set.count_ones() as usize)));
        let after = subsets.map(|set| {
            let (joined, mut rest): (Vec<_>, Vec<_>) =
                (0..).zip(lengths).partition(|(run, _)| set >> run & 1 == 1);
            let length = joined.iter().map(|(_, length)| **length).sum();
            rest.push((0, &length));
            let rest: Vec<u64> = rest.into_iter().map(|(_, length)| *length).collect();
            length + least(&rest, fan_in)
        });
        after.min().unwrap()
    }

    #[test]
    fn last_merge_is_as_wide_as_possible() {
        assert_eq!(next_merge(&[1; 8], 8, false), None);
        assert_eq!(next_merge(&[1; 9], 8, false).map(|runs| runs.len()), Some(2));
        assert_eq!(next_merge(&[5, 1, 9, 2], 3, false), Some(vec![1, 3]));
        assert_eq!(next_merge(&[5, 1, 9, 2], 3, true), Some(vec![0, 1]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_other_order_moves_fewer_bytes(lengths in proptest::collection::vec(1_u64..20, 1..7), fan_in in 2_usize..5) {
            prop_assert_eq!(moved(lengths.clone(), fan_in, false), least(&lengths, fan_in));
        }

        #[test]
        fn prediction_for_equal_runs_is_exact(runs in 1_usize..200, fan_in in 2_usize..20) {
            prop_assert_eq!(predicted_bytes(runs as u64, 7, fan_in), moved(vec![7; runs], fan_in, false));
        }
    }
}
