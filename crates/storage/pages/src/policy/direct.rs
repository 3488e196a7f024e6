//! Writes every page directly to its home place, in order of arrival.
//!
//! After a power cut a committed page that wasn't rewritten is present. A page being written may be
//! torn, and any part of a batch may be present. There is nothing to recover.
//!
//! The device holds no checksums: to be valid after a power cut, a checksum would have to be
//! durable before its page is written, which costs a flush per page. Damage to a page after the
//! store was closed is therefore not detected.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::runtime::JoinHandle;
use nandle_io::{Buffer, BufferMut, Durability};

use super::{Descriptor, Layout, Policy, Promises, Task};
use crate::batch::Change;
use crate::home::{Home, Place, Run};
use crate::page::checksum;
use crate::{Batch, BatchNumber, PageError, PageNumber, Stats};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "direct",
    description: "writes every page straight to its own place",
    code: 1,
    promises: Promises::NONE,
    layout: Layout::InPlace,
    open: |parts| Box::pin(async { Ok(Box::new(Direct::new(parts.home)) as Box<dyn Policy>) }),
};

pub(crate) struct Direct {
    home: Rc<Home>,
    /// Number of calls that write or wait for a flush.
    under_way: Cell<usize>,
}

impl Direct {
    pub(crate) fn new(home: Rc<Home>) -> Self {
        Self { home, under_way: Cell::default() }
    }

    /// Starts the writes of all pages of a batch concurrently, after those of earlier batches. Only
    /// the last contents of a repeated page are written.
    pub(super) fn start(&self, batch: Batch) -> Started {
        self.start_as(batch, Durability::Volatile)
    }

    fn start_as(&self, batch: Batch, durability: Durability) -> Started {
        debug_assert!(
            durability == Durability::Volatile || batch.len() == 1,
            "{} durable writes take longer than a flush for all of them",
            batch.len()
        );
        let mut tasks = Vec::with_capacity(batch.len());
        for (page, change) in last_of_each(batch) {
            let home = Rc::clone(&self.home);
            tasks.push(self.home.disk().handle().spawn(async move {
                match change {
                    Change::Put(contents) => {
                        let sum = checksum(page, &contents);
                        let run = Run::of(page, contents, sum);
                        match durability {
                            Durability::Durable => home.write_durably(run).await,
                            Durability::Volatile => home.write(vec![run], || 1).await,
                        }
                    }
                    Change::Discard => home.discard(page).await,
                }
            }));
        }
        Started(tasks)
    }

    /// Returns true if a single durable write can commit the batch: nothing else must become
    /// durable with it, and no other call could share a flush.
    fn stands_alone(&self, batch: &Batch) -> bool {
        let is_a_page = matches!(batch.changes(), [(_, Change::Put(_))]);
        is_a_page && self.under_way.get() == 0 && self.home.disk().is_all_durable()
    }

    fn begin(&self) -> UnderWay<'_> {
        self.under_way.update(|calls| calls + 1);
        UnderWay(&self.under_way)
    }
}

/// Counts a call until dropped.
struct UnderWay<'a>(&'a Cell<usize>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        debug_assert!(self.0.get() > 0, "a call that ends has begun");
        self.0.update(|calls| calls - 1);
    }
}

/// Page writes of a batch in flight.
pub(super) struct Started(Vec<JoinHandle<Result<(), PageError>>>);

impl Started {
    /// Awaits all writes.
    pub(super) async fn finish(self) -> Result<(), PageError> {
        let mut result = Ok(());
        for task in self.0 {
            result = result.and(task.await);
        }
        result
    }
}

fn last_of_each(batch: Batch) -> Vec<(PageNumber, Change)> {
    let mut changes: Vec<(PageNumber, Change)> = Vec::with_capacity(batch.len());
    let mut places = rustc_hash::FxHashMap::default();
    for (page, change) in batch.into_changes() {
        let place = *places.entry(page).or_insert(changes.len());
        match changes.get_mut(place) {
            Some(earlier) => *earlier = (page, change),
            None => changes.push((page, change)),
        }
    }
    debug_assert_eq!(changes.len(), places.len(), "a page twice would be written in any order");
    changes
}

impl Policy for Direct {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        // A call begins with its first poll.
        Box::pin(async {
            let _call = self.begin();
            self.start(batch).finish().await
        })
    }

    fn commit(&self, batch: Batch) -> Task<'_, BatchNumber> {
        Box::pin(async {
            let durability =
                if self.stands_alone(&batch) { Durability::Durable } else { Durability::Volatile };
            let _call = self.begin();
            self.start_as(batch, durability).finish().await?;
            match durability {
                Durability::Durable => {}
                Durability::Volatile => self.home.disk().flush().await?,
            }
            Ok(BatchNumber::NONE)
        })
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn sync(&self) -> Task<'_, BatchNumber> {
        Box::pin(async { self.home.disk().flush().await.map(|()| BatchNumber::NONE) })
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.home.read(page, into))
    }

    fn locate(&self, page: PageNumber) -> Option<Place> {
        self.home.locate(page)
    }

    fn checkpoint(&self) -> Task<'_, ()> {
        Box::pin(self.home.disk().flush())
    }

    fn largest_batch(&self) -> usize {
        usize::MAX
    }

    fn known(&self) -> Vec<PageNumber> {
        self.home.known()
    }

    fn stats(&self, _stats: &mut Stats) {}

    fn stop(&self) {}

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        Box::pin(async {})
    }
}
