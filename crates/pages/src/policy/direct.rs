//! Every page straight to its own place, in the order of arrival.
//!
//! What survives a power cut: a page that was committed, and not written again since, is there. One that was being
//! written may be torn, and of a batch any part may be there. There is nothing to recover.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::runtime::JoinHandle;
use nandle_io::{Buffer, BufferMut};

use super::{Policy, Task};
use crate::batch::Change;
use crate::home::{Home, Run};
use crate::page::checksum;
use crate::{Batch, PageError, PageNumber, Stats};

pub(crate) struct Direct {
    home: Rc<Home>,
}

impl Direct {
    pub(crate) fn new(home: Rc<Home>) -> Self {
        Self { home }
    }

    /// Sets all pages of a batch on their way at the same time, behind those that were before; a page that comes twice only
    /// with its last contents.
    pub(super) fn start(&self, batch: Batch) -> Started {
        let mut tasks = Vec::with_capacity(batch.len());
        for (page, change) in last_of_each(batch) {
            let home = Rc::clone(&self.home);
            tasks.push(self.home.disk().handle().spawn(async move {
                match change {
                    Change::Put(contents) => {
                        let sum = checksum(page, &contents);
                        home.write(vec![Run::of(page, contents, sum)], || 1).await
                    }
                    Change::Discard => home.discard(page).await,
                }
            }));
        }
        Started(tasks)
    }
}

/// Pages of a batch on their way.
pub(super) struct Started(Vec<JoinHandle<Result<(), PageError>>>);

impl Started {
    /// Waits for all of them.
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
    changes
}

impl Policy for Direct {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        // Not before the first poll, which is when a call begins.
        Box::pin(async { self.start(batch).finish().await })
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn sync(&self) -> Task<'_, ()> {
        Box::pin(self.home.disk().flush())
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        Box::pin(self.home.read(page, into))
    }

    fn checkpoint(&self) -> Task<'_, ()> {
        self.sync()
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
