use std::collections::{BTreeSet, VecDeque};

/// The sequence numbers of extents: assigned in order, written in any, durable in order, by groups.
#[derive(Debug)]
pub(crate) struct Chain {
    /// The last one that was assigned.
    assigned: u64,
    /// All up to this one have been written.
    written: u64,
    /// Written ones behind a gap.
    written_ahead: BTreeSet<u64>,
    /// The ends of groups that aren't durable yet.
    ends: VecDeque<u64>,
    /// All groups up to this end are durable.
    durable: u64,
}

impl Chain {
    /// The chain after recovery: everything up to `durable` is durable.
    pub(crate) fn after(durable: u64) -> Self {
        let (written_ahead, ends) = (BTreeSet::new(), VecDeque::new());
        Self { assigned: durable, written: durable, written_ahead, ends, durable }
    }

    pub(crate) fn assign(&mut self, ends_group: bool) -> u64 {
        self.assigned += 1;
        if ends_group {
            self.ends.push_back(self.assigned);
        }
        self.assigned
    }

    pub(crate) fn wrote(&mut self, sequence: u64) {
        self.written_ahead.insert(sequence);
        while self.written_ahead.remove(&(self.written + 1)) {
            self.written += 1;
        }
    }

    pub(crate) fn assigned(&self) -> u64 {
        self.assigned
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    pub(crate) fn durable(&self) -> u64 {
        self.durable
    }

    /// The end of the last group of which every extent was assigned.
    pub(crate) fn assigned_groups(&self) -> u64 {
        self.ends.back().copied().unwrap_or(self.durable)
    }

    /// The end of the last group that is written as a whole: what a flush could make durable.
    pub(crate) fn written_groups(&self) -> u64 {
        let whole = self.ends.iter().take_while(|end| **end <= self.written);
        whole.last().copied().unwrap_or(self.durable)
    }

    /// A flush that started when `written` had been written succeeded.
    pub(crate) fn flushed(&mut self, written: u64) {
        while let Some(end) = self.ends.front().copied().filter(|end| *end <= written) {
            self.durable = self.durable.max(end);
            self.ends.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    #[test]
    fn durable_are_whole_groups_without_a_gap() {
        let mut chain = Chain::after(10);
        let sequences = [true, false, true, true].map(|ends| chain.assign(ends));
        assert_eq!(sequences, [11, 12, 13, 14]);
        chain.wrote(13);
        chain.wrote(11);
        assert_eq!((chain.written(), chain.written_groups()), (11, 11));
        chain.wrote(12);
        let at_flush = chain.written();
        chain.wrote(14);
        chain.flushed(at_flush);
        assert_eq!((chain.written(), chain.durable(), chain.written_groups()), (14, 13, 14));
        chain.flushed(12);
        assert_eq!(chain.durable(), 13, "an older flush takes nothing back");
    }

    #[test]
    fn a_group_that_is_written_in_part_is_not_durable() {
        let mut chain = Chain::after(0);
        for ends in [true, false, true] {
            chain.assign(ends);
        }
        chain.wrote(1);
        chain.wrote(2);
        chain.flushed(chain.written());
        assert_eq!(chain.durable(), 1);
    }
}
