//! Which of the copies of a ledger the next one is written to.
//!
//! They take turns. What must never be overwritten is every ledger from the last one on that is known to be durable. A drive
//! whose flush failed may show a ledger and lose it all the same; that may happen in one opening after the other; and a later
//! opening can't tell which of those flushes failed, so each of these ledgers may be the one that counts after a power cut.
//! Each ledger tells which one was known to be durable when it was written. The one that takes the last copy doesn't count yet
//! when it is durable, but only when the next one is; so an opening that finds it the newest may write it anew in its place.

/// What a ledger tells of itself and of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Counts ledgers.
    pub(crate) generation: u64,
    /// How many generations before it is the last one that was known to be durable when it was written.
    pub(crate) unconfirmed: u64,
}

/// From when on what a ledger calls dead may be used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counts {
    /// Now that it is durable.
    Already,
    /// When another one is, too.
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
    /// Goes on after the newest ledger that was found.
    pub(crate) fn after(copies: u64, newest: Stamp) -> Self {
        Self { copies, newest, is_durable: false }
    }

    /// The same where the ledger of this generation is missing, and the one that was found says the same.
    pub(crate) fn with_missing(self, generation: u64) -> Self {
        if generation <= self.newest.generation {
            return self;
        }
        debug_assert_eq!(generation, self.newest.generation + 1, "a ledger has one double");
        Self { newest: Stamp { generation, unconfirmed: 1 }, ..self }
    }

    /// Of the newest.
    pub(crate) fn generation(&self) -> u64 {
        self.newest.generation
    }

    /// The copy in which the newest lies.
    pub(crate) fn newest_copy(&self) -> u64 {
        self.newest.generation % self.copies.max(1)
    }

    /// Passes on to the next ledger: from now on that one is the newest, written or not. One that failed to be written
    /// must not make the next hit the copy that counts.
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

    /// A flush made the newest durable.
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
        // Openings in a row whose flush fails: generation 39 is the last that is known to be durable.
        for opening in 41..60 {
            let stamp = rotation.advance();
            let generation = opening.min(46);
            assert_eq!(stamp, Stamp { generation, unconfirmed: generation - 39 });
            assert_ne!(rotation.newest_copy(), 39 % 8);
            rotation = Rotation::after(8, stamp);
        }
        // It works again: the ledger in the last copy needs another one.
        assert_eq!(rotation.advance().generation, 46);
        assert_eq!(rotation.flushed(), Counts::WithTheNext);
        assert_eq!(rotation.advance(), Stamp { generation: 47, unconfirmed: 1 });
        assert_eq!(rotation.flushed(), Counts::Already);
    }
}
