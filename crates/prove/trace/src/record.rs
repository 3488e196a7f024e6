use serde::{Deserialize, Serialize};

use crate::limits::REQUEST_BYTES_MAX;

/// No file and no device is longer: offsets have a sign.
const END_MAX: u64 = i64::MAX.cast_unsigned();

/// One event of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// When it was issued, counted from a start that the trace chooses.
    pub time_us: u64,
    /// What was asked for.
    pub operation: Operation,
    /// First byte, in one flat space (files lie end to end).
    pub address: u64,
    /// Number of bytes; 0 for a sync of everything, and a reset of all zones.
    pub length_bytes: u64,
    /// How long the device took for it, where the trace tells.
    pub latency_ns: Option<u64>,
}

/// What an event asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Bytes are read.
    Read,
    /// Bytes are written.
    Write,
    /// What was written before becomes durable.
    Sync,
    /// Contents are given up.
    Discard,
    /// Bytes are appended to the zone that begins at the address; the device chooses where in it.
    Append,
    /// Zones are emptied; all of them when the length is 0.
    ZoneReset,
    /// Zones are made full.
    ZoneFinish,
    /// Zones are opened.
    ZoneOpen,
    /// Zones are closed.
    ZoneClose,
}

impl Operation {
    /// Every operation, in the order in which they are listed to people.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::Discard,
        Self::Append,
        Self::ZoneReset,
        Self::ZoneFinish,
        Self::ZoneOpen,
        Self::ZoneClose,
    ];

    /// The name in a trace of ours.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Discard => "discard",
            Self::Append => "append",
            Self::ZoneReset => "zone-reset",
            Self::ZoneFinish => "zone-finish",
            Self::ZoneOpen => "zone-open",
            Self::ZoneClose => "zone-close",
        }
    }

    /// Whether bytes are written, at a place of the host's choice or of the device's.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }

    /// Whether bytes move.
    pub fn moves_data(self) -> bool {
        self == Self::Read || self.is_write()
    }

    /// The operation of that name, in whatever case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(name))
    }
}

impl Record {
    /// The pages that the event touches, in ascending order.
    ///
    /// # Panics
    /// `page_bytes` is 0.
    pub fn pages(&self, page_bytes: u64) -> std::ops::Range<u64> {
        let end = self.address.saturating_add(self.length_bytes);
        let pages = self.address / page_bytes..end.div_ceil(page_bytes).max(self.address / page_bytes);
        debug_assert!(
            pages.end - pages.start <= self.length_bytes / page_bytes + 2,
            "{self:?} touches {pages:?} of {page_bytes} bytes"
        );
        pages
    }

    /// What can't be of it, if anything: an event without bytes or with more than any request has, or one beyond the end of any file.
    pub(crate) fn complaint(&self) -> Option<String> {
        let Self { operation, address, length_bytes, .. } = self;
        if *length_bytes == 0 && !matches!(operation, Operation::Sync | Operation::ZoneReset) {
            return Some(format!("a {} of 0 bytes; the length should be above 0", operation.name()));
        }
        if operation.moves_data() && *length_bytes > REQUEST_BYTES_MAX {
            return Some(format!(
                "a {} of {length_bytes} bytes; no request has more than {REQUEST_BYTES_MAX}",
                operation.name()
            ));
        }
        let end = address.checked_add(*length_bytes).filter(|end| *end <= END_MAX);
        end.is_none().then(|| {
            format!("the address {address} and {length_bytes} bytes from there lie beyond 2^63, where any file ends")
        })
    }

    /// Whether the event begins and ends on a page's border.
    pub fn is_aligned(&self, page_bytes: u64) -> bool {
        self.address.is_multiple_of(page_bytes) && self.length_bytes.is_multiple_of(page_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_is_complained_of() {
        let complaint = |operation, address, length_bytes| {
            Record { time_us: 0, operation, address, length_bytes, latency_ns: None }
                .complaint()
                .unwrap_or_default()
        };
        for operation in Operation::ALL {
            assert_eq!(complaint(operation, 1 << 62, 512), "");
            assert!(complaint(operation, u64::MAX, 512).contains("2^63"));
            assert!(complaint(operation, (1 << 63) - 512, 513).contains("2^63"));
        }
        for (length_bytes, is_wrong) in [(1 << 32, true), (9 << 60, true), ((1 << 32) - 1, false)] {
            let said = complaint(Operation::Write, 0, length_bytes);
            assert_eq!(
                said.contains("no request has more than 4294967295"),
                is_wrong,
                "{length_bytes}: {said}"
            );
            assert!(!complaint(Operation::Discard, 0, length_bytes).contains("no request"), "{length_bytes}");
        }
        assert!(complaint(Operation::Write, 0, 0).contains("a write of 0 bytes"));
        assert_eq!(complaint(Operation::Sync, 0, 0), "");
    }

    #[test]
    fn a_record_touches_every_page_it_overlaps() {
        let record = |address, length_bytes| Record {
            time_us: 0,
            operation: Operation::Write,
            address,
            length_bytes,
            latency_ns: None,
        };
        assert_eq!(record(4096, 8192).pages(4096), 1..3);
        assert_eq!(record(4000, 200).pages(4096), 0..2);
        assert!(record(4096, 0).pages(4096).is_empty());
        assert!(record(100, 0).pages(4096).count() <= 1);
        assert!(record(4096, 8192).is_aligned(4096) && !record(4000, 4096).is_aligned(4096));
    }
}
