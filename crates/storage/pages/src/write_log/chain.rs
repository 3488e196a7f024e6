use std::collections::VecDeque;

/// Sequence numbers of extents: assigned, written and made durable in order, the last by groups.
#[derive(Debug)]
pub(crate) struct Chain {
    /// Last sequence assigned.
    assigned: u64,
    /// Sequence up to which all extents are written.
    written: u64,
    /// Groups that aren't durable yet.
    groups: VecDeque<Group>,
    /// Pages of the extents behind the last group.
    open_pages: usize,
    /// End up to which all groups are durable.
    durable: u64,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    end: u64,
    pages: usize,
}

impl Chain {
    /// Chain after recovery, with everything up to `durable` durable.
    pub(crate) fn after(durable: u64) -> Self {
        Self::continued(durable, durable)
    }

    /// Chain after recovery, with extents present up to `written` and durable up to `durable`.
    /// Later flushes don't make the extents between them durable.
    pub(crate) fn continued(durable: u64, written: u64) -> Self {
        debug_assert!(durable <= written, "{durable} is durable, and {written} was written");
        Self { assigned: written, written, groups: VecDeque::new(), open_pages: 0, durable }
    }

    /// Assigns the next sequence to an extent with `pages` pages.
    pub(crate) fn assign(&mut self, pages: usize, ends_group: bool) -> u64 {
        debug_assert!(self.durable <= self.assigned, "what is durable was assigned: {self:?}");
        self.assigned += 1;
        self.open_pages += pages;
        if ends_group {
            let pages = std::mem::take(&mut self.open_pages);
            self.groups.push_back(Group { end: self.assigned, pages });
        }
        self.assigned
    }

    /// Pages of volatile extents.
    pub(crate) fn pages_at_risk(&self) -> usize {
        self.open_pages + self.groups.iter().map(|group| group.pages).sum::<usize>()
    }

    /// Records the write of the next extent. All earlier ones must be written.
    pub(crate) fn wrote(&mut self, sequence: u64) {
        debug_assert!(
            sequence == self.written + 1 && sequence <= self.assigned,
            "{sequence} was assigned, and is the next to be written: {self:?}"
        );
        self.written = sequence;
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

    /// End of the last group whose extents are all assigned.
    pub(crate) fn assigned_groups(&self) -> u64 {
        self.groups.back().map_or(self.durable, |group| group.end)
    }

    /// End of the last completely written group, which a flush could make durable.
    pub(crate) fn written_groups(&self) -> u64 {
        let whole = self.groups.iter().take_while(|group| group.end <= self.written);
        whole.last().map_or(self.durable, |group| group.end)
    }

    /// Records a successful flush that started when everything up to `written` was written.
    pub(crate) fn flushed(&mut self, written: u64) {
        debug_assert!(written <= self.written, "{written} was written before it was flushed: {self:?}");
        while let Some(group) = self.groups.pop_front_if(|group| group.end <= written) {
            debug_assert!(self.durable < group.end, "groups become durable in their order");
            self.durable = self.durable.max(group.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    #[test]
    fn durable_are_whole_groups_without_a_gap() {
        let mut chain = Chain::after(10);
        let sequences = [true, false, true, true].map(|ends| chain.assign(2, ends));
        assert_eq!(sequences, [11, 12, 13, 14]);
        chain.wrote(11);
        chain.wrote(12);
        assert_eq!((chain.written(), chain.written_groups()), (12, 11));
        chain.wrote(13);
        let at_flush = chain.written();
        chain.wrote(14);
        chain.flushed(at_flush);
        assert_eq!((chain.written(), chain.durable(), chain.written_groups()), (14, 13, 14));
        chain.flushed(12);
        assert_eq!(chain.durable(), 13, "an older flush takes nothing back");
        assert_eq!(chain.pages_at_risk(), 2);
    }

    #[test]
    fn what_is_only_there_is_never_made_durable() {
        let mut chain = Chain::continued(3, 8);
        chain.flushed(8);
        assert_eq!((chain.durable(), chain.assigned_groups(), chain.assign(1, false)), (3, 3, 9));
    }

    #[test]
    fn a_group_that_is_written_in_part_is_not_durable() {
        let mut chain = Chain::after(0);
        for ends in [true, false, true] {
            chain.assign(1, ends);
        }
        chain.wrote(1);
        chain.wrote(2);
        chain.flushed(chain.written());
        assert_eq!(chain.durable(), 1);
    }
}
