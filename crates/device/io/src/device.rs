use crate::{Cause, Operation};

/// Limit of buffers in one request (`IOV_MAX`).
pub(crate) const BUFFERS_MAX: usize = 1024;

/// Number of a device inside one [`Io`](crate::Io).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceId(pub(crate) u32);

impl DeviceId {
    /// Id of the device at this index of its world's table, in the order of opening. For
    /// implementations of a world.
    pub const fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// See [`DeviceId::from_index`].
    pub const fn index(self) -> u32 {
        self.0
    }
}

/// Device inside an [`Io`](crate::Io): its number and its shape. A file, a raw block device, a
/// modelled drive, or an array of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Number of the device.
    pub id: DeviceId,
    /// Capacity and capabilities.
    pub shape: Shape,
}

/// Capacity and capabilities of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Unit of offsets and lengths, also of each buffer's length. Writes are torn at multiples of
    /// it.
    pub logical_block_bytes: u64,
    /// Alignment of memory; 1 if any address is valid.
    pub memory_alignment_bytes: u64,
    /// Limit of a request's length.
    pub largest_transfer_bytes: u64,
    /// Direct or buffered access.
    pub access: Access,
    /// Commands of a durable write.
    pub durable_writes: DurableWrites,
    /// True if it was opened for writing.
    pub writable: bool,
    /// True if it supports discards.
    pub discards: bool,
}

/// Direct or buffered access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Requests reach the device.
    Direct,
    /// Requests go through the system's page cache.
    Buffered {
        /// Reason.
        reason: String,
    },
}

/// Commands of a durable write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurableWrites {
    /// A single command: the device has forced unit access, or needs no flush.
    OneCommand,
    /// A write and a flush.
    WriteThenFlush,
    /// Not reported by the system.
    Unknown,
}

impl Shape {
    /// Checks an operation against the shape, so that all worlds refuse the same ones in the same
    /// words.
    ///
    /// # Errors
    /// The reason why no device of this shape can run it.
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
            // More than the memory's alignment: before Linux 6.18 the kernel requires whole logical
            // blocks.
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
