use std::ops::Deref;
use std::sync::Arc;

use bytes::Bytes;
use nandle_io::Buffer;

use crate::{Plan, Want};

/// All that a step needs, in memory. Its memory is used again when it is dropped, with all bytes that were taken from it.
#[derive(Clone)]
pub struct Step {
    pub(crate) number: u32,
    pub(crate) plan: Arc<Plan>,
    pub(crate) bytes: Vec<WantBytes>,
}

impl Step {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its wants in the order in which they were given, each with its bytes.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&Want, &WantBytes)> {
        self.plan.wants_of(self.number).iter().zip(&self.bytes)
    }

    /// As [`parts`](Self::parts), for consumers that keep the bytes.
    pub fn into_parts(self) -> Vec<(Want, WantBytes)> {
        self.plan.wants_of(self.number).iter().copied().zip(self.bytes).collect()
    }
}

/// The bytes of a want.
#[derive(Debug, Clone)]
pub struct WantBytes(Inner);

#[derive(Debug, Clone)]
enum Inner {
    Buffer(Buffer),
    Bytes(Bytes),
}

impl WantBytes {
    /// What was read.
    pub(crate) fn read(buffer: Buffer) -> Self {
        Self(Inner::Buffer(buffer))
    }

    /// What lies in memory behind all that can be read.
    pub(crate) fn tail(bytes: Bytes) -> Self {
        Self(Inner::Bytes(bytes))
    }

    /// As shared bytes, without a copy: they keep the memory.
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
