use crate::addresses::Compaction;

use super::{AREA_BYTES, PlayError, Survey};

/// Where a trace's addresses come to lie on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayAddresses {
    /// Where the trace has them.
    Keep,
    /// The areas of [`AREA_BYTES`] that are read or written lie side by side, in the order of their addresses.
    Compact,
}

impl PlayAddresses {
    /// Bytes that a device must have for a trace.
    pub fn needed_bytes(self, survey: &Survey) -> u64 {
        match self {
            Self::Keep => survey.end_bytes,
            Self::Compact => survey.compact_bytes(),
        }
    }
}

/// Where each address lies on a device.
#[derive(Debug, Clone)]
pub struct Places {
    compaction: Option<Compaction>,
    /// What is addressed: whole logical blocks.
    room_bytes: u64,
    block_bytes: u64,
    wraps: bool,
}

impl Places {
    /// Places on a device of so many bytes, in logical blocks of `block_bytes`. What lies beyond its end is folded back into it
    /// where `wraps` says so.
    ///
    /// # Errors
    /// The trace needs more than there is, and isn't to be folded; or there isn't one block.
    pub fn new(
        survey: &Survey,
        addresses: PlayAddresses,
        (capacity_bytes, block_bytes): (u64, u64),
        wraps: bool,
    ) -> Result<Self, PlayError> {
        let block_bytes = block_bytes.max(1);
        let room_bytes = capacity_bytes / block_bytes * block_bytes;
        let needed_bytes = addresses.needed_bytes(survey);
        if room_bytes == 0 || needed_bytes > room_bytes && !wraps {
            let compact_bytes = (addresses == PlayAddresses::Keep).then(|| survey.compact_bytes());
            let compact_bytes = compact_bytes.filter(|bytes| *bytes <= room_bytes);
            return Err(PlayError::BeyondTarget { needed_bytes, room_bytes, compact_bytes });
        }
        let compaction = (addresses == PlayAddresses::Compact).then(|| {
            let areas = survey.areas.iter().map(|area| area * AREA_BYTES..(area + 1) * AREA_BYTES);
            Compaction::of(areas, AREA_BYTES)
        });
        Ok(Self { compaction, room_bytes, block_bytes, wraps })
    }

    /// Bytes of a logical block, of which requests are whole multiples.
    pub(super) fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// What is addressed.
    pub(super) fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    /// Whether what lies beyond the device's end is folded back.
    pub(super) fn wraps(&self) -> bool {
        self.wraps
    }

    /// Where an address lies before anything is folded.
    pub(super) fn place(&self, address: u64) -> u64 {
        self.compaction.as_ref().map_or(address, |compaction| compaction.place(address))
    }

    /// The offset on the device of a place, and the bytes from there to the device's end.
    pub(super) fn fold(&self, place: u64) -> (u64, u64) {
        let offset = place % self.room_bytes;
        (offset, self.room_bytes - offset)
    }
}
