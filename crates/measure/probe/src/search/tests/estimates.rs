use std::collections::{BTreeMap, BTreeSet};

use super::super::CellKey;
use super::super::estimate::{Slice, estimates, median};

fn slice(bandwidth_bytes_per_s: f64) -> Slice {
    Slice { bandwidth_bytes_per_s, elapsed_ns: 1e8, pace: 1.0 }
}

#[test]
fn a_mean_is_bytes_by_time_at_the_usual_pace() {
    let slices = vec![
        Slice { bandwidth_bytes_per_s: 100.0, elapsed_ns: 3e8, pace: 1.0 },
        Slice { bandwidth_bytes_per_s: 80.0, elapsed_ns: 1e8, pace: 0.5 },
    ];
    let estimates = estimates(&BTreeMap::from([(CellKey::random(4096, 1), slices)]), &BTreeSet::new());
    let estimate = estimates[&CellKey::random(4096, 1)];
    assert!((estimate.bandwidth_bytes_per_s - 115.0).abs() < 1e-9, "{estimate:?}");
    assert_eq!(estimate.slices, 2);
}

#[test]
fn few_slices_have_the_uncertainty_of_their_neighbours() {
    let steady = |count: usize| vec![slice(1e8); count];
    let scattered: Vec<Slice> =
        (0..40).map(|number| slice(if number % 2 == 0 { 0.9e8 } else { 1.1e8 })).collect();
    let keys = [1, 2, 4].map(|depth| CellKey::random(4096, depth));
    let cells = BTreeMap::from([(keys[0], steady(2)), (keys[1], scattered), (keys[2], steady(40))]);
    let estimates = estimates(&cells, &BTreeSet::new());
    let error = |key: usize| estimates[&keys[key]].log_error;
    // Two equal slices are chance; forty are evidence.
    assert!(error(0) > 0.03, "{}", error(0));
    assert!((0.012..0.02).contains(&error(1)), "{}", error(1));
    assert!(error(2) < 0.5 * error(1), "{}", error(2));
}

#[test]
fn scatter_is_shrunk_to_that_of_neighbours() {
    let of = |count: usize, scatter: f64| -> Vec<Slice> {
        (0..count)
            .map(|number| slice(if number % 2 == 0 { 1e8 * (1.0 - scatter) } else { 1e8 * (1.0 + scatter) }))
            .collect()
    };
    // Small blocks scatter little, large ones a lot, and one cell was measured more often than all
    // others.
    let mut cells: BTreeMap<_, _> = [11, 12, 13, 19, 20, 21]
        .into_iter()
        .map(|power| (CellKey::random(1 << power, 1), of(4, if power < 16 { 0.01 } else { 0.2 })))
        .collect();
    cells.insert(CellKey::random(32 << 10, 8), of(100, 0.1));
    let (small, large) = (CellKey::random(4096, 2), CellKey::random(1 << 20, 2));
    cells.extend([(small, of(1, 0.0)), (large, of(1, 0.0))]);
    let estimates = estimates(&cells, &BTreeSet::new());
    assert!(estimates[&small].log_error < 0.09, "{:?}", estimates[&small]);
    assert!(estimates[&large].log_error > 0.15, "{:?}", estimates[&large]);
}

#[test]
fn a_pause_counts_as_the_time_it_takes() {
    let pause = [slice(1e8), slice(1e8), slice(1e6), slice(1e8)].to_vec();
    let estimate = estimates(&BTreeMap::from([(CellKey::random(4096, 1), pause)]), &BTreeSet::new())
        [&CellKey::random(4096, 1)];
    assert!((0.2..0.4).contains(&estimate.log_error), "{estimate:?}");
}

#[test]
fn cells_in_which_nothing_was_counted_have_no_estimate() {
    assert!(
        estimates(&BTreeMap::from([(CellKey::random(4096, 1), Vec::new())]), &BTreeSet::new()).is_empty()
    );
}

#[test]
fn medians_of_few_values() {
    let near = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12);
    near(median([]), 0.0);
    near(median([3.0]), 3.0);
    near(median([3.0, 1.0]), 2.0);
    near(median([3.0, 1.0, 7.0]), 3.0);
}
