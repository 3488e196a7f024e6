//! How a pair of partitions is joined: sides, and pieces or another division, by what turned out.

use super::JoinKind;
use super::env::JoinEnv;
use super::estimate::{Estimate, Sides};
use super::matching::TableSide;
use super::pairs::Pair;
use super::partition::Partition;
use super::plan::{enough_partitions, most_partitions};
use super::table::table_bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// No row can come of it.
    Nothing,
    /// One side is brought into memory in as many pieces as it takes, often one, and the other one streams by each.
    InPieces { table_side: TableSide },
    /// Both sides are divided again.
    Divide { table_side: TableSide, fan_out: usize },
}

/// A side that could be in memory.
struct Candidate {
    table_side: TableSide,
    table_bytes: u64,
    pieces: u64,
    /// What is read if the other side streams by each piece.
    read_bytes: u64,
}

/// Whichever takes the least time by the costs of the device. A division that made a pair hardly shorter than what was divided is
/// not tried again: most of its rows have one key. So is none for which the lists have no room.
pub(super) fn decide(env: &JoinEnv, pair: &Pair, area_bytes: usize, lists_bytes: usize) -> Decision {
    let kind = env.options.kind;
    if pair.probe.is_empty() || pair.build.is_empty() && !kind.wants_unmatched() {
        return Decision::Nothing;
    }
    let cluster_bytes = env.plan.cluster_bytes;
    let [build, probe] = [TableSide::Build, TableSide::Probe]
        .map(|table_side| candidate(pair, table_side, area_bytes, cluster_bytes));
    let shorter = if probe.table_bytes < build.table_bytes { &probe } else { &build };
    // Of a probe row, all pieces of the build side together tell whether it matches; of pieces of the probe side each row meets all.
    let build_may_be_in_pieces = kind == JoinKind::Inner || build.pieces == 1;
    let in_pieces =
        if build_may_be_in_pieces && build.read_bytes <= probe.read_bytes { &build } else { &probe };
    let most = most_partitions(&env.options, area_bytes, cluster_bytes, lists_bytes, env.read_buffers());
    let fan_out = enough_partitions(shorter.table_bytes, area_bytes).min(most);
    let shorter_bytes = pair.sides(shorter.table_side).0.row_bytes;
    let did_shrink = shorter_bytes.saturating_mul(8) <= pair.parent_bytes.saturating_mul(7);
    let pieces_seconds = in_pieces.read_bytes as f64 * env.estimate.read_byte_seconds;
    let divides = fan_out >= 2
        && did_shrink
        && in_pieces.pieces > 1
        && dividing_seconds(env, pair, shorter, area_bytes, (fan_out, most)) < pieces_seconds;
    if divides {
        Decision::Divide { table_side: shorter.table_side, fan_out }
    } else {
        Decision::InPieces { table_side: in_pieces.table_side }
    }
}

fn candidate(pair: &Pair, table_side: TableSide, area_bytes: usize, cluster_bytes: usize) -> Candidate {
    let (own, other) = pair.sides(table_side);
    let Partition { rows, row_bytes, .. } = *own;
    let table_bytes = table_bytes(rows, row_bytes);
    let pieces = table_bytes.div_ceil(area_bytes.max(1) as u64);
    let read_bytes = own.stored_bytes(cluster_bytes) + pieces * other.stored_bytes(cluster_bytes);
    Candidate { table_side, table_bytes, pieces, read_bytes }
}

/// What dividing a pair and joining its parts is expected to take, in seconds.
fn dividing_seconds(
    env: &JoinEnv,
    pair: &Pair,
    table: &Candidate,
    area_bytes: usize,
    (fan_out, fan_out_max): (usize, usize),
) -> f64 {
    let (own, other) = pair.sides(table.table_side);
    let [own_bytes, other_bytes] = [own, other].map(|side| side.stored_bytes(env.plan.cluster_bytes));
    let sides = Sides { table_bytes: table.table_bytes, own_bytes, other_bytes };
    Estimate { area_bytes, fan_out_max, ..env.estimate }.dividing(sides, fan_out).seconds
}
