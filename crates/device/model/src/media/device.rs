use std::collections::BTreeMap;
use std::ops::Range;

use nandle_io::{Cause, Shape};
use serde::Deserialize;

use super::contents::Contents;
use super::faults::{FaultPlan, Faults};
use super::pending::Pending;
use super::recording::{Recording, Sequence};

/// Contents of a device under concurrent operations, by the [fault model](super::faults).
///
/// Reads see the writes that have completed. Effects happen in the order of completions.
#[derive(Debug)]
pub struct Media {
    pub(super) contents: Contents,
    /// Each block before its last write; stored only if a fault needs it.
    pub(super) previous: Option<Contents>,
    pub(super) faults: Faults,
    pub(super) cache: WriteCache,
    pub(super) after_discard: AfterDiscard,
    pub(super) space_blocks: u64,
    /// Blocks of the space that writes in flight will take.
    pub(super) reserved_blocks: u64,
    pub(super) operations: u64,
    pub(super) in_flight: BTreeMap<u64, Pending>,
    pub(super) recording: Option<Recording>,
}

/// Durability of a device's acknowledgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum WriteCache {
    /// Flushes and durable writes are honoured.
    #[default]
    Volatile,
    /// A write is durable when it completes: capacitors or a battery protect the cache, or there is
    /// none.
    Protected,
    /// Flushes and durable writes are acknowledged while part of the cache is still volatile.
    Lying {
        /// Size of the cache, which holds the last completed writes and discards that fit.
        held_bytes: u64,
    },
}

impl WriteCache {
    /// Durability of an array of devices with these two: the weaker guarantee.
    pub(crate) fn weaker(self, other: Self) -> Self {
        match (self, other) {
            (Self::Lying { held_bytes: a }, Self::Lying { held_bytes: b }) => {
                Self::Lying { held_bytes: a.saturating_add(b) }
            }
            (lying @ Self::Lying { .. }, _) | (_, lying @ Self::Lying { .. }) => lying,
            (Self::Volatile, _) | (_, Self::Volatile) => Self::Volatile,
            (Self::Protected, Self::Protected) => Self::Protected,
        }
    }
}

/// Contents of a discarded block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterDiscard {
    /// Garbage, by the plan's seed: exposes any reliance on the contents.
    #[default]
    Garbage,
    /// Zeros.
    Zeros,
}

impl Media {
    /// Device of zeros without faults, with a volatile write cache, not recorded.
    pub fn new(capacity_bytes: u64, logical_block_bytes: u32) -> Self {
        Self::on(Contents::new(capacity_bytes, logical_block_bytes))
    }

    /// Like [`Self::new`], for a device of this shape.
    ///
    /// # Panics
    /// Panics if a logical block is 4 GiB or longer.
    pub fn of_shape(shape: &Shape) -> Self {
        let block_bytes = u32::try_from(shape.logical_block_bytes);
        assert!(block_bytes.is_ok(), "a logical block of {} bytes", shape.logical_block_bytes);
        Self::new(shape.capacity_bytes, block_bytes.unwrap_or(u32::MAX))
    }

    /// Like [`Self::new`], on existing contents, all of them durable.
    pub fn on(contents: Contents) -> Self {
        Self {
            contents,
            previous: None,
            faults: Faults::new(FaultPlan::none()),
            cache: WriteCache::default(),
            after_discard: AfterDiscard::default(),
            space_blocks: u64::MAX,
            reserved_blocks: 0,
            operations: 0,
            in_flight: BTreeMap::new(),
            recording: None,
        }
    }

    /// Adds faults.
    #[must_use]
    pub fn with_faults(mut self, plan: FaultPlan) -> Self {
        debug_assert!(self.in_flight.is_empty(), "what became of an operation was decided when it began");
        self.faults = Faults::new(plan);
        self.previous = self.faults.needs_history().then(|| self.contents.clone());
        self
    }

    /// Makes logical blocks unreadable (`EIO`) until they are written again: a drive replaces a bad
    /// sector on its next write.
    #[must_use]
    pub fn with_unreadable(mut self, blocks: Range<u64>) -> Self {
        debug_assert!(blocks.start <= blocks.end, "{blocks:?} are no blocks");
        self.faults.make_unreadable(blocks);
        self
    }

    /// Sets the write cache.
    #[must_use]
    pub fn with_cache(mut self, cache: WriteCache) -> Self {
        debug_assert!(
            self.in_flight.is_empty(),
            "what a completion is worth was decided when the operation began"
        );
        self.cache = cache;
        self
    }

    /// Sets the contents of discarded blocks.
    #[must_use]
    pub fn with_discards(mut self, after_discard: AfterDiscard) -> Self {
        self.after_discard = after_discard;
        self
    }

    /// Limits the space to fewer blocks than addresses.
    #[must_use]
    pub fn with_space(mut self, space_blocks: u64) -> Self {
        debug_assert!(
            self.contents.written_blocks() <= space_blocks,
            "{space_blocks} blocks for more contents"
        );
        self.space_blocks = space_blocks;
        self
    }

    /// Starts a recording. The current contents count as durable.
    #[must_use]
    pub fn recorded(self) -> Self {
        self.recorded_in(&Sequence::default())
    }

    /// Like [`Self::recorded`], with events numbered together with those of other devices.
    #[must_use]
    pub fn recorded_in(mut self, sequence: &Sequence) -> Self {
        debug_assert!(self.in_flight.is_empty(), "what is in flight would be missing in the recording");
        self.recording = Some(Recording::new(self.contents.clone(), sequence.clone()));
        self
    }

    /// Contents that reads see, without faults. A clone is a snapshot.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Media on the same contents, all of them durable, with nothing in flight, no faults and no
    /// recording.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self::on(self.contents.clone()).with_cache(self.cache).with_discards(self.after_discard)
    }

    /// See [`Contents::hash`].
    pub fn contents_hash(&self) -> u128 {
        self.contents.hash()
    }

    /// See [`Contents::read_into`].
    ///
    /// # Errors
    /// [`Cause::BeyondEnd`]: the range ends beyond the device.
    pub fn read_into(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), Cause> {
        self.contents.read_into(offset_bytes, into)
    }

    /// Number of operations that began.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Recording, if one was started.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// See [`Sequence::position`]; 0 when nothing is recorded.
    pub fn position(&self) -> u64 {
        self.recording.as_ref().map_or(0, |recording| recording.sequence().position())
    }
}
