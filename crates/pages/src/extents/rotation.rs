//! Which of the copies of a ledger the next one is written to.
//!
//! Two ledgers must never be overwritten: the newest, because it counts; and the newest that is known to be durable. A
//! drive whose flush failed may show the newest and lose it all the same, and that may happen time and again, one opening
//! after the other. So there are three copies, and each ledger tells which copy was known to be durable when it was
//! written. Stores of version 1 have two copies, of which the newest is spared.

/// What a ledger tells of itself and of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Counts ledgers.
    pub(crate) generation: u64,
    /// The copy that was known to be durable when it was written.
    pub(crate) durable_copy: u64,
}

/// See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    copies: u64,
    newest: Stamp,
    newest_copy: u64,
    durable_copy: u64,
}

impl Rotation {
    /// The newest of the ledgers that were found, each in its copy.
    pub(crate) fn found(copies: u64, found: impl Iterator<Item = (u64, Stamp)>) -> Option<Self> {
        let (newest_copy, newest) = found.max_by_key(|(_, stamp)| stamp.generation)?;
        Some(Self { copies, newest, newest_copy, durable_copy: newest.durable_copy })
    }

    /// The copy in which the newest lies.
    pub(crate) fn newest_copy(&self) -> u64 {
        self.newest_copy
    }

    /// Passes on to the next ledger: from now on that one is the newest, written or not. One that failed to be written
    /// must not make the next hit the copy that counts.
    pub(crate) fn advance(&mut self) -> Stamp {
        let is_free =
            |copy: &u64| *copy != self.newest_copy && (self.copies < 3 || *copy != self.durable_copy);
        self.newest_copy = (0..self.copies).find(is_free).unwrap_or(0);
        self.newest = Stamp { generation: self.newest.generation + 1, durable_copy: self.durable_copy };
        self.newest
    }

    /// A flush made the newest durable.
    pub(crate) fn flushed(&mut self) {
        self.durable_copy = self.newest_copy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(copies: u64) -> Rotation {
        Rotation::found(copies, std::iter::once((0, Stamp::default()))).unwrap()
    }

    #[test]
    fn neither_the_newest_nor_the_last_durable_one_is_overwritten() {
        let mut rotation = fresh(3);
        // As many openings in a row whose flush fails as you like.
        for generation in 1..20 {
            let before = rotation.newest_copy();
            let stamp = rotation.advance();
            assert_eq!(stamp, Stamp { generation, durable_copy: 0 });
            assert!(rotation.newest_copy() != before && rotation.newest_copy() != 0);
            rotation = Rotation::found(3, std::iter::once((rotation.newest_copy(), stamp))).unwrap();
        }
        rotation.flushed();
        let durable = rotation.newest_copy();
        assert_eq!(rotation.advance().durable_copy, durable);
    }

    #[test]
    fn the_newest_is_found_wherever_it_lies() {
        let stamp = |generation| Stamp { generation, durable_copy: 2 };
        let found = [(0, stamp(4)), (1, stamp(6)), (2, stamp(5))];
        let mut rotation = Rotation::found(3, found.into_iter()).unwrap();
        assert_eq!(
            (rotation.newest_copy(), rotation.advance().generation, rotation.newest_copy()),
            (1, 7, 0)
        );
        assert_eq!(Rotation::found(3, std::iter::empty()), None);
    }

    #[test]
    fn two_copies_take_turns() {
        let mut rotation = fresh(2);
        let copies = [(); 4].map(|()| {
            rotation.advance();
            rotation.newest_copy()
        });
        assert_eq!(copies, [1, 0, 1, 0]);
    }
}
