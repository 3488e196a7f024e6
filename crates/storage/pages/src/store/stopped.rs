//! A store that a failure has stopped.

use nandle_io::Nanos;

use super::Store;

/// How often a store that has stopped looks whether its requests have completed.
const QUIESCE_INTERVAL: Nanos = Nanos::from_micros(200);

impl Store {
    /// Whether a failure has stopped it.
    pub(crate) fn has_stopped(&self) -> bool {
        self.home.disk().check_running().is_err()
    }

    /// Runs `action` when a failure stops it.
    pub(crate) fn on_failure(&self, action: impl FnOnce() + 'static) {
        self.home.disk().on_failure(action);
    }

    /// Waits until a store that has stopped does nothing any more, and all its requests have completed.
    pub(crate) async fn quiesce(&self) {
        debug_assert!(self.has_stopped(), "a store that runs is closed");
        self.policy.stop();
        self.policy.stopped().await;
        let handle = self.home.disk().handle();
        while handle.outstanding_requests() > 0 {
            handle.sleep(QUIESCE_INTERVAL).await;
        }
    }
}
