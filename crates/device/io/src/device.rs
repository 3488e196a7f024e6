use crate::{Cause, Operation};

/// The system takes no more buffers in one request (`IOV_MAX`).
pub(crate) const BUFFERS_MAX: usize = 1024;

/// The number of a device inside one [`Io`](crate::Io).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub(crate) u32);

impl DeviceId {
    /// The device's place in its world's own table, from 0 in the order of opening. For implementations of a world.
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// See [`DeviceId::from_index`].
    pub const fn index(self) -> u32 {
        self.0
    }
}

/// A device inside an [`Io`](crate::Io): its number there and its shape. A file, a raw block device, a modelled
/// drive, or an array of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub id: DeviceId,
    /// What it can do.
    pub shape: Shape,
}

/// What a device can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Size.
    pub capacity_bytes: u64,
    /// Offsets and lengths are multiples of this, also the lengths of the single buffers of a request; a torn
    /// write is torn at multiples of it.
    pub logical_block_bytes: u64,
    /// Addresses of memory are multiples of this; 1 where any will do.
    pub memory_alignment_bytes: u64,
    /// The longest single request.
    pub largest_transfer_bytes: u64,
    /// Whether requests reach the device itself.
    pub access: Access,
    /// How a durable write is made.
    pub durable_writes: DurableWrites,
    /// Whether it was opened for writing.
    pub writable: bool,
    /// Whether it takes discards.
    pub discards: bool,
}

/// Whether requests reach the device itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// They do.
    Direct,
    /// They go through the system's page cache.
    Buffered {
        /// Why.
        reason: String,
    },
}

/// How a durable write is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableWrites {
    /// By one command: the device has forced unit access, or needs no flush at all.
    OneCommand,
    /// By a write and a flush.
    WriteThenFlush,
    /// The system decides and doesn't say.
    Unknown,
}

impl Shape {
    /// Checks an operation against the shape, so that each world refuses the same ones with the same words.
    ///
    /// # Errors
    /// The reason for which no device of this shape can do it.
    pub fn check(&self, operation: &Operation) -> Result<(), Cause> {
        if matches!(operation, Operation::Flush) {
            return Ok(());
        }
        self.check_kind(operation)?;
        let (offset, length) = (operation.offset_bytes(), operation.length_bytes());
        self.check_alignment(operation, offset, length)?;
        let largest_bytes = match operation {
            Operation::Discard { .. } => u64::MAX,
            _ => self.largest_transfer_bytes,
        };
        if length == 0 || length > largest_bytes {
            return Err(Cause::Length { largest_bytes });
        }
        let count = operation.buffers();
        if count > BUFFERS_MAX {
            return Err(Cause::Buffers { count, most: BUFFERS_MAX });
        }
        let end_bytes = offset.saturating_add(length);
        if end_bytes > self.capacity_bytes {
            return Err(Cause::BeyondEnd { end_bytes, capacity_bytes: self.capacity_bytes });
        }
        Ok(())
    }

    fn check_kind(&self, operation: &Operation) -> Result<(), Cause> {
        match operation {
            Operation::Write { .. } | Operation::Discard { .. } if !self.writable => {
                Err(Cause::Unsupported { why: "it was opened for reading" })
            }
            Operation::Discard { .. } if !self.discards => {
                Err(Cause::Unsupported { why: "it takes no discards" })
            }
            _ => Ok(()),
        }
    }

    fn check_alignment(&self, operation: &Operation, offset: u64, length: u64) -> Result<(), Cause> {
        let aligned = |what, got: u64, needed: u64| {
            if got.is_multiple_of(needed) { Ok(()) } else { Err(Cause::Misaligned { what, got, needed }) }
        };
        aligned("offset", offset, self.logical_block_bytes)?;
        aligned("length", length, self.logical_block_bytes)?;
        let memory = |address: usize, length: usize| {
            aligned("memory address", address as u64, self.memory_alignment_bytes)?;
            // Not only of the memory's alignment: before Linux 6.18 the kernel wants whole logical blocks.
            aligned("length of a buffer", length as u64, self.logical_block_bytes)
        };
        match operation {
            Operation::Read { into, .. } => {
                into.iter().try_for_each(|buffer| memory(buffer.address().as_ptr().addr(), buffer.len()))
            }
            Operation::Write { from, .. } => {
                from.iter().try_for_each(|buffer| memory(buffer.address().as_ptr().addr(), buffer.len()))
            }
            Operation::Flush | Operation::Discard { .. } => Ok(()),
        }
    }
}
