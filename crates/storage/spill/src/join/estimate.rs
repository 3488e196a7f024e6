//! Predicted device time of a join, level by level, following the decisions that the join will
//! make.

use super::plan::enough_partitions;
use super::table::table_bytes;
use crate::SpillCosts;
use crate::costs::{ReadCost, WriteMemory};

/// Assumed length of a row that hasn't been seen yet, in bytes.
const ROW_BYTES: u64 = 100;

/// Device time per byte, for clusters of one length at the depth that memory allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) cluster_bytes: usize,
    /// Read time with two concurrent readers.
    pub(super) read_byte_seconds: f64,
    /// Read time of a single reader that has the buffers of both.
    pub(super) alone_byte_seconds: f64,
    pub(super) write_byte_seconds: f64,
    /// Extra time of a written byte while reads are outstanding: the device switches from reading
    /// to writing for each request.
    pub(super) turn_byte_seconds: f64,
    /// Memory for rows while pairs are joined, in bytes.
    pub(super) area_bytes: usize,
    /// Maximum number of partitions in a division.
    pub(super) fan_out_max: usize,
}

/// Sizes of the two sides of an input or a pair.
#[allow(clippy::struct_field_names, reason = "units are in names")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    /// Size of one side in memory.
    pub(super) table_bytes: u64,
    /// Size of that side on the device.
    pub(super) own_bytes: u64,
    /// Size of the other side on the device.
    pub(super) other_bytes: u64,
}

impl Sides {
    /// Two sides of `bytes` bytes each, before any row has been seen. The table adds overhead to
    /// each row.
    pub(super) fn equal(bytes: u64) -> Self {
        Self { table_bytes: table_bytes(bytes / ROW_BYTES, bytes), own_bytes: bytes, other_bytes: bytes }
    }

    fn both_bytes(self) -> f64 {
        (self.own_bytes + self.other_bytes) as f64
    }

    fn part(self, parts: usize) -> Self {
        let parts = parts.max(1) as u64;
        let Self { table_bytes, own_bytes, other_bytes } = self;
        Self {
            table_bytes: table_bytes / parts,
            own_bytes: own_bytes / parts,
            other_bytes: other_bytes / parts,
        }
    }
}

/// Predicted cost of a join or a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Prediction {
    pub(super) seconds: f64,
    /// Maximum number of times that a row is still to be written.
    pub(super) levels: u32,
}

impl Estimate {
    /// Estimate for reads of `cost` and writes from `writes`; the caller sets the area and the
    /// fan-out.
    pub(super) fn of(costs: &SpillCosts, cost: ReadCost, writes: WriteMemory) -> Self {
        let write_bytes = writes.buffer_bytes as f64;
        let (cost, alone) = if costs.serves_several() {
            (cost, costs.deepest(cost, 2 * cost.depth))
        } else {
            (costs.single(cost), costs.single(cost))
        };
        Self {
            cluster_bytes: cost.request_bytes,
            read_byte_seconds: costs.read_seconds(cost) / cost.request_bytes as f64,
            alone_byte_seconds: costs.read_seconds(alone) / cost.request_bytes as f64,
            write_byte_seconds: costs.write_seconds(write_bytes) / write_bytes,
            turn_byte_seconds: costs.turn_seconds(alone.depth) / write_bytes,
            area_bytes: 0,
            fan_out_max: 0,
        }
    }

    /// Predicts a join whose rows come from the caller.
    pub(super) fn of_input(&self, sides: Sides, fan_out: usize, area_bytes: usize) -> Prediction {
        self.divided(sides, fan_out, area_bytes, 0.0)
    }

    /// Predicts a join that reads its rows back, and writes those that don't stay in memory.
    pub(super) fn dividing(&self, sides: Sides, fan_out: usize) -> Prediction {
        let rest = self.divided(sides, fan_out, self.area_bytes, self.turn_byte_seconds);
        Prediction { seconds: sides.both_bytes() * self.alone_byte_seconds + rest.seconds, ..rest }
    }

