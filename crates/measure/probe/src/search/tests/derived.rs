//! Derived parameters on surfaces without noise, using the figures of the DIAT paper where
//! available.

use std::collections::BTreeMap;

use super::super::derive::*;
use super::super::*;

const MB: f64 = 1e6;

fn grid() -> Grid {
    Grid {
        block_sizes: (11..=22).map(|power| 1 << power).collect(),
        queue_depths: (0..=8).map(|power| 1 << power).collect(),
        outstanding_bytes_max: 64 << 20,
    }
}

/// The X25-M: 2 KiB at 50 MB/s; 32 KiB and more at 255 MB/s and slowly rising; full at depth 4 (C1,
/// C3, C10); a drop from 2 MiB on (C4); never full at depth 1 (C5).
fn x25_m(block_bytes: u64, depth: u32) -> f64 {
    let full = match block_bytes {
        2048 => 50.0,
        4096 => 90.0,
        8192 => 140.0,
        16_384 => 200.0,
        2_097_152.. => 180.0,
        _ => 255.0 + 2.0 * f64::from((block_bytes / 32_768).ilog2()),
    };
    full * MB * (0.5 + 0.25 * f64::from(depth.ilog2())).min(1.0)
}

fn surfaces() -> Surfaces {
    let mut cells: BTreeMap<CellKey, f64> =
        grid().random_cells().map(|key| (key, x25_m(key.block_bytes, key.queue_depth))).collect();
    for block in grid().block_sizes {
        for depth in [1, 4, 32] {
            cells.insert(CellKey::sequential(block, depth), if depth == 1 { 200.0 } else { 265.0 } * MB);
        }
    }
    cells.insert(CellKey::grouped(32 << 10, 4, 4), 160.0 * MB);
    Surfaces::exact(Surface::new(cells))
}

#[test]
fn the_parameters_of_the_x25_m() {
    let derived = derive(&surfaces(), &grid(), Some(1 << 20), Some(85_000));
    assert_eq!(derived.efficient_block_bytes.unwrap().value, 32 << 10);
    for knee in &derived.saturating_queue_depth {
        assert_eq!((knee.queue_depth.value, knee.plateau_reached), (4, true), "{knee:?}");
    }
    assert_eq!(derived.saturating_queue_depth.len(), 12);
    let split = derived.split_bytes.unwrap();
    assert_eq!((split.stated_bytes, split.seen.unwrap().whole_bytes), (Some(1 << 20), 1 << 20));
    let equal: Vec<_> = derived.random_equals_sequential.iter().map(|region| region.block_bytes).collect();
    assert_eq!(equal, [32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20]);
    assert!(derived.random_equals_sequential.iter().all(|region| region.queue_depth_min == 4));
    let [penalty] = derived.group_penalty.as_slice() else { panic!("{:?}", derived.group_penalty) };
    assert!((penalty.ratio.value - 160.0 / 255.0).abs() < 1e-9, "{penalty:?}");
    let flexible = derived.flexible_io.unwrap();
    assert_eq!((flexible.block_bytes.value, flexible.group_blocks.value), (2048, 16));
    assert!((flexible.break_even_blocks.value - 128.5 / 40.96).abs() < 0.01, "{flexible:?}");
    assert_eq!(flexible.request_costs.len(), 12);
    assert!((derived.random_read_iops_max.unwrap().value - 50.0 * MB / 2048.0).abs() < 1e-6);
    assert!((derived.sequential_bandwidth_bytes_per_s_max.unwrap().value - 265.0 * MB).abs() < 1e-3);
    assert_eq!(derived.random_read_latency_ns, Some(85_000));
}

/// In deep queues, 2 KiB and 4 KiB are both limited by the drive's processor at 28 µs per request.
/// At depth 4, which groups of 32 KiB need, the smaller one is still cheaper (C12).
#[test]
fn the_flexible_unit_is_judged_at_the_depth_that_the_group_needs() {
    let processor = |block: u64| block as f64 / 28e-6;
    let deep = |block: u64, depth: u32| {
        if depth > 4 && block < 8_192 { processor(block) } else { x25_m(block, depth) }
    };
    let cells = grid().random_cells().map(|key| (key, deep(key.block_bytes, key.queue_depth))).collect();
    let flexible = derive(&Surfaces::exact(Surface::new(cells)), &grid(), None, None).flexible_io.unwrap();
    assert_eq!((flexible.block_bytes.value, flexible.group_blocks.value), (2048, 16));
}

#[test]
fn where_bandwidth_still_grows_the_plateau_is_not_reached() {
    let cells = grid().random_cells().map(|key| (key, f64::from(key.queue_depth) * MB)).collect();
    let surfaces = Surfaces::exact(Surface::new(cells));
    let knee = depth_for_block(&surfaces, 4096).unwrap();
    assert_eq!((knee.queue_depth.value, knee.plateau_reached), (256, false));
    assert!(depth_for_block(&surfaces, 5000).is_none());
}

#[test]
fn no_measurements_give_no_result() {
    let derived = derive(&Surfaces::exact(Surface::default()), &grid(), None, None);
    assert_eq!(derived, nandle_profile::Derived::default());
}
