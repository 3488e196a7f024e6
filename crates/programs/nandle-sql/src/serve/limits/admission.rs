use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Ended;

/// Slots for queries, with a bounded queue.
#[derive(Debug)]
pub(super) struct Admission {
    places: Arc<Semaphore>,
    queries: usize,
    waiting: AtomicUsize,
    waiting_most: usize,
}

/// Admission slot of a query, released on drop.
#[derive(Debug)]
pub(crate) struct Place(#[expect(dead_code, reason = "it is held")] Option<OwnedSemaphorePermit>);

/// Counts a waiting query, until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Admission {
    /// Creates `queries` slots and a queue of `waiting_most`.
    pub(super) fn new(queries: NonZeroUsize, waiting_most: usize) -> Self {
        let queries = queries.get().min(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(queries));
        Self { places, queries, waiting: AtomicUsize::new(0), waiting_most }
    }

    /// Waits for a slot, first come, first served.
    pub(super) async fn admit(&self) -> Result<Place, Ended> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(Place(Some(place)));
        }
        let _waiting = self.wait()?;
        // The semaphore is never closed.
        Ok(Place(Arc::clone(&self.places).acquire_owned().await.ok()))
    }

    fn wait(&self) -> Result<Waiting<'_>, Ended> {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let own = Waiting(&self.waiting);
        if waiting < self.waiting_most {
            Ok(own)
        } else {
            Err(Ended::Full { running: self.queries, waiting })
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const WAITING_MOST: usize = 5;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn so_many_have_places_and_others_wait() {
        block_on(async {
            let admission = Admission::new(NonZeroUsize::new(2).unwrap(), WAITING_MOST);
            let first = admission.admit().await.unwrap();
            let second = admission.admit().await.unwrap();
            let soon = Duration::from_millis(10);
            assert!(timeout(soon, admission.admit()).await.is_err(), "it waits");
            drop(first);
            let third = admission.admit().await.unwrap();
            drop((second, third));
        });
    }

    #[test]
    fn a_queue_that_is_full_refuses() {
        block_on(async {
            let admission = Arc::new(Admission::new(NonZeroUsize::MIN, WAITING_MOST));
            let place = admission.admit().await.unwrap();
            let all = (0..WAITING_MOST).map(|_| {
                let admission = Arc::clone(&admission);
                tokio::spawn(async move { admission.admit().await.map(drop) })
            });
            let all: Vec<_> = all.collect();
            while admission.waiting.load(Ordering::Relaxed) < WAITING_MOST {
                tokio::task::yield_now().await;
            }
            let refused = admission.admit().await.unwrap_err();
            assert!(matches!(refused, Ended::Full { running: 1, waiting: WAITING_MOST }), "{refused:?}");
            drop(place);
            for one in all {
                one.await.unwrap().unwrap();
            }
            assert_eq!(admission.waiting.load(Ordering::Relaxed), 0);
        });
    }
}
