use smallvec::SmallVec;

use crate::{Buffer, BufferMut, DeviceId, IoError, Nanos};

/// The memory of a read: filled one after the other. Nearly always one.
pub type ReadBuffers = SmallVec<[BufferMut; 1]>;
/// The memory of a write: written one after the other. Nearly always one.
pub type WriteBuffers = SmallVec<[Buffer; 1]>;

/// What a device is asked to do, and a number by which the asker knows it again.
#[derive(Debug)]
pub struct Request {
    /// The asker's own number; comes back in the [`Completion`].
    pub token: u64,
    /// What to do.
    pub operation: Operation,
}

/// What a device can be asked. The world owns the buffers from submission until the completion is reaped.
#[derive(Debug)]
pub enum Operation {
    /// Reads from `offset_bytes` on, as many bytes as the buffers hold.
    Read {
        /// Where the first byte is.
        offset_bytes: u64,
        /// Where the bytes go.
        into: ReadBuffers,
    },
    /// Writes from `offset_bytes` on, as many bytes as the buffers hold.
    Write {
        /// Where the first byte goes.
        offset_bytes: u64,
        /// Where the bytes come from.
        from: WriteBuffers,
        /// What the completion promises.
        durability: Durability,
    },
    /// Makes durable exactly the writes that had completed before this was submitted.
    Flush,
    /// Tells the device that the contents of a range are needed no more. Reading it before it is written again
    /// gives anything.
    Discard {
        /// Where the range begins.
        offset_bytes: u64,
        /// How long it is.
        length_bytes: u64,
    },
}

/// What the completion of a write promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Nothing until a flush: after a power cut the write may be there, not there, or torn.
    Volatile,
    /// The write survives a power cut from its completion on. Where the device has no forced unit access, this
    /// is a write and a flush ([`DurableWrites`](crate::DurableWrites) of the shape says which).
    Durable,
}

impl Operation {
    /// A read into one buffer.
    pub fn read(offset_bytes: u64, into: BufferMut) -> Self {
        Self::Read { offset_bytes, into: SmallVec::from_buf([into]) }
    }

    /// A write from one buffer, durable by a later flush.
    pub fn write(offset_bytes: u64, from: Buffer) -> Self {
        Self::Write { offset_bytes, from: SmallVec::from_buf([from]), durability: Durability::Volatile }
    }

    /// A write from one buffer, durable when it completes.
    pub fn durable_write(offset_bytes: u64, from: Buffer) -> Self {
        Self::Write { offset_bytes, from: SmallVec::from_buf([from]), durability: Durability::Durable }
    }

    /// Its name, as errors print it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Write { durability: Durability::Volatile, .. } => "write",
            Self::Write { durability: Durability::Durable, .. } => "durable write",
            Self::Flush => "flush",
            Self::Discard { .. } => "discard",
        }
    }

    /// Where it begins; 0 for a flush.
    pub fn offset_bytes(&self) -> u64 {
        match self {
            Self::Read { offset_bytes, .. }
            | Self::Write { offset_bytes, .. }
            | Self::Discard { offset_bytes, .. } => *offset_bytes,
            Self::Flush => 0,
        }
    }

    /// How many bytes it covers; 0 for a flush.
    pub fn length_bytes(&self) -> u64 {
        match self {
            Self::Read { into, .. } => into.iter().map(|buffer| buffer.len() as u64).sum(),
            Self::Write { from, .. } => from.iter().map(|buffer| buffer.len() as u64).sum(),
            Self::Discard { length_bytes, .. } => *length_bytes,
            Self::Flush => 0,
        }
    }

    /// How many buffers it has.
    pub fn buffers(&self) -> usize {
        match self {
            Self::Read { into, .. } => into.len(),
            Self::Write { from, .. } => from.len(),
            Self::Flush | Self::Discard { .. } => 0,
        }
    }

    /// The buffer of a read that had one; `None` for anything else.
    pub fn into_read_buffer(self) -> Option<BufferMut> {
        match self {
            Self::Read { mut into, .. } if into.len() == 1 => into.pop(),
            _ => None,
        }
    }
}

/// A request that is done, or has failed.
#[derive(Debug)]
pub struct Completion {
    /// The number given in the [`Request`].
    pub token: u64,
    /// The device it was for.
    pub device: DeviceId,
    /// When the world took it.
    pub submitted_at: Nanos,
    /// When the world saw that it was done; where the host was busy meanwhile, later than the device was done with it.
    pub completed_at: Nanos,
    /// What became of it. After an error a read's buffers hold anything.
    pub result: Result<(), IoError>,
    /// The request's operation: its buffers come back.
    pub operation: Operation,
}
