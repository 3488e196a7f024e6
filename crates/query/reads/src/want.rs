/// The number of a file, among those that a plan reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A stretch of a file that a consumer needs for a step of its work.
///
/// Steps are numbered from 0 on, in the order in which the consumer takes them; what it needs of a step is in memory as a whole when it
/// gets it. Several wants of a step, or of several steps, may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Want {
    /// The file.
    pub file: FileId,
    /// Where the first byte is.
    pub offset_bytes: u64,
    /// How many bytes, at least one.
    pub length_bytes: u64,
    /// The step that needs them.
    pub step: u32,
}

impl Want {
    /// One past its last byte.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}
