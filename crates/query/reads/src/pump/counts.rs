use std::collections::BTreeMap;

/// What a pump has read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Requests that were planned.
    pub requests: u64,
    /// Of these, those that begin where the one before ends.
    pub continued_requests: u64,
    /// Their bytes.
    pub read_bytes: u64,
    /// Bytes of the wants that were handed out.
    pub wanted_bytes: u64,
    /// Planned requests by their length in bytes.
    pub by_length: BTreeMap<u64, u64>,
    /// Requests that no plan foresaw.
    pub urgent_requests: u64,
    /// Their bytes.
    pub urgent_bytes: u64,
}

impl ReadCounts {
    pub(crate) fn add(&mut self, length_bytes: u64, is_continued: bool) {
        self.requests += 1;
        self.continued_requests += u64::from(is_continued);
        self.read_bytes += length_bytes;
        *self.by_length.entry(length_bytes).or_default() += 1;
    }

    pub(crate) fn add_urgent(&mut self, length_bytes: u64) {
        self.urgent_requests += 1;
        self.urgent_bytes += length_bytes;
    }
}
