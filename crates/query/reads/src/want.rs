/// Number of a file within a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A byte range of a file that a consumer needs for a step of its work.
///
/// Steps are numbered from 0 in the order in which the consumer takes them. All wants of a step are
/// in memory when it receives the step. Wants of a step, or of several steps, may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Want {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub offset_bytes: u64,
    /// Length, at least one.
    pub length_bytes: u64,
    /// Step that needs the bytes.
    pub step: u32,
}

impl Want {
    /// Offset after its last byte.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}
