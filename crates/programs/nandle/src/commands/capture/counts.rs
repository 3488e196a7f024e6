//! Counts of the recorded requests.

use std::collections::HashMap;

use nandle_trace::{Operation, Record};

/// Bound on distinct program names: a program may rename itself for each request.
const NAMES_MAX: usize = 1 << 12;
/// Name for programs beyond the bound.
const UNNAMED: &str = "others";

/// Requests of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KindCount {
    pub(super) requests: u64,
    pub(super) bytes: u64,
    /// Requests with a latency.
    timed: u64,
    timed_ns: u64,
}

impl KindCount {
    fn add(&mut self, record: &Record) {
        self.requests += 1;
        self.bytes += record.length_bytes;
        if let Some(latency_ns) = record.latency_ns {
            self.timed += 1;
            self.timed_ns += latency_ns;
        }
    }

    /// Returns `None` if no latency was recorded.
    pub(super) fn mean_latency_ns(&self) -> Option<u64> {
        self.timed_ns.checked_div(self.timed)
    }
}

/// Counts of a capture.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// By kind, in the order of [`Operation::ALL`].
    kinds: [KindCount; Operation::ALL.len()],
    /// Requests in the trace that the kernel issued itself.
    pub(super) by_kernel: u64,
    /// Writes that were durable on completion; the trace has a sync for each.
    pub(super) durable_writes: u64,
    /// Failed requests; they are in the trace.
    pub(super) failed: u64,
    /// Requests of other programs, by program name.
    others: HashMap<String, u64>,
    /// Lines that couldn't be parsed.
    pub(super) bad_lines: u64,
}

impl Counts {
    pub(super) fn add(&mut self, record: &Record) {
        let kinds = self.kinds.iter_mut().zip(Operation::ALL);
        kinds.filter(|(_, operation)| *operation == record.operation).for_each(|(kind, _)| kind.add(record));
    }

    pub(super) fn leave_out(&mut self, program: String) {
        let is_named = self.others.len() < NAMES_MAX || self.others.contains_key(&program);
        *self.others.entry(if is_named { program } else { UNNAMED.to_owned() }).or_default() += 1;
    }

    pub(super) fn of(&self, operation: Operation) -> KindCount {
        let mut kinds = self.kinds.iter().zip(Operation::ALL);
        kinds.find(|(_, kind)| *kind == operation).map_or_else(KindCount::default, |(count, _)| *count)
    }

    pub(super) fn requests(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.requests).sum()
    }

    pub(super) fn left_out(&self) -> u64 {
        self.others.values().sum()
    }

    /// The `most` programs with the most omitted requests, and their counts.
    pub(super) fn others(&self, most: usize) -> Vec<(&str, u64)> {
        let mut others: Vec<_> =
            self.others.iter().map(|(name, requests)| (name.as_str(), *requests)).collect();
        others.sort_by_key(|(name, requests)| (std::cmp::Reverse(*requests), *name));
        others.truncate(most);
        others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_kind_and_others_by_name() {
        let mut counts = Counts::default();
        let write = Record {
            time_us: 0,
            operation: Operation::Write,
            address: 0,
            length_bytes: 4096,
            latency_ns: Some(100),
        };
        counts.add(&write);
        counts.add(&Record { latency_ns: Some(300), ..write });
        counts.add(&Record { latency_ns: None, ..write });
        counts.add(&Record { operation: Operation::Sync, latency_ns: None, length_bytes: 0, ..write });
        let writes = counts.of(Operation::Write);
        assert_eq!((writes.requests, writes.bytes, writes.mean_latency_ns()), (3, 12_288, Some(200)));
        assert_eq!(counts.of(Operation::Sync).mean_latency_ns(), None);
        assert_eq!(counts.requests(), 4);
        for name in ["b", "a", "c", "b"] {
            counts.leave_out(name.to_owned());
        }
        assert_eq!((counts.left_out(), counts.others(2)), (4, vec![("b", 2), ("a", 1)]));
        (0..2 * NAMES_MAX).for_each(|number| counts.leave_out(format!("x{number}")));
        assert!(counts.others.len() <= NAMES_MAX + 1);
        assert_eq!(counts.left_out(), 4 + 2 * NAMES_MAX as u64);
    }
}
