use crate::addresses::Compaction;

use super::{AREA_BYTES, PlayError, Survey};

/// Mapping of a trace's addresses to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlayAddresses {
    /// Keeps the trace's addresses.
    Keep,
    /// Places the areas of [`AREA_BYTES`] that are read or written side by side, in address order.
    Compact,
}

impl PlayAddresses {
    /// Device capacity needed for a trace, in bytes.
    pub fn needed_bytes(self, survey: &Survey) -> u64 {
        match self {
            Self::Keep => survey.end_bytes,
            Self::Compact => survey.compact_bytes(),
        }
    }
}

/// Mapping of each address to an offset on the device.
#[derive(Debug, Clone)]
pub struct AddressMap {
    compaction: Option<Compaction>,
    /// Addressable bytes: whole logical blocks.
    room_bytes: u64,
    block_bytes: u64,
    wraps: bool,
}

impl AddressMap {
    /// Creates a mapping to a device with this capacity and block length, in bytes. Addresses
    /// beyond its end are folded back if `wraps`.
    ///
    /// # Errors
    ///
    /// The trace needs more than the device has and `wraps` is false, or the device is shorter than
    /// a block.
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

    /// Length of a logical block in bytes; requests are multiples of it.
    pub(super) fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Addressable bytes.
    pub(super) fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    /// Returns true if addresses beyond the end of the device are folded back.
    pub(super) fn wraps(&self) -> bool {
        self.wraps
    }

    /// Returns the position of an address before folding.
    pub(super) fn place(&self, address: u64) -> u64 {
        self.compaction.as_ref().map_or(address, |compaction| compaction.place(address))
    }

    /// Returns the offset of a position on the device, and the bytes from there to the device's
    /// end.
    pub(super) fn fold(&self, place: u64) -> (u64, u64) {
        let offset = place % self.room_bytes;
        (offset, self.room_bytes - offset)
    }
}
