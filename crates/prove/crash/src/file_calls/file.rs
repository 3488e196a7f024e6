//! A file's contents in the cache and after a power cut.

use std::collections::BTreeSet;

use super::folder::Survivors;

const BLOCK_BYTES: usize = 4096;

/// Cached and durable bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    cached: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<usize>,
    is_length_dirty: bool,
}

impl Contents {
    /// A file whose contents are durable.
    pub(super) fn durable(bytes: &[u8]) -> Self {
        Self { cached: bytes.to_vec(), durable: bytes.to_vec(), ..Self::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.cached.len()
    }

    pub(super) fn read(&self, at: usize, length: usize) -> Vec<u8> {
        let end = self.len().min(at.saturating_add(length));
        self.cached.get(at..end).unwrap_or_default().to_vec()
    }

    pub(super) fn write(&mut self, at: usize, bytes: &[u8]) {
        let end = at + bytes.len();
        if end > self.len() {
            self.set_len(end);
        }
        if let Some(place) = self.cached.get_mut(at..end) {
            place.copy_from_slice(bytes);
        }
        self.dirty.extend(at / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES));
    }

    pub(super) fn set_len(&mut self, length: usize) {
        self.is_length_dirty |= length != self.len();
        self.cached.resize(length, 0);
    }

    /// Syncs the file. A failed sync also marks blocks clean: the kernel writes no block twice.
    pub(super) fn sync(&mut self, fails: bool) {
        let dirty = std::mem::take(&mut self.dirty);
        let is_length_dirty = std::mem::take(&mut self.is_length_dirty);
        if fails {
            return;
        }
        if is_length_dirty {
            self.durable.resize(self.cached.len(), 0);
        }
        for block in dirty {
            self.persist(block);
        }
    }

    fn persist(&mut self, block: usize) {
        let start = block * BLOCK_BYTES;
        let end = self.len().min(start + BLOCK_BYTES);
        if self.durable.len() < end {
            self.durable.resize(end, 0);
        }
        if let (Some(to), Some(from)) = (self.durable.get_mut(start..end), self.cached.get(start..end)) {
            to.copy_from_slice(from);
        }
    }

    pub(super) fn cut(&mut self, survivors: Survivors) {
        match survivors {
            Survivors::All => return,
            Survivors::None => {}
            Survivors::Some => {
                let dirty = self.dirty.clone();
                for block in dirty.into_iter().step_by(2) {
                    self.persist(block);
                }
            }
        }
        *self = Self { cached: self.durable.clone(), durable: self.durable.clone(), ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Contents {
        let mut contents = Contents::default();
        contents.write(0, &[1; 3 * BLOCK_BYTES]);
        contents
    }

    #[test]
    fn a_failed_sync_loses_what_it_was_to_keep_and_the_next_one_says_nothing() {
        let mut contents = written();
        contents.sync(true);
        contents.sync(false);
        assert_eq!(contents.read(0, 1), [1], "it is still readable");
        contents.cut(Survivors::None);
        assert_eq!(contents.len(), 0);
    }

    #[test]
    fn what_survives_is_all_or_none_or_a_part() {
        for (survivors, expected) in
            [(Survivors::All, 3 * BLOCK_BYTES), (Survivors::None, 0), (Survivors::Some, 3 * BLOCK_BYTES)]
        {
            let mut contents = written();
            contents.cut(survivors);
            assert_eq!(contents.len(), expected, "{survivors:?}");
        }
        let mut contents = written();
        contents.sync(false);
        contents.cut(Survivors::None);
        assert_eq!(contents.read(0, 4 * BLOCK_BYTES), [1; 3 * BLOCK_BYTES]);
    }
}
