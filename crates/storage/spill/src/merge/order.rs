//! Which runs are merged first.

/// The runs, by their positions, that the next merge joins, so that in the end the fewest bytes are moved; none where all fit into
/// one last merge. The first merge takes as few as make all later ones full, always of the shortest (Knuth, *The Art of
/// Computer Programming* 3, §5.4.9). Where rows with equal keys must keep their order they are neighbours.
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

/// The positions of so many runs that are the shortest, or of the neighbours that are together.
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

/// Bytes that merges before the last one read, and write, of so many runs of the same length.
pub(crate) fn predicted_bytes(runs: u64, run_bytes: u64, fan_in: usize) -> u64 {
    let fan_in = fan_in as u64;
    // Runs of the same length are alike, so they are counted: (length, how many).
    let mut left = std::collections::BTreeMap::from([(run_bytes, runs)]);
    let mut moved = 0;
    let mut count = runs;
    let mut wanted = match count.saturating_sub(1) % (fan_in - 1) {
        0 => fan_in,
        rest => rest + 1,
    };
    while count > fan_in {
        let Some((&length, &there)) = left.first_key_value() else { break };
        // As many whole merges of this length as there are.
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

    /// Bytes moved by merging one after the other, as told by `next_merge`.
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

    /// The least that any order of merging moves, tried out.
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
    fn one_last_merge_joins_all_that_it_can() {
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
        fn what_is_predicted_of_equal_runs_is_what_merging_moves(runs in 1_usize..200, fan_in in 2_usize..20) {
            prop_assert_eq!(predicted_bytes(runs as u64, 7, fan_in), moved(vec![7; runs], fan_in, false));
        }
    }
}
