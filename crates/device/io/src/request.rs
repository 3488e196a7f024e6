use smallvec::SmallVec;

use crate::{Buffer, BufferMut, DeviceId, IoError, Nanos};

/// Memory of a read, filled in order. Nearly always one buffer.
pub type ReadBuffers = SmallVec<[BufferMut; 1]>;
/// Memory of a write, written in order. Nearly always one buffer.
pub type WriteBuffers = SmallVec<[Buffer; 1]>;

/// Operation for a device, with the caller's token.
#[derive(Debug)]
pub struct Request {
    /// The caller's number for the request, returned in the [`Completion`].
    pub token: u64,
    /// Operation to run.
    pub operation: Operation,
}

/// Operation on a device. The world owns the buffers from submission until the completion is
/// reaped.
#[derive(Debug)]
pub enum Operation {
    /// Fills the buffers from `offset_bytes` on.
    Read {
        /// Offset of the first byte.
        offset_bytes: u64,
        /// Buffers to fill.
        into: ReadBuffers,
    },
    /// Writes the buffers from `offset_bytes` on.
    Write {
        /// Offset of the first byte.
        offset_bytes: u64,
        /// Buffers to write.
        from: WriteBuffers,
        /// Guarantee of the completion.
        durability: Durability,
    },
    /// Makes exactly the writes durable that completed before its submission.
    Flush,
    /// Marks the contents of a range as no longer needed. Until it is written again, a read returns
    /// arbitrary data.
    Discard {
        /// Start of the range.
        offset_bytes: u64,
        /// Length of the range.
        length_bytes: u64,
    },
}

/// Guarantee of a write's completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// None before a flush: after a power cut the write may be present, absent, or torn.
    Volatile,
    /// The completed write survives a power cut. Without forced unit access, this is a write and a
    /// flush ([`DurableWrites`](crate::DurableWrites) of the shape).
    Durable,
}

impl Operation {
    /// Read into one buffer.
    pub fn read(offset_bytes: u64, into: BufferMut) -> Self {
        Self::Read { offset_bytes, into: SmallVec::from_buf([into]) }
    }

    /// Write from one buffer, made durable by a later flush.
    pub fn write(offset_bytes: u64, from: Buffer) -> Self {
        Self::Write { offset_bytes, from: SmallVec::from_buf([from]), durability: Durability::Volatile }
    }

    /// Write from one buffer, durable when it completes.
    pub fn durable_write(offset_bytes: u64, from: Buffer) -> Self {
        Self::Write { offset_bytes, from: SmallVec::from_buf([from]), durability: Durability::Durable }
    }

    /// Name used in errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "read",
            Self::Write { durability: Durability::Volatile, .. } => "write",
            Self::Write { durability: Durability::Durable, .. } => "durable write",
            Self::Flush => "flush",
            Self::Discard { .. } => "discard",
        }
    }

    /// Start of the range; 0 for a flush.
    pub fn offset_bytes(&self) -> u64 {
        match self {
            Self::Read { offset_bytes, .. }
            | Self::Write { offset_bytes, .. }
            | Self::Discard { offset_bytes, .. } => *offset_bytes,
            Self::Flush => 0,
        }
    }

    /// Length of the range; 0 for a flush.
    pub fn length_bytes(&self) -> u64 {
        match self {
            Self::Read { into, .. } => into.iter().map(|buffer| buffer.len() as u64).sum(),
            Self::Write { from, .. } => from.iter().map(|buffer| buffer.len() as u64).sum(),
            Self::Discard { length_bytes, .. } => *length_bytes,
            Self::Flush => 0,
        }
    }

    /// Number of buffers.
    pub fn buffers(&self) -> usize {
        match self {
            Self::Read { into, .. } => into.len(),
            Self::Write { from, .. } => from.len(),
            Self::Flush | Self::Discard { .. } => 0,
        }
    }

    /// Buffer of a read with a single one; `None` for other operations.
    pub fn into_read_buffer(self) -> Option<BufferMut> {
        match self {
            Self::Read { mut into, .. } if into.len() == 1 => into.pop(),
            _ => None,
        }
    }
}

/// Completed request, successful or failed.
#[derive(Debug)]
pub struct Completion {
    /// Token of the [`Request`].
    pub token: u64,
    /// Device of the request.
    pub device: DeviceId,
    /// Time of submission.
    pub submitted_at: Nanos,
    /// Time at which the world saw the completion. On a busy host that is later than the device's
    /// completion.
    pub completed_at: Nanos,
    /// Result. After an error, a read's buffers hold arbitrary data.
    pub result: Result<(), IoError>,
    /// Operation of the request, which returns the buffers.
    pub operation: Operation,
}
