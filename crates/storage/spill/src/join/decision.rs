//! Chooses how to join a pair of written partitions: which side is in memory, and block loop or
//! another division.

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
    /// The pair yields no rows.
    Nothing,
    /// Loads one side into memory in one or more pieces, and streams the other side past each
    /// piece.
    InPieces { table_side: TableSide },
    /// Divides both sides again.
    Divide { table_side: TableSide, fan_out: usize },
}

/// A side that could be loaded into memory.
struct Candidate {
    table_side: TableSide,
    table_bytes: u64,
    pieces: u64,
    /// Bytes read if the other side streams past each piece.
    read_bytes: u64,
}

/// Chooses the fastest plan by the costs of the device. A pair isn't divided again if its last
/// division hardly shrank it, because most of its rows then share one key. Nor is it divided when
/// the lists have no room.
pub(super) fn decide(env: &JoinEnv, pair: &Pair, area_bytes: usize, lists_bytes: usize) -> Decision {
    let kind = env.options.kind;
    if pair.probe.is_empty() || pair.build.is_empty() && !kind.returns_unmatched() {
        return Decision::Nothing;
    }
    let cluster_bytes = env.plan.cluster_bytes;
    let [build, probe] = [TableSide::Build, TableSide::Probe]
        .map(|table_side| candidate(pair, table_side, area_bytes, cluster_bytes));
    let shorter = if probe.table_bytes < build.table_bytes { &probe } else { &build };
    // A probe row needs all pieces of the build side to learn if it matches. Pieces of the probe
    // side work for every kind of join: each of their rows meets the whole build side.
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

/// Predicted time to divide a pair and join its parts, in seconds.
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
