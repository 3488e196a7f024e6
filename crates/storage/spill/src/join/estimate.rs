//! What the device is expected to take for a join, level by level, with the decisions that will be made on the way.

use super::plan::enough_partitions;
use super::table::table_bytes;
use crate::SpillCosts;
use crate::costs::{ReadCost, WriteMemory};

/// How long rows are taken to be that aren't known yet.
const ROW_BYTES: u64 = 100;

/// What the device takes for a byte, in clusters of one length, at the depth for which there is memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) cluster_bytes: usize,
    /// Read by two readers at once.
    pub(super) read_byte_seconds: f64,
    /// Read by one alone, which has the buffers of both.
    pub(super) alone_byte_seconds: f64,
    pub(super) write_byte_seconds: f64,
    /// What a written byte takes beside that while others are read: the device turns from reading to writing for each request.
    pub(super) turn_byte_seconds: f64,
    /// For rows while pairs are joined.
    pub(super) area_bytes: usize,
    /// Into how many partitions a pair can be divided.
    pub(super) fan_out_max: usize,
}

/// Rows of both sides whose keys have the same hashes.
#[allow(clippy::struct_field_names, reason = "units are in names")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Sides {
    /// What one side takes in memory.
    pub(super) table_bytes: u64,
    /// The same on the device.
    pub(super) own_bytes: u64,
    /// The other side on the device.
    pub(super) other_bytes: u64,
}

impl Sides {
    /// Both sides of an input, of rows that aren't known yet: they take more of a table than their bytes.
    pub(super) fn alike(bytes: u64) -> Self {
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

/// What is expected of a join, or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Expected {
    pub(super) seconds: f64,
    /// How often a row is written from here on, at most.
    pub(super) levels: u32,
}

impl Estimate {
    /// With these reads, and writes from this memory; areas and fan-out are none yet.
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

    /// Of rows that come from elsewhere.
    pub(super) fn of_input(&self, sides: Sides, fan_out: usize, area_bytes: usize) -> Expected {
        self.divided(sides, fan_out, area_bytes, 0.0)
    }

    /// Of rows that are read, and of which those are written that don't stay in memory.
    pub(super) fn dividing(&self, sides: Sides, fan_out: usize) -> Expected {
        let rest = self.divided(sides, fan_out, self.area_bytes, self.turn_byte_seconds);
        Expected { seconds: sides.both_bytes() * self.alone_byte_seconds + rest.seconds, ..rest }
    }

    /// Of rows of which one side is brought into memory in so many pieces, and the other one is read for each.
    pub(super) fn in_pieces(&self, own_bytes: u64, other_bytes: u64, pieces: u64) -> f64 {
        own_bytes.saturating_add(pieces.saturating_mul(other_bytes)) as f64 * self.read_byte_seconds
    }

    /// Of partitions that wait on the device.
    fn pair(&self, sides: Sides) -> Expected {
        let pieces = sides.table_bytes.div_ceil(self.area_bytes.max(1) as u64).max(1);
        let seconds = self.in_pieces(sides.own_bytes, sides.other_bytes, pieces);
        let in_pieces = Expected { seconds, levels: 0 };
        let fan_out = enough_partitions(sides.table_bytes, self.area_bytes).min(self.fan_out_max);
        if pieces == 1 || fan_out < 2 {
            return in_pieces;
        }
        let divided = self.dividing(sides, fan_out);
        if divided.seconds < seconds { divided } else { in_pieces }
    }

    /// What isn't in memory when all rows have come: it is written, read and joined. Bodies of partitions take room from rows.
    fn divided(&self, sides: Sides, fan_out: usize, area_bytes: usize, turn_byte_seconds: f64) -> Expected {
        if sides.table_bytes <= area_bytes as u64 {
            return Expected { seconds: 0.0, levels: 0 };
        }
        let staying_bytes = area_bytes.saturating_sub(fan_out * self.cluster_bytes) as f64;
        let leaving = 1.0 - staying_bytes / sides.table_bytes as f64;
        let written_seconds = leaving * sides.both_bytes() * (self.write_byte_seconds + turn_byte_seconds);
        let part = self.pair(sides.part(fan_out));
        let parts_seconds = leaving * fan_out as f64 * part.seconds;
        Expected { seconds: written_seconds + parts_seconds, levels: part.levels + 1 }
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
    fn what_stays_in_memory_costs_nothing() {
        assert_eq!(MEMORY.of_input(sides(100_000), 10, 100_000), Expected { seconds: 0.0, levels: 0 });
        // Nine tenths of the memory are rows': of ten times as much 0.91 is written and read once.
        let once = MEMORY.of_input(sides(1_000_000), 10, 100_000);
        assert!((once.seconds - 0.91 * 2e6 * 5.0).abs() < 1.0 && once.levels == 1, "{once:?}");
    }

    #[test]
    fn few_pieces_are_read_more_often_and_many_are_divided() {
        let [few, many] = [150_000, 1_000_000].map(|bytes| MEMORY.pair(sides(bytes)));
        assert_eq!(few, Expected { seconds: 3.0 * 1.5e5 * 2.0, levels: 0 });
        let in_pieces = 11.0 * 1e6 * 2.0;
        assert!(many.seconds < in_pieces && many.levels == 1, "{many:?}");
    }

    #[test]
    fn turning_costs_where_others_are_read() {
        let turning = Estimate { turn_byte_seconds: 100.0, ..MEMORY };
        assert_eq!(
            turning.of_input(sides(1_000_000), 10, 100_000),
            MEMORY.of_input(sides(1_000_000), 10, 100_000)
        );
        assert_eq!(turning.pair(sides(1_000_000)).levels, 0);
    }
}
