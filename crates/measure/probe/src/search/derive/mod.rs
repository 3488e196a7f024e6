//! Derived parameters: pure functions of surfaces, one file each.

mod contradictions;
mod efficient;
mod equal;
mod flexible;
mod group;
mod knee;
mod split;

use nandle_profile::arithmetic::map;
use nandle_profile::{DepthForBlock, Derived, Interval, NEAR_FULL_SHARE};

use super::{Grid, Surfaces};

pub use contradictions::contradictions;
pub use efficient::{efficient_block, efficient_block_by_depth};
pub use equal::random_equals_sequential;
pub use flexible::flexible_io;
pub use group::group_penalty;
pub use knee::{depth_for_block, knee};
pub use split::split_size;

/// Ratio from which two bandwidths count as equal, as for "near full".
pub(super) const NEAR: f64 = NEAR_FULL_SHARE;

/// All derived parameters. `stated_split_bytes` comes from the system; `latency_ns` is the median
/// latency of the smallest block at depth 1.
pub fn derive(
    surfaces: &Surfaces,
    grid: &Grid,
    stated_split_bytes: Option<u64>,
    latency_ns: Option<u64>,
) -> Derived {
    let rows: Vec<_> =
        grid.block_sizes.iter().filter_map(|block| depth_for_block(surfaces, *block)).collect();
    Derived {
        random_bandwidth_bytes_per_s_max: most(&rows, |row| row.plateau_bytes_per_s),
        sequential_bandwidth_bytes_per_s_max: full_sequential(surfaces),
        random_read_iops_max: most(&rows, |row| per_block(row.plateau_bytes_per_s, row.block_bytes)),
        random_read_latency_ns: latency_ns,
        efficient_block_bytes: surfaces.interval(efficient_block),
        efficient_block_by_depth: efficient_block_by_depth(surfaces, grid),
        saturating_queue_depth: rows,
        random_equals_sequential: random_equals_sequential(surfaces),
        group_penalty: group_penalty(surfaces),
        split_bytes: split_size(surfaces, grid, stated_split_bytes),
        flexible_io: flexible_io(surfaces, grid),
        ..Derived::default()
    }
}

/// The row with the greatest figure, with its own interval.
fn most(rows: &[DepthForBlock], figure: impl Fn(&DepthForBlock) -> Interval<f64>) -> Option<Interval<f64>> {
    rows.iter().map(figure).max_by(|a, b| a.value.total_cmp(&b.value))
}

fn per_block(bytes: Interval<f64>, block_bytes: u64) -> Interval<f64> {
    map(&bytes, |bytes| bytes / block_bytes as f64)
}

fn full_sequential(surfaces: &Surfaces) -> Option<Interval<f64>> {
    let plateau = |block: &u64| surfaces.best.sequential_plateau(*block);
    let blocks = surfaces.best.sequential_blocks();
    let best = blocks.max_by(|a, b| plateau(a).unwrap_or(0.0).total_cmp(&plateau(b).unwrap_or(0.0)))?;
    surfaces.interval(|surface| surface.sequential_plateau(best))
}
