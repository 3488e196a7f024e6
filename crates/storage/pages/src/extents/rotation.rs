//! Selection of the copy for the next ledger.
//!
//! Copies are used in rotation. The last ledger known to be durable, and all later ones, must never
//! be overwritten. After a failed flush a drive may show a ledger and still lose it. This may
//! happen in several openings in a row, and a later opening can't tell which flushes failed, so any
//! of these ledgers may be the valid one after a power cut. Each ledger records which one was known
//! to be durable when it was written. A ledger in the last free copy is valid only once the next
//! one is durable too. An opening that finds it as the newest may therefore rewrite it in place.

/// Generation data stored in a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Number of the ledger.
    pub(crate) generation: u64,
    /// Number of generations since the last one known to be durable.
    pub(crate) unconfirmed: u64,
}

/// Time from which dead blocks of a ledger may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Now, as the ledger is durable.
    Already,
    /// Once another ledger is durable.
    WithTheNext,
}

/// See the [module](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    copies: u64,
    newest: Stamp,
    is_durable: bool,
}

impl Rotation {
    /// Continues after the newest ledger found.
    pub(crate) fn after(copies: u64, newest: Stamp) -> Self {
        Self { copies, newest, is_durable: false }
    }

    /// Accounts for a missing ledger of this generation, which equals the one found.
    pub(crate) fn with_missing(self, generation: u64) -> Self {
        if generation <= self.newest.generation {
            return self;
        }
        debug_assert_eq!(generation, self.newest.generation + 1, "a ledger has one double");
        Self { newest: Stamp { generation, unconfirmed: 1 }, ..self }
    }

    /// Generation of the newest ledger.
    pub(crate) fn generation(&self) -> u64 {
        self.newest.generation
    }

    /// Copy that holds the newest ledger.
    pub(crate) fn newest_copy(&self) -> u64 {
        self.newest.generation % self.copies.max(1)
    }

    /// Advances to the next ledger, which is the newest from now on even if its write fails.
    /// Otherwise the next write could overwrite the valid copy.
    pub(crate) fn advance(&mut self) -> Stamp {
        if self.is_durable || !self.has_last_copy() {
            let unconfirmed = if self.is_durable { 1 } else { self.newest.unconfirmed + 1 };
            self.newest = Stamp { generation: self.newest.generation + 1, unconfirmed };
        }
        self.is_durable = false;
        debug_assert!(
            self.newest.unconfirmed <= self.copies,
            "the durable ledger isn't overwritten: {self:?}"
        );
        self.newest
    }

    /// Records a flush that made the newest ledger durable.
    pub(crate) fn flushed(&mut self) -> Counts {
        self.is_durable = true;
        if self.has_last_copy() { Counts::WithTheNext } else { Counts::Already }
    }

    fn has_last_copy(&self) -> bool {
        self.newest.unconfirmed + 1 >= self.copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ledger_is_overwritten_that_may_be_the_last_durable_one() {
        let mut rotation = Rotation::after(8, Stamp { generation: 40, unconfirmed: 1 });
        // Several openings with failing flushes: generation 39 is the last one known to be durable.
        for opening in 41..60 {
            let stamp = rotation.advance();
            let generation = opening.min(46);
            assert_eq!(stamp, Stamp { generation, unconfirmed: generation - 39 });
            assert_ne!(rotation.newest_copy(), 39 % 8);
            rotation = Rotation::after(8, stamp);
        }
        // Flushes work again: the ledger in the last copy needs another one.
        assert_eq!(rotation.advance().generation, 46);
        assert_eq!(rotation.flushed(), Counts::WithTheNext);
        assert_eq!(rotation.advance(), Stamp { generation: 47, unconfirmed: 1 });
        assert_eq!(rotation.flushed(), Counts::Already);
    }
}
