use std::collections::BTreeMap;

/// Counts of a pump's reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Planned requests.
    pub requests: u64,
    /// Planned requests that begin where the previous one ends.
    pub continued_requests: u64,
    /// Bytes of the planned requests.
    pub read_bytes: u64,
    /// Bytes of the wants handed out.
    pub wanted_bytes: u64,
    /// Planned requests by length in bytes.
    pub by_length: BTreeMap<u64, u64>,
    /// Unplanned requests.
    pub urgent_requests: u64,
    /// Bytes of the unplanned requests.
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
