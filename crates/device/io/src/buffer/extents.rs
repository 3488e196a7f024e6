use std::collections::BTreeMap;

/// Free extents of an arena, start → length; never adjacent.
#[derive(Debug)]
pub(super) struct FreeExtents {
    by_start: BTreeMap<usize, usize>,
}

impl FreeExtents {
    /// Single free extent from 0 to `bytes`.
    pub(super) fn whole(bytes: usize) -> Self {
        Self { by_start: BTreeMap::from([(0, bytes)]) }
    }

    /// Takes the first extent that is long enough (first fit: low addresses are the registered
    /// ones).
    pub(super) fn take(&mut self, bytes: usize) -> Option<usize> {
        let (&start, &length) = self.by_start.iter().find(|(_, length)| **length >= bytes)?;
        self.by_start.remove(&start);
        if length > bytes {
            self.by_start.insert(start + bytes, length - bytes);
        }
        Some(start)
    }

    /// Frees an extent and merges it with its free neighbours.
    pub(super) fn give_back(&mut self, mut start: usize, mut bytes: usize) {
        if let Some(next) = self.by_start.remove(&(start + bytes)) {
            bytes += next;
        }
        if let Some((&before, &length)) = self.by_start.range(..start).next_back()
            && before + length == start
        {
            self.by_start.remove(&before);
            start = before;
            bytes += length;
        }
        self.by_start.insert(start, bytes);
    }

    /// Bytes of all free extents.
    pub(super) fn all(&self) -> usize {
        self.by_start.values().sum()
    }

    /// Bytes of the longest free extent.
    pub(super) fn longest(&self) -> usize {
        self.by_start.values().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_in_whatever_order_they_come_back() {
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]] {
            let mut free = FreeExtents::whole(30);
            let starts = [10, 10, 10].map(|bytes| free.take(bytes).unwrap());
            assert_eq!(free.take(1), None);
            for index in order {
                free.give_back(starts[index], 10);
            }
            assert_eq!(free.longest(), 30);
        }
    }
}
