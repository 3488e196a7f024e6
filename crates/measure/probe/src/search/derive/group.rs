use nandle_profile::GroupPenalty;

use crate::search::{CellKey, Order, Surfaces};

/// Bandwidth of groups relative to single blocks of the same size and depth (C8, C9), for every
/// measured group.
pub fn group_penalty(surfaces: &Surfaces) -> Vec<GroupPenalty> {
    let grouped = surfaces.best.cells().filter(|(key, _)| key.order == Order::Random && key.group_blocks > 1);
    grouped.filter_map(|(key, _)| penalty(surfaces, key)).collect()
}

fn penalty(surfaces: &Surfaces, key: CellKey) -> Option<GroupPenalty> {
    let single = CellKey { group_blocks: 1, ..key };
    let ratio = surfaces.interval(|surface| Some(surface.bandwidth(key)? / surface.bandwidth(single)?))?;
    Some(GroupPenalty {
        block_bytes: key.block_bytes,
        queue_depth: key.queue_depth,
        group_blocks: key.group_blocks,
        ratio,
    })
}
