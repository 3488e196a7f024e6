use std::collections::{BTreeMap, BTreeSet};

use super::super::derive::knee;
use super::super::estimate::Estimate;
use super::super::*;

fn grid() -> Grid {
    Grid {
        block_sizes: (11..=22).map(|power| 1 << power).collect(),
        queue_depths: (0..=8).map(|power| 1 << power).collect(),
        outstanding_bytes_max: 64 << 20,
    }
}

fn on_grid(key: &CellKey) -> bool {
    grid().block_sizes.contains(&key.block_bytes)
        && grid().queue_depths.contains(&key.queue_depth)
        && key.spec().outstanding_bytes() <= 64 << 20
}

#[test]
fn the_first_look_goes_from_shallow_to_deep_and_ends_with_the_deepest() {
    let steps = schedule::skeleton(&grid());
    let depths: Vec<u32> = steps.iter().map(|step| step[0].queue_depth).collect();
    assert!(depths.is_sorted() && steps.iter().flatten().all(on_grid));
    for step in &steps {
        assert!(step.iter().all(|key| key.queue_depth == step[0].queue_depth));
    }
    for block in grid().block_sizes {
        let of_block = steps.iter().flatten().filter(|key| key.block_bytes == block);
        let depths: Vec<u32> = of_block.map(|key| key.queue_depth).collect();
        assert_eq!((depths.first(), depths.last().copied()), (Some(&1), grid().depths_of(block).next_back()));
    }
}

#[test]
fn bisection_ends_at_the_knee() {
    // Bandwidth grows in proportion to the depth up to `full`, for depths within and beyond the
    // grid.
    for full in [1_u32, 2, 3, 16, 48, 64, 200, 256, 1000] {
        let bandwidth = |key: CellKey| f64::from(key.queue_depth.min(full)) * key.block_bytes as f64;
        let mut cells: BTreeMap<CellKey, f64> =
            schedule::skeleton(&grid()).into_iter().flatten().map(|key| (key, bandwidth(key))).collect();
        for round in 0.. {
            assert!(round < 9, "no end for {full}");
            let next = schedule::bisection(&grid(), &Surface::new(cells.clone()));
            if next.is_empty() {
                break;
            }
            for key in next {
                assert!(on_grid(&key) && cells.insert(key, bandwidth(key)).is_none(), "{key:?} again");
            }
        }
        let exact = Surface::new(grid().random_cells().map(|key| (key, bandwidth(key))).collect());
        for block in grid().block_sizes {
            assert_eq!(knee(&Surface::new(cells.clone()), block), knee(&exact, block), "{full}, {block}");
        }
    }
}

#[test]
fn sequential_reading_and_groups_stay_on_the_grid() {
    assert!(schedule::sequential(&grid()).iter().all(on_grid));
    for efficient in [0, 2048, 16 << 10, 4 << 20] {
        let groups = schedule::groups(&grid(), efficient);
        assert!(!groups.is_empty() && groups.iter().all(on_grid));
        for key in &groups {
            assert!(
                groups.contains(&CellKey { group_blocks: 1, ..*key }),
                "{key:?} has nothing to be held against"
            );
        }
    }
    let empty = Grid { block_sizes: Vec::new(), ..grid() };
    assert!(schedule::groups(&empty, 4096).is_empty() && schedule::skeleton(&empty).is_empty());
}

#[test]
fn the_next_round_has_uncertain_rarely_measured_and_undecided_cells() {
    let estimate =
        |bandwidth_bytes_per_s, slices| Estimate { bandwidth_bytes_per_s, log_error: 0.03, slices };
    let mut estimates: BTreeMap<CellKey, Estimate> = BTreeMap::new();
    for key in grid().random_cells() {
        let depth = f64::from(key.queue_depth);
        estimates.insert(key, estimate(key.block_bytes as f64 * depth.min(16.0), 5));
    }
    let rare = CellKey::random(2048, 256);
    estimates.get_mut(&rare).unwrap().slices = 1;
    // Depth 8 of one block size is at the border of its plateau.
    let unsure = CellKey::random(32 << 10, 8);
    estimates.insert(unsure, estimate(f64::from(32 << 10) * 16.0 * 0.9, 5));
    // One cell is known only from its neighbours.
    let blank = CellKey::random(4 << 20, 1);
    estimates.insert(blank, Estimate { log_error: 0.2, slices: 0, ..estimates[&blank] });
    for count in [1, 2, 5, 24, 1000] {
        let round = schedule::next_round(&estimates, count);
        let distinct: BTreeSet<_> = round.iter().collect();
        assert!(
            !round.is_empty() && round.len() <= count && distinct.len() == round.len(),
            "{count}: {}",
            round.len()
        );
        assert!(round.iter().all(|key| estimates.contains_key(key)));
        assert!(round.contains(&blank) && (count < 2 || round.contains(&rare)));
        assert!(count < 5 || round.contains(&unsure), "{round:?}");
    }
}
