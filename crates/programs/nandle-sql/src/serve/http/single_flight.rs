//! Single-flight cache: concurrent requests for one key share one computation, and later ones get
//! the cached value.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared, WeakShared};

type Making<V, E> = BoxFuture<'static, Result<V, E>>;

/// Cache whose values are computed once. A computation is dropped when nothing awaits it any more.
/// Errors aren't cached.
pub(super) struct SingleFlight<K, V, E> {
    state: Mutex<State<K, V, E>>,
    kept_most: usize,
    kept_bytes_most: usize,
}

struct State<K, V, E> {
    kept: HashMap<K, Kept<V>>,
    bytes: usize,
    /// Number of requests so far.
    asked: u64,
    making: HashMap<K, WeakShared<Making<V, E>>>,
}

struct Kept<V> {
    value: V,
    bytes: usize,
    /// Number of the latest request.
    asked: u64,
}

impl<K: Hash + Eq + Clone, V: Clone, E: Clone> SingleFlight<K, V, E> {
    /// Caches at most `kept_most` values of `kept_bytes_most` in total.
    pub(super) fn new(kept_most: usize, kept_bytes_most: usize) -> Self {
        let state = State { kept: HashMap::new(), bytes: 0, asked: 0, making: HashMap::new() };
        Self { state: Mutex::new(state), kept_most, kept_bytes_most }
    }

    /// Value of a key: cached, shared with a running computation, or computed. `bytes` returns its
    /// size.
    pub(super) async fn get<F>(
        &self,
        key: K,
        make: impl FnOnce() -> F,
        bytes: impl FnOnce(&V) -> usize,
    ) -> Result<V, E>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        let making = {
            let mut state = self.state();
            if let Some(value) = state.take(&key) {
                return Ok(value);
            }
            state.shared(&key, make)
        };
        let value = making.await?;
        let bytes = bytes(&value);
        self.keep(key, value.clone(), bytes);
        Ok(value)
    }

    fn keep(&self, key: K, value: V, bytes: usize) {
        if bytes > self.kept_bytes_most {
            return;
        }
        let mut state = self.state();
        state.prune();
        state.asked += 1;
        let asked = state.asked;
        let before = state.kept.insert(key, Kept { value, bytes, asked });
        state.bytes = state.bytes + bytes - before.map_or(0, |before| before.bytes);
        while state.kept.len() > self.kept_most || state.bytes > self.kept_bytes_most {
            state.evict();
        }
    }

    fn state(&self) -> MutexGuard<'_, State<K, V, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone, V: Clone, E: Clone> State<K, V, E> {
    fn take(&mut self, key: &K) -> Option<V> {
        self.asked += 1;
        let kept = self.kept.get_mut(key)?;
        kept.asked = self.asked;
        Some(kept.value.clone())
    }

    fn shared<F>(&mut self, key: &K, make: impl FnOnce() -> F) -> Shared<Making<V, E>>
    where
        F: Future<Output = Result<V, E>> + Send + 'static,
    {
        if let Some(shared) = self.making.get(key).and_then(WeakShared::upgrade)
            && shared.peek().is_none_or(Result::is_ok)
        {
            return shared;
        }
        self.prune();
        let shared = make().boxed().shared();
        if let Some(weak) = shared.downgrade() {
            self.making.insert(key.clone(), weak);
        }
        shared
    }

    /// Forgets computations that failed or that nothing awaits. Successful ones are about to be
    /// cached.
    fn prune(&mut self) {
        let is_wanted = |shared: Shared<Making<V, E>>| shared.peek().is_none_or(Result::is_ok);
        self.making.retain(|_, making| making.upgrade().is_some_and(is_wanted));
    }

    /// Evicts the least recently used value.
    fn evict(&mut self) {
        let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.asked).map(|(key, _)| key.clone());
        if let Some(kept) = oldest.and_then(|key| self.kept.remove(&key)) {
            self.bytes -= kept.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use futures_util::future::join;

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn those_who_ask_at_the_same_time_share_one_making() {
        block_on(async {
            let (once, count) = (SingleFlight::<u8, u32, ()>::new(2, 100), Arc::new(AtomicU32::new(0)));
            let make = || {
                let count = Arc::clone(&count);
                async move {
                    tokio::task::yield_now().await;
                    Ok(count.fetch_add(1, Ordering::Relaxed))
                }
            };
            let both = join(once.get(1, make, |_| 1), once.get(1, make, |_| 1)).await;
            assert_eq!(both, (Ok(0), Ok(0)));
            assert_eq!(once.get(1, make, |_| 1).await, Ok(0), "kept");
            assert_eq!(once.get(2, make, |_| 1).await, Ok(1));
            assert_eq!(once.get(1, make, |_| 1).await, Ok(0), "asked for last");
            assert_eq!(once.get(3, make, |_| 1).await, Ok(2));
            assert_eq!(once.get(2, make, |_| 1).await, Ok(3), "it had gone");
            assert_eq!(once.get(4, make, |_| 101).await, Ok(4));
            assert_eq!(once.get(4, make, |_| 101).await, Ok(5), "too large to be kept");
        });
    }

    #[test]
    fn a_failure_is_not_kept() {
        block_on(async {
            let once = SingleFlight::<u8, u32, u8>::new(2, 100);
            assert_eq!(once.get(1, || async { Err(7) }, |_| 1).await, Err(7));
            assert_eq!(once.get(1, || async { Ok(8) }, |_| 1).await, Ok(8));
            for key in 2..9 {
                assert_eq!(once.get(key, || async { Err(7) }, |_| 1).await, Err(7));
            }
            assert!(once.state().making.len() <= 1, "failures are forgotten");
        });
    }

    #[test]
    fn what_nothing_waits_for_is_dropped() {
        struct Dropped(Arc<AtomicU32>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        block_on(async {
            let (once, dropped) = (SingleFlight::<u8, u32, ()>::new(2, 100), Arc::new(AtomicU32::new(0)));
            let mark = Dropped(Arc::clone(&dropped));
            let endless = move || async move {
                std::future::pending::<()>().await;
                drop(mark);
                Ok(1)
            };
            let soon = std::time::Duration::from_millis(5);
            assert!(tokio::time::timeout(soon, once.get(1, endless, |_| 1)).await.is_err());
            assert_eq!(dropped.load(Ordering::Relaxed), 1);
        });
    }
}
