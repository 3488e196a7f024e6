//! Translation and decomposition without a device, for the example `speed`.

use crate::label::Label;
use crate::page::PageNumber;
use crate::policy;
use crate::staging::{Entry, Order, Slot, Table};
use crate::{CreateOptions, OpenOptions, PageError, PolicyKind};

/// Maximum pages per request.
const MOST: usize = 256;

/// A translation table with a number of slots, and the destaging order of a policy.
pub struct Exchange {
    table: Table,
    order: Box<dyn Order>,
    slots: usize,
    pages: u64,
    random: u64,
    sequence: u64,
}

impl Exchange {
    /// A full table, of a store with eight times as many pages.
    ///
    /// # Errors
    /// The policy has no staging area of this size.
    pub fn new(policy: PolicyKind, page_bytes: usize, slots: usize) -> Result<Self, PageError> {
        let pages = slots as u64 * 8;
        let create = CreateOptions::new(policy, page_bytes, pages);
        let create = create.with_buffer_bytes((slots * page_bytes) as u64);
        let (ledger_bytes, area_bytes) = policy::areas(&create)?;
        let label = Label::plan(&create, ledger_bytes, area_bytes)?;
        let order = policy::staging_config(policy, &label, &OpenOptions::default())?.order;
        let mut new = Self { table: Table::default(), order, slots, pages, random: 1, sequence: 0 };
        new.stage(2 * slots as u64);
        Ok(new)
    }

    /// Stages `pages` random pages, and removes those that exceed the table.
    pub fn stage(&mut self, pages: u64) {
        for _ in 0..pages {
            self.sequence += 1;
            let page = self.random_page();
            let slot = Slot { extent: self.sequence, index: 0 };
            self.table.put(page, Entry { sequence: self.sequence, slot, sum: 0, memory: None });
            self.order.added(page);
            while self.table.len() > self.slots {
                let taken = self.order.next(MOST).map_or_else(Vec::new, |instance| instance.pages);
                debug_assert!(!taken.is_empty(), "a table that is full has pages to take");
                for page in taken {
                    let slot = self.table.remove(page);
                    debug_assert!(slot.is_some(), "{page} is taken once each time that it is staged");
                }
            }
        }
    }

    /// Marsaglia's xorshift, with the shifts 13, 7 and 17.
    fn random_page(&mut self) -> PageNumber {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        PageNumber(self.random % self.pages)
    }
}
