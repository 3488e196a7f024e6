use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use nandle_io::Buffer;

use crate::{Plan, Want};

/// A step with all its bytes in memory. The memory is reused once the step and all bytes taken from
/// it are dropped.
#[derive(Clone)]
pub struct Step {
    pub(crate) number: u32,
    pub(crate) plan: Arc<Plan>,
    pub(crate) bytes: Vec<WantBytes>,
}

impl Step {
    /// Number of the step.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns its wants in the order given, each with its bytes.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&Want, &WantBytes)> {
        self.plan.wants_of(self.number).iter().zip(&self.bytes)
    }

    /// As [`parts`](Self::parts), with owned bytes.
    pub fn into_parts(self) -> Vec<(Want, WantBytes)> {
        self.plan.wants_of(self.number).iter().copied().zip(self.bytes).collect()
    }
}

/// Bytes of a want.
#[derive(Debug, Clone)]
pub struct WantBytes(Inner);

#[derive(Debug, Clone)]
enum Inner {
    Buffer(Buffer),
    Bytes(Bytes),
}

impl WantBytes {
    /// Bytes read from the device.
    pub(crate) fn read(buffer: Buffer) -> Self {
        Self(Inner::Buffer(buffer))
    }

    /// Bytes behind the readable part.
    pub(crate) fn tail(bytes: Bytes) -> Self {
        Self(Inner::Bytes(bytes))
    }

    /// Converts to shared bytes without a copy; they keep the memory in use.
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Inner::Buffer(buffer) => Bytes::from_owner(Shared(buffer)),
            Inner::Bytes(bytes) => bytes,
        }
    }
}

impl Deref for WantBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Inner::Buffer(buffer) => buffer,
            Inner::Bytes(bytes) => bytes,
        }
    }
}

struct Shared(Buffer);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Step")
            .field("number", &self.number)
            .field("wants", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
