//! Which of the copies of a ledger the next one is written to.
//!
//! They take turns. What must never be overwritten is every ledger from the last one on that is known to be durable. A drive
//! whose flush failed may show a ledger and lose it all the same; that may happen in one opening after the other; and a later
//! opening can't tell which of those flushes failed, so each of these ledgers may be the one that counts after a power cut.
//! Each ledger tells which one was known to be durable when it was written. When the copies are used up without a flush that
//! succeeded, nothing more is written: the device makes nothing durable.
//!
//! Stores of version 1 have two copies and don't tell; there the newest is spared.

use crate::PageError;

/// What a ledger tells of itself and of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    /// Counts ledgers.
    pub(crate) generation: u64,
    /// How many generations before it is the last one that was known to be durable when it was written.
    pub(crate) unconfirmed: u64,
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

    /// The copy in which the newest lies.
    pub(crate) fn newest_copy(&self) -> u64 {
        self.newest.generation % self.copies.max(1)
    }

    /// Passes on to the next ledger: from now on that one is the newest, written or not. One that failed to be written
    /// must not make the next hit the copy that counts.
    pub(crate) fn advance(&mut self) -> Result<Stamp, PageError> {
        let unconfirmed = if self.is_durable { 1 } else { self.newest.unconfirmed + 1 };
        let tells = self.copies > 2;
        if tells && unconfirmed >= self.copies {
            return Err(PageError::NothingDurable { ledgers: unconfirmed - 1 });
        }
        let unconfirmed = if tells { unconfirmed } else { 0 };
        self.newest = Stamp { generation: self.newest.generation + 1, unconfirmed };
        self.is_durable = false;
        Ok(self.newest)
    }

    /// A flush made the newest durable.
    pub(crate) fn flushed(&mut self) {
        self.is_durable = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_ledger_is_overwritten_that_may_be_the_last_durable_one() {
        let mut rotation = Rotation::after(8, Stamp { generation: 40, unconfirmed: 1 });
        // Openings in a row whose flush fails: generation 39 is the last that is known to be durable.
        for generation in 41..47 {
            let stamp = rotation.advance().unwrap();
            assert_eq!(stamp, Stamp { generation, unconfirmed: generation - 39 });
            assert_ne!(rotation.newest_copy(), 39 % 8);
            rotation = Rotation::after(8, stamp);
        }
        assert_eq!(rotation.advance(), Err(PageError::NothingDurable { ledgers: 7 }));
        rotation.flushed();
        assert_eq!(rotation.advance(), Ok(Stamp { generation: 47, unconfirmed: 1 }));
    }

    #[test]
    fn two_copies_take_turns_and_tell_nothing() {
        let mut rotation = Rotation::after(2, Stamp { generation: 7, unconfirmed: 0 });
        for (generation, copy) in [(8, 0), (9, 1), (10, 0)] {
            assert_eq!(rotation.advance(), Ok(Stamp { generation, unconfirmed: 0 }));
            assert_eq!(rotation.newest_copy(), copy);
        }
    }
}
