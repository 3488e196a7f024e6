//! The threads that queries compute in.

use std::num::NonZeroUsize;

use tokio::runtime::{Builder, Runtime};

use crate::EngineError;

/// The stack of threads that hold statements. What lies in one another in a statement is walked through, copied and dropped by functions that
/// call themselves, and how deep that goes is bounded for stacks of this size. It is address space: memory is what was once in use of it.
pub const STACK_BYTES: usize = 256 << 20;

/// A runtime whose end isn't waited for: an operator that was told to end looks up only when it has rows, which may be never.
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
