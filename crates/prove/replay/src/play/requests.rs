use nandle_trace::{Operation, Record};

use super::AddressMap;

/// Rest of a request to send: a range of whole logical blocks, or empty for a request without a
/// range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    next: u64,
    end: u64,
    /// True if the trace's request begins or ends inside a logical block.
    pub(super) is_widened: bool,
    /// True if a part of the request is folded back.
    pub(super) is_folded: bool,
}

/// Range of one operation on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
}

impl Extent {
    /// Computes the range of a request. Reads and writes cover every block they touch, discards
    /// only the blocks they cover completely.
    pub(super) fn of(record: &Record, places: &AddressMap) -> Self {
        let (block, room) = (places.block_bytes(), places.room_bytes());
        let begin = places.place(record.address);
        let (next, end, is_widened) = match record.operation {
            Operation::Sync | Operation::ZoneFinish | Operation::ZoneOpen | Operation::ZoneClose => {
                (0, 0, false)
            }
            Operation::Read | Operation::Write | Operation::Append => {
                let end = begin.saturating_add(record.length_bytes);
                (
                    begin / block * block,
                    end.div_ceil(block).saturating_mul(block),
                    !begin.is_multiple_of(block) || !end.is_multiple_of(block),
                )
            }
            Operation::Discard | Operation::ZoneReset => {
                // Kernels discard whole file systems. Limit the range to the device, and to every
                // block once.
                let end = places.place(record.address.saturating_add(record.length_bytes));
                let end = if places.wraps() { end } else { end.min(room) };
                let next = begin.div_ceil(block).saturating_mul(block);
                let end = (end / block * block).max(next);
                (next, end.min(next.saturating_add(room)), false)
            }
        };
        Self { next, end, is_widened, is_folded: end > next && end > room }
    }

    /// Returns the next piece of at most `most_bytes` bytes. It ends at the end of a folded device.
    pub(super) fn piece(&self, places: &AddressMap, most_bytes: u64) -> Option<Piece> {
        let left = self.end.checked_sub(self.next).filter(|left| *left > 0)?;
        let (offset_bytes, to_end) = places.fold(self.next);
        Some(Piece { offset_bytes, length_bytes: left.min(most_bytes).min(to_end) })
    }

    /// Records that a piece was sent.
    pub(super) fn sent(&mut self, piece: Piece) {
        self.next += piece.length_bytes;
        debug_assert!(self.next <= self.end, "a piece is of what is left");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PlayAddresses, Survey};
    use super::*;

    fn record(operation: Operation, address: u64, length_bytes: u64) -> Record {
        Record { time_us: 0, operation, address, length_bytes, latency_ns: None }
    }

    fn pieces(
        record: &Record,
        addresses: PlayAddresses,
        room: u64,
        most: u64,
    ) -> (Vec<(u64, u64)>, bool, bool) {
        pieces_where(record, addresses, (room, true), most)
    }

    fn pieces_where(
        record: &Record,
        addresses: PlayAddresses,
        (room, wraps): (u64, bool),
        most: u64,
    ) -> (Vec<(u64, u64)>, bool, bool) {
        let survey = Survey::read([Ok(*record)].into_iter()).unwrap();
        let places = AddressMap::new(&survey, addresses, (room, 4096), wraps).unwrap();
        let mut extent = Extent::of(record, &places);
        let (widened, folded) = (extent.is_widened, extent.is_folded);
        let mut pieces = Vec::new();
        while let Some(piece) = extent.piece(&places, most) {
            pieces.push((piece.offset_bytes, piece.length_bytes));
            extent.sent(piece);
        }
        (pieces, widened, folded)
    }

    #[test]
    fn requests_cover_whole_blocks_and_are_split() {
        let keep = PlayAddresses::Keep;
        let read = record(Operation::Read, 512, 8192);
        assert_eq!(pieces(&read, keep, 1 << 20, 1 << 20), (vec![(0, 12_288)], true, false));
        assert_eq!(pieces(&read, keep, 1 << 20, 8192).0, [(0, 8192), (8192, 4096)]);
        let beyond = record(Operation::Write, (1 << 20) - 4096, 8192);
        assert_eq!(
            pieces(&beyond, keep, 1 << 20, 1 << 20),
            (vec![((1 << 20) - 4096, 4096), (0, 4096)], false, true)
        );
        let far = record(Operation::Write, 5 << 40, 4096);
        assert_eq!(pieces(&far, PlayAddresses::Compact, 1 << 20, 1 << 20), (vec![(0, 4096)], false, false));
    }

    #[test]
    fn discard_covers_whole_blocks_and_the_device_once() {
        let keep = PlayAddresses::Keep;
        assert_eq!(pieces(&record(Operation::Discard, 512, 8192), keep, 1 << 20, 1 << 20).0, [(4096, 4096)]);
        assert_eq!(pieces(&record(Operation::Discard, 512, 1024), keep, 1 << 20, 1 << 20).0, []);
        let all = pieces(&record(Operation::Discard, 0, 1 << 50), keep, 1 << 20, 1 << 20);
        assert_eq!(all.0, [(0, 1 << 20)]);
        for (address, length, expected) in
            [(0, 1 << 50, (0, 1 << 20)), ((1 << 20) - 8192, 1 << 30, ((1 << 20) - 8192, 8192))]
        {
            let discard = record(Operation::Discard, address, length);
            let cut = pieces_where(&discard, keep, (1 << 20, false), 1 << 20);
            assert_eq!(cut, (vec![expected], false, false), "nothing lies beyond the end");
        }
        let beyond = record(Operation::Discard, 1 << 30, 1 << 30);
        assert_eq!(pieces_where(&beyond, keep, (1 << 20, false), 1 << 20), (vec![], false, false));
        assert_eq!(pieces(&record(Operation::Sync, 0, 0), keep, 1 << 20, 4096).0, []);
    }
}
