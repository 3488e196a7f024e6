use std::collections::BTreeMap;

use super::super::estimate::Estimate;
use super::super::fit::in_between;
use super::super::*;

fn curve() -> Curve {
    Curve {
        request_ns: 90_000.0,
        ns_per_byte: 0.8,
        iops_max: 60_000.0,
        bandwidth_bytes_per_s_max: 900e6,
        sharpness: 5.0,
    }
}

fn grid() -> Grid {
    Grid {
        block_sizes: (11..=22).map(|power| 1 << power).collect(),
        queue_depths: (0..=8).map(|power| 1 << power).collect(),
        outstanding_bytes_max: 64 << 20,
    }
}

fn measured() -> BTreeMap<CellKey, f64> {
    let cells = schedule::skeleton(&grid()).into_iter().flatten();
    cells.map(|key| (key, curve().bandwidth_bytes_per_s(key.block_bytes, key.queue_depth))).collect()
}

fn fitted() -> Option<Curve> {
    let estimate = |bandwidth_bytes_per_s| Estimate { bandwidth_bytes_per_s, log_error: 0.01, slices: 3 };
    Curve::fit(&measured().into_iter().map(|(key, bandwidth)| (key, estimate(bandwidth))).collect())
}

#[test]
fn the_bounds_of_the_curve_are_its_limits() {
    let curve = curve();
    let near = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 0.01, "{got}, {expected}");
    near(curve.bandwidth_bytes_per_s(2048, 1), 2048.0 / (90_000.0 + 2048.0 * 0.8) * 1e9);
    near(curve.bandwidth_bytes_per_s(2048, 256), 2048.0 * 60_000.0);
    near(curve.bandwidth_bytes_per_s(4 << 20, 16), 900e6);
}

#[test]
fn very_sharp_knees_do_not_overflow() {
    let sharp = Curve { sharpness: 64.0, ..curve() };
    for key in grid().random_cells() {
        let [sharp, smooth] =
            [sharp, curve()].map(|x| x.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth));
        assert!(sharp >= smooth && sharp < 1.3 * smooth, "{key:?}: {sharp}, {smooth}");
    }
}

#[test]
fn a_cell_with_a_large_error_moves_the_curve_less() {
    let with_error = |log_error| {
        let mut cells: BTreeMap<CellKey, Estimate> = measured()
            .into_iter()
            .map(|(key, bandwidth_bytes_per_s)| {
                (key, Estimate { bandwidth_bytes_per_s, log_error: 0.01, slices: 3 })
            })
            .collect();
        for (key, cell) in cells.iter_mut().filter(|(key, _)| key.block_bytes == 2048) {
            let factor = if key.queue_depth < 10 { 0.5 } else { 2.0 };
            *cell =
                Estimate { bandwidth_bytes_per_s: cell.bandwidth_bytes_per_s * factor, log_error, ..*cell };
        }
        let fitted = Curve::fit(&cells).unwrap();
        (fitted.bandwidth_bytes_per_s(4096, 1) / curve().bandwidth_bytes_per_s(4096, 1)).ln().abs()
    };
    assert!(with_error(0.7) < 0.5 * with_error(0.01), "{} {}", with_error(0.7), with_error(0.01));
}

#[test]
fn a_known_curve_is_recovered() {
    let (curve, fitted) = (curve(), fitted().unwrap());
    for key in grid().random_cells() {
        let expected = curve.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth);
        let got = fitted.bandwidth_bytes_per_s(key.block_bytes, key.queue_depth);
        assert!((got / expected - 1.0).abs() < 0.03, "{key:?}: {got}, expected {expected}");
    }
    let near = |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 0.05, "{fitted:?}");
    near(fitted.request_ns, curve.request_ns);
    near(fitted.iops_max, curve.iops_max);
    near(fitted.bandwidth_bytes_per_s_max, curve.bandwidth_bytes_per_s_max);
}

#[test]
fn a_few_cells_give_no_curve() {
    let estimate = Estimate { bandwidth_bytes_per_s: 1e8, log_error: 0.01, slices: 3 };
    let cells = (0..7).map(|power| (CellKey::random(4096, 1 << power), estimate)).collect();
    assert!(Curve::fit(&cells).is_none());
}

#[test]
fn nothing_is_filled_in_beyond_the_deepest_queue_measured() {
    let measured = [(4096, 1), (4096, 32), (8192, 4)]
        .map(|(block, depth)| {
            (
                CellKey::random(block, depth),
                Estimate { bandwidth_bytes_per_s: 1e8, log_error: 0.01, slices: 3 },
            )
        })
        .into();
    let between = in_between(&grid(), &measured);
    let expected = [(4096, 2), (4096, 4), (4096, 8), (4096, 16), (8192, 1), (8192, 2)];
    assert_eq!(between, expected.map(|(block, depth)| CellKey::random(block, depth)));
}
