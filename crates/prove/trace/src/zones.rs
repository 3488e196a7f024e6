use std::collections::BTreeMap;

use crate::{Operation, Record};

/// Maximum number of zones tracked; drives have fewer.
const ZONES_MAX: usize = 1 << 20;

/// Translates requests of a zoned device to requests of a conventional drive.
///
/// A trace names the zone of an append, and the device chooses the address: behind the data
/// appended before. A zone that has contents when the trace begins is taken to be empty.
#[derive(Debug, Default)]
pub struct ZoneTranslator {
    /// Bytes appended to each zone, by the zone's first byte.
    appended_bytes: BTreeMap<u64, u64>,
}

impl ZoneTranslator {
    /// Translates records, and passes errors through.
    pub fn over<E>(
        records: impl Iterator<Item = Result<Record, E>>,
    ) -> impl Iterator<Item = Result<Record, E>> {
        let mut zones = Self::default();
        records.filter_map(move |record| match record {
            Ok(record) => zones.conventional(record).map(Ok),
            Err(error) => Some(Err(error)),
        })
    }

    /// Translates a record: an append becomes a write, a reset a discard. Returns `None` if there
    /// is nothing to do.
    pub fn conventional(&mut self, record: Record) -> Option<Record> {
        match record.operation {
            Operation::Read | Operation::Write | Operation::Sync | Operation::Discard => Some(record),
            Operation::Append => Some(self.append(record)),
            Operation::ZoneReset => self.reset(record),
            Operation::ZoneFinish | Operation::ZoneOpen | Operation::ZoneClose => None,
        }
    }

    fn append(&mut self, record: Record) -> Record {
        if self.appended_bytes.len() >= ZONES_MAX {
            self.appended_bytes.clear();
        }
        let before = self.appended_bytes.entry(record.address).or_default();
        let moved =
            Record { operation: Operation::Write, address: record.address.saturating_add(*before), ..record };
        // An append beyond the end of any device keeps its original address.
        if moved.complaint().is_some() {
            return Record { operation: Operation::Write, ..record };
        }
        *before += record.length_bytes;
        moved
    }

    fn reset(&mut self, record: Record) -> Option<Record> {
        if record.length_bytes == 0 {
            self.appended_bytes.clear();
            return None;
        }
        let end = record.address.saturating_add(record.length_bytes);
        let zones: Vec<u64> =
            self.appended_bytes.range(record.address..end).map(|(start, _)| *start).collect();
        for zone in zones {
            self.appended_bytes.remove(&zone);
        }
        Some(Record { operation: Operation::Discard, ..record })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(operation: Operation, address: u64, length_bytes: u64) -> Record {
        Record { time_us: 0, operation, address, length_bytes, latency_ns: None }
    }

    #[test]
    fn appends_are_consecutive_until_a_reset() {
        let mut zones = ZoneTranslator::default();
        let mut place = |operation, address, bytes| {
            zones
                .conventional(record(operation, address, bytes))
                .map(|record| (record.operation, record.address))
        };
        assert_eq!(place(Operation::Append, 1 << 20, 4096), Some((Operation::Write, 1 << 20)));
        assert_eq!(place(Operation::Append, 1 << 20, 4096), Some((Operation::Write, (1 << 20) + 4096)));
        assert_eq!(place(Operation::Append, 2 << 20, 4096), Some((Operation::Write, 2 << 20)));
        assert_eq!(place(Operation::ZoneFinish, 1 << 20, 1 << 20), None);
        assert_eq!(place(Operation::ZoneReset, 1 << 20, 1 << 20), Some((Operation::Discard, 1 << 20)));
        assert_eq!(place(Operation::Append, 1 << 20, 4096), Some((Operation::Write, 1 << 20)));
        assert_eq!(place(Operation::Append, 2 << 20, 4096), Some((Operation::Write, (2 << 20) + 4096)));
        assert_eq!(place(Operation::ZoneReset, 0, 0), None);
        assert_eq!(place(Operation::Append, 2 << 20, 4096), Some((Operation::Write, 2 << 20)));
    }
}
