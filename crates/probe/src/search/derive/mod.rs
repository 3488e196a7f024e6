//! What follows from the measured cells: pure functions from surfaces to derived parameters, one file each.

mod contradictions;
mod efficient;
mod equal;
mod flexible;
mod group;
mod knee;
mod split;

use nandle_profile::Derived;

use super::{Grid, Surface, Surfaces};

pub use contradictions::contradictions;
pub use efficient::{efficient_block, efficient_block_by_depth};
pub use equal::random_equals_sequential;
pub use flexible::flexible_io;
pub use group::group_penalty;
pub use knee::{depth_for_block, knee};
pub use split::split_size;

/// "Near full" and "equal" are within 10 % (DIAT, C1).
pub(super) const NEAR: f64 = 0.9;

/// All derived parameters. `stated_split_bytes` is what the system says; `latency_ns` the median latency of the
/// smallest block at depth 1.
pub fn derive(
    surfaces: &Surfaces,
    grid: &Grid,
    stated_split_bytes: Option<u64>,
    latency_ns: Option<u64>,
) -> Derived {
    let iops = |surface: &Surface| {
        let most = |block: u64| Some(surface.plateau(block)? / block as f64);
        surface.random_blocks().filter_map(most).reduce(f64::max)
    };
    Derived {
        random_bandwidth_bytes_per_s_max: surfaces.best_bandwidth(Surface::full_random),
        sequential_bandwidth_bytes_per_s_max: surfaces.best_bandwidth(Surface::full_sequential),
        random_read_iops_max: surfaces.best_bandwidth(iops),
        random_read_latency_ns: latency_ns,
        efficient_block_bytes: surfaces.interval(efficient_block),
        efficient_block_by_depth: efficient_block_by_depth(surfaces, grid),
        saturating_queue_depth: grid
            .block_sizes
            .iter()
            .filter_map(|block| depth_for_block(surfaces, *block))
            .collect(),
        random_equals_sequential: random_equals_sequential(surfaces),
        group_penalty: group_penalty(surfaces),
        split_bytes: split_size(surfaces, grid, stated_split_bytes),
        flexible_io: flexible_io(surfaces, grid),
    }
}
