//! One file in one folder, with what a power cut would leave of it.

use std::collections::BTreeSet;

use super::kind::{CallKind, Calls};

const BLOCK_BYTES: usize = 4096;

/// Which call fails.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    pub(super) fail: Option<(CallKind, u64)>,
}

/// How much of what isn't durable a power cut leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Survivors {
    /// All of it: the process was killed, and the power stayed on.
    All,
    /// None of it.
    None,
    /// Every other block.
    Some,
}

impl Survivors {
    pub(super) const ALL: [Self; 3] = [Self::All, Self::None, Self::Some];
}

/// The state of the file system.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    /// The file as programs see it, under its number.
    pub(super) file: Option<(u64, Contents)>,
    is_name_dirty: bool,
    is_name_durable: bool,
    /// Numbers that were given.
    numbers: u64,
    plan: Plan,
    pub(super) calls: Calls,
    pub(super) has_failed: bool,
}

/// Bytes, and which of them are durable.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    cached: Vec<u8>,
    durable: Vec<u8>,
    dirty: BTreeSet<usize>,
    is_length_dirty: bool,
}

impl Folder {
    /// An empty one, in which a call is to fail.
    pub(super) fn reset(&mut self, plan: Plan) {
        *self = Self { plan, numbers: self.numbers, ..Self::default() };
    }

    /// No call fails any more.
    pub(super) fn end_failures(&mut self) {
        self.plan = Plan::default();
    }

    /// The state as it was, whose numbers aren't given again.
    pub(super) fn restore(&mut self, state: &Self) {
        *self = Self { numbers: self.numbers, ..state.clone() };
    }

    /// Whether this call, which is counted, is the one to fail.
    pub(super) fn fails(&mut self, kind: CallKind) -> bool {
        let nth = self.calls.count(kind);
        let fails = self.plan.fail == Some((kind, nth));
        self.has_failed |= fails;
        fails
    }

    pub(super) fn create(&mut self) -> u64 {
        self.numbers += 1;
        // Number 1 is the folder's.
        let number = 1 + self.numbers;
        self.file = Some((number, Contents::default()));
        self.is_name_dirty = true;
        number
    }

    pub(super) fn remove(&mut self) {
        self.file = None;
        self.is_name_dirty = true;
    }

    pub(super) fn sync_names(&mut self, fails: bool) {
        if std::mem::take(&mut self.is_name_dirty) && !fails {
            self.is_name_durable = self.file.is_some();
        }
    }

    /// A power cut, or the end of the process alone. The file that is left has another number, so that the kernel has nothing of
    /// it in its cache.
    pub(super) fn cut(&mut self, survivors: Survivors) {
        self.numbers += 1;
        let number = 1 + self.numbers;
        let is_there = self.is_name_durable || survivors != Survivors::None;
        self.file = self.file.take().filter(|_| is_there).map(|(_, contents)| (number, contents));
        if let Some((_, contents)) = &mut self.file {
            contents.cut(survivors);
        }
    }
}

impl Contents {
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

    /// A sync that fails cleans as one does that succeeds: the system tries no block twice.
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

    fn cut(&mut self, survivors: Survivors) {
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
