//! Stop of a ring with requests in flight, after the kernel refuses to enter it.

use super::Uring;
use crate::{Cause, Completion, Wait, clock};

impl Uring {
    /// Stops the ring. Requests that the kernel hasn't taken fail at once, the others once it has
    /// released their memory.
    pub(super) fn stop(&mut self, cause: Cause) {
        self.note(Some(cause.to_string()));
        self.stopped = Some(cause);
        let mut completed = Vec::new();
        self.collect(&mut completed);
        self.served.hand_back(completed);
        let sent = self.queues.pushes() - self.queues.unsent() as u64;
        self.fail(|push| push >= sent);
        self.queues.close();
    }

    /// Fails the requests whose entry numbers match.
    fn fail(&mut self, is_one: impl Fn(u64) -> bool) {
        let Some(cause) = self.stopped.clone() else { return };
        let now = clock::monotonic();
        for index in self.served.slots.numbers(|in_flight| is_one(in_flight.extra.push)) {
            if let Some(in_flight) = self.served.slots.remove(index) {
                self.served.fail(in_flight, cause.clone(), now);
            }
        }
    }

    /// Collects completions until `into` has `wait.completions`.
    pub(super) fn reap_stopped(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let waits = into.len() < wait.completions;
        loop {
            self.collect(into);
            if self.served.slots.in_use() > 0 && self.queues.are_over() {
                self.fail(|_| true);
            }
            self.served.reap_refused(into);
            let is_over = into.len() >= wait.completions || self.is_woken(waits);
            if is_over || wait.until.is_some_and(|until| clock::monotonic() >= until) {
                return;
            }
            let is_waiting = self.served.slots.in_use() > 0;
            if !self.queues.pause(self.wake.as_deref(), wait.until, is_waiting) {
                return;
            }
        }
    }

    /// Returns true if a wake-up ends this wait. A call that doesn't wait leaves it for the next
    /// one.
    fn is_woken(&mut self, waits: bool) -> bool {
        if !waits {
            return false;
        }
        let is_set = self.wake.as_ref().is_some_and(|wake| wake.clear());
        std::mem::take(&mut self.woken) || is_set
    }
}
