use serde::{Deserialize, Serialize};

use crate::limits::REQUEST_BYTES_MAX;

/// Maximum end of an extent: file offsets are signed.
const END_MAX: u64 = i64::MAX.cast_unsigned();

/// An event of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Time of issue in microseconds, from a start that the trace chooses.
    pub time_us: u64,
    /// Operation requested.
    pub operation: Operation,
    /// First byte, in one flat space in which files are laid end to end.
    pub address: u64,
    /// Length in bytes; 0 for a sync of everything or a reset of all zones.
    pub length_bytes: u64,
    /// Response time of the device in nanoseconds, if recorded.
    pub latency_ns: Option<u64>,
}

/// Operation of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Reads bytes.
    Read,
    /// Writes bytes.
    Write,
    /// Makes earlier writes durable.
    Sync,
    /// Discards contents.
    Discard,
    /// Appends bytes to the zone at the address; the device chooses the place in the zone.
    Append,
    /// Empties zones; all of them if the length is 0.
    ZoneReset,
    /// Makes zones full.
    ZoneFinish,
    /// Opens zones.
    ZoneOpen,
    /// Closes zones.
    ZoneClose,
}

impl Operation {
    /// Every operation, in display order.
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

    /// Name in Nandle's own format.
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

    /// Returns true if the operation writes data, at an address chosen by the host or the device.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }

    /// Returns true if the operation transfers data.
    pub fn moves_data(self) -> bool {
        self == Self::Read || self.is_write()
    }

    /// Finds an operation by name, ignoring case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(name))
    }
}

impl Record {
    /// Pages that the event touches, in ascending order.
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

    /// Returns the defect of an impossible event: no bytes, more bytes than a request can have, or
    /// an extent beyond the end of any file.
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
            format!("the extent of {length_bytes} bytes at address {address} ends beyond 2^63, the end of any file")
        })
    }

    /// Returns true if the event begins and ends at a page boundary.
    pub fn is_aligned(&self, page_bytes: u64) -> bool {
        self.address.is_multiple_of(page_bytes) && self.length_bytes.is_multiple_of(page_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_events_are_rejected() {
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
    fn record_touches_every_page_it_overlaps() {
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
