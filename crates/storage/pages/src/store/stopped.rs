//! Stores stopped by a failure.

use nandle_io::Nanos;

use super::Store;

/// Interval at which a stopped store checks for outstanding requests.
const QUIESCE_INTERVAL: Nanos = Nanos::from_micros(200);

impl Store {
    /// Returns true if a failure has stopped the store.
    pub(crate) fn has_stopped(&self) -> bool {
        self.home.disk().check_running().is_err()
    }

    /// Runs `action` when a failure stops the store.
    pub(crate) fn on_failure(&self, action: impl FnOnce() + 'static) {
        self.home.disk().on_failure(action);
    }

    /// Waits until a stopped store has no tasks or requests left.
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
