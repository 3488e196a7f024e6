use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Waker;
use crate::io::Wake;

/// Wake-up flag of the arrays. The inner world's wake-up alone would be lost if it arrived together
/// with completions that complete no array's request.
#[derive(Debug)]
pub(super) struct ArrayWake {
    woken: AtomicBool,
    inner: Waker,
}

impl ArrayWake {
    pub(super) fn new(inner: Waker) -> Arc<Self> {
        Arc::new(Self { woken: AtomicBool::new(false), inner })
    }

    pub(super) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::Acquire)
    }

    pub(super) fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
}

impl Wake for ArrayWake {
    fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.inner.wake();
    }
}
