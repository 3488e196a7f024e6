use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::{Nanos, Waker};

/// Wakes a world at a fixed interval until dropped, so that a loop of waits without deadline still
/// runs now and then. Cheaper than a deadline for each wait, which costs a kernel timer every time.
#[derive(Debug)]
pub struct Heartbeat {
    ended: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts the heartbeat.
    ///
    /// # Errors
    /// Fails if the system refuses another thread.
    pub fn start(waker: Waker, interval: Nanos) -> std::io::Result<Self> {
        let ended = Arc::new((Mutex::new(false), Condvar::new()));
        let shared = Arc::clone(&ended);
        let thread = std::thread::Builder::new()
            .name("nandle-beat".into())
            .spawn(move || beat(&shared, &waker, Duration::from(interval)))?;
        Ok(Self { ended, thread: Some(thread) })
    }
}

fn beat((ended, changed): &(Mutex<bool>, Condvar), waker: &Waker, interval: Duration) {
    let mut over = ended.lock().unwrap_or_else(PoisonError::into_inner);
    while !*over {
        over = changed.wait_timeout(over, interval).unwrap_or_else(PoisonError::into_inner).0;
        waker.wake();
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let (ended, changed) = &*self.ended;
        *ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread only waits and wakes; it has no panic to pass on.
            let _ = thread.join();
        }
    }
}