    /// Time to load one side in `pieces` pieces and read the other side once for each.
    pub(super) fn in_pieces(&self, own_bytes: u64, other_bytes: u64, pieces: u64) -> f64 {
        own_bytes.saturating_add(pieces.saturating_mul(other_bytes)) as f64 * self.read_byte_seconds
    }

    /// Predicts the join of a pair of partitions on the device.
    fn pair(&self, sides: Sides) -> Prediction {
        let pieces = sides.table_bytes.div_ceil(self.area_bytes.max(1) as u64).max(1);
        let seconds = self.in_pieces(sides.own_bytes, sides.other_bytes, pieces);
        let in_pieces = Prediction { seconds, levels: 0 };
        let fan_out = enough_partitions(sides.table_bytes, self.area_bytes).min(self.fan_out_max);
        if pieces == 1 || fan_out < 2 {
            return in_pieces;
        }
        let divided = self.dividing(sides, fan_out);
        if divided.seconds < seconds { divided } else { in_pieces }
    }

    /// Predicts the cost of the rows that leave memory: each is written, read and joined. The
    /// buffers of written partitions reduce the memory for rows.
    fn divided(&self, sides: Sides, fan_out: usize, area_bytes: usize, turn_byte_seconds: f64) -> Prediction {
        if sides.table_bytes <= area_bytes as u64 {
            return Prediction { seconds: 0.0, levels: 0 };
        }
        let staying_bytes = area_bytes.saturating_sub(fan_out * self.cluster_bytes) as f64;
        let leaving = 1.0 - staying_bytes / sides.table_bytes as f64;
        let written_seconds = leaving * sides.both_bytes() * (self.write_byte_seconds + turn_byte_seconds);
        let part = self.pair(sides.part(fan_out));
        let parts_seconds = leaving * fan_out as f64 * part.seconds;
        Prediction { seconds: written_seconds + parts_seconds, levels: part.levels + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Estimate = Estimate {
        cluster_bytes: 1000,
        read_byte_seconds: 2.0,
        alone_byte_seconds: 2.0,
        write_byte_seconds: 3.0,
        turn_byte_seconds: 0.0,
        area_bytes: 100_000,
        fan_out_max: 10,
    };

    fn sides(bytes: u64) -> Sides {
        Sides { table_bytes: bytes, own_bytes: bytes, other_bytes: bytes }
    }

    #[test]
    fn rows_in_memory_cost_nothing() {
        assert_eq!(MEMORY.of_input(sides(100_000), 10, 100_000), Prediction { seconds: 0.0, levels: 0 });
        // Rows get nine tenths of the memory. Ten times as many rows: 0.91 of them are written and
        // read once.
        let once = MEMORY.of_input(sides(1_000_000), 10, 100_000);
        assert!((once.seconds - 0.91 * 2e6 * 5.0).abs() < 1.0 && once.levels == 1, "{once:?}");
    }

    #[test]
    fn few_pieces_are_read_again_and_many_are_divided() {
        let [few, many] = [150_000, 1_000_000].map(|bytes| MEMORY.pair(sides(bytes)));
        assert_eq!(few, Prediction { seconds: 3.0 * 1.5e5 * 2.0, levels: 0 });
        let in_pieces = 11.0 * 1e6 * 2.0;
        assert!(many.seconds < in_pieces && many.levels == 1, "{many:?}");
    }

    #[test]
    fn switching_to_writes_costs_time_only_among_reads() {
        let turning = Estimate { turn_byte_seconds: 100.0, ..MEMORY };
        assert_eq!(
            turning.of_input(sides(1_000_000), 10, 100_000),
            MEMORY.of_input(sides(1_000_000), 10, 100_000)
        );
        assert_eq!(turning.pair(sides(1_000_000)).levels, 0);
    }
}
