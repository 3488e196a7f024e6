//! Threads of queries.

use std::num::NonZeroUsize;

use datafusion::common::runtime::SpawnedTask;
use tokio::runtime::{Builder, Runtime};

use crate::EngineError;

/// Stack of threads that hold statements. Statements are traversed, copied and dropped recursively;
/// the limit on their depth is chosen for this size. It is address space: only pages that were
/// touched take memory.
pub const STACK_BYTES: usize = 256 << 20;

/// A runtime that is shut down in the background: a cancelled operator notices only when it has
/// rows, which may be never.
#[derive(Debug)]
pub(crate) struct Threads(Option<Runtime>);

impl Threads {
    pub(crate) fn start(threads: NonZeroUsize) -> Result<Self, EngineError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.get())
            .thread_name("nandle-sql")
            .thread_stack_size(STACK_BYTES)
            .enable_time()
            .build()
            .map_err(EngineError::io("starting threads for", "the engine"))?;
        Ok(Self(Some(runtime)))
    }

    /// Plans in separate threads with deep stacks, which run no queries, whatever the caller's
    /// runtime. A panic becomes an error.
    pub(crate) async fn plan<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, EngineError>> + Send + 'static,
    ) -> Result<T, EngineError> {
        let task = {
            let _inside = self.enter();
            let threads = self.handle().clone();
            SpawnedTask::spawn_blocking(move || threads.block_on(work))
        };
        match task.join().await {
            Ok(done) => done,
            Err(error) if error.is_panic() => Err(EngineError::panicked(error.into_panic().as_ref())),
            Err(_) => Err(EngineError::Interrupted),
        }
    }
}

impl std::ops::Deref for Threads {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().unwrap_or_else(|| unreachable!("the runtime goes with this"))
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
