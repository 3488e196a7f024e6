//! Pairs requests with their completions.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::{Letters, Request};
use crate::Record;

/// Maximum number of requests that wait for an earlier one; devices have fewer in flight.
const WAITING_MAX: usize = 1 << 17;

/// Pairs issued requests with their completions, and returns them in order of issue. Requests are
/// identified by their letters and first byte; of two equal ones, the earlier completes first.
///
/// Each request carries a `Tag`, which the caller gets back.
#[derive(Debug)]
pub struct Pairing<Tag> {
    /// Requests that were issued and not yet returned.
    waiting: VecDeque<PendingRequest<Tag>>,
    /// Number of the first waiting request.
    first: u64,
    /// Numbers of the requests that haven't completed.
    in_flight: FxHashMap<(Letters, u64), VecDeque<u64>>,
}

#[derive(Debug)]
struct PendingRequest<Tag> {
    /// `None` if the request is excluded from the trace.
    record: Option<(Record, Tag)>,
    is_concluded: bool,
}

impl<Tag> Default for Pairing<Tag> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), first: 0, in_flight: FxHashMap::default() }
    }
}

impl<Tag> Pairing<Tag> {
    /// Records an issue.
    pub fn issue(&mut self, request: &Request, time_us: u64, tag: Tag) {
        let Request { letters, operation, address, length_bytes } = *request;
        let number = self.first + self.waiting.len() as u64;
        let record = Record { time_us, operation, address, length_bytes, latency_ns: None };
        self.waiting.push_back(PendingRequest { record: Some((record, tag)), is_concluded: false });
        self.in_flight.entry((letters, address)).or_default().push_back(number);
    }

    /// Records a requeue: the request will be issued again.
    pub fn requeue(&mut self, request: &Request) {
        if let Some(waiting) = self.conclude(request) {
            waiting.record = None;
        }
    }

    /// Records a completion. Returns true if the request had been issued.
    pub fn complete(&mut self, request: &Request, time_us: u64) -> bool {
        let Some(PendingRequest { record: Some((record, _)), .. }) = self.conclude(request) else {
            return false;
        };
        // The clocks of two processors may differ slightly.
        record.latency_ns = Some(time_us.saturating_sub(record.time_us).saturating_mul(1000));
        true
    }

    /// Handles lost events: later completions may belong to requests whose issue was lost.
    pub fn lose(&mut self) {
        self.in_flight.clear();
        self.waiting.iter_mut().for_each(|waiting| waiting.is_concluded = true);
    }

    /// Returns the next record, if it is complete or can't be completed any more.
    pub fn take_concluded(&mut self) -> Option<(Record, Tag)> {
        loop {
            let is_full = self.waiting.len() > WAITING_MAX;
            self.waiting.front().filter(|waiting| waiting.is_concluded || is_full)?;
            self.first += 1;
            // A request that was returned early is ignored when it completes.
            if let Some(PendingRequest { record: Some(record), .. }) = self.waiting.pop_front() {
                return Some(record);
            }
        }
    }

    fn conclude(&mut self, request: &Request) -> Option<&mut PendingRequest<Tag>> {
        let key = (request.letters, request.address);
        let numbers = self.in_flight.get_mut(&key)?;
        let number = numbers.pop_front();
        if numbers.is_empty() {
            self.in_flight.remove(&key);
        }
        let place = usize::try_from(number?.checked_sub(self.first)?).ok()?;
        let waiting = self.waiting.get_mut(place)?;
        waiting.is_concluded = true;
        Some(waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn write(address: u64) -> Request {
        Request { letters: Letters::new("WS"), operation: Operation::Write, address, length_bytes: 4096 }
    }

    fn all(pairing: &mut Pairing<()>) -> Vec<(u64, Option<u64>)> {
        std::iter::from_fn(|| pairing.take_concluded())
            .map(|(record, ())| (record.address, record.latency_ns))
            .collect()
    }

    #[test]
    fn requests_are_returned_in_order_of_issue_with_latencies() {
        let mut pairing = Pairing::default();
        pairing.complete(&write(9), 1);
        pairing.issue(&write(0), 10, ());
        pairing.issue(&write(4096), 12, ());
        pairing.complete(&write(4096), 20);
        assert_eq!(all(&mut pairing), [], "the first may still complete");
        pairing.complete(&write(0), 25);
        assert_eq!(all(&mut pairing), [(0, Some(15_000)), (4096, Some(8000))]);
    }

    #[test]
    fn earlier_of_two_equal_requests_completes_first() {
        let mut pairing = Pairing::default();
        pairing.issue(&write(0), 10, ());
        pairing.issue(&write(0), 13, ());
        pairing.complete(&write(0), 20);
        pairing.complete(&write(0), 21);
        assert_eq!(all(&mut pairing), [(0, Some(10_000)), (0, Some(8000))]);
        let read = Request { letters: Letters::new("R"), operation: Operation::Read, ..write(0) };
        pairing.issue(&write(0), 30, ());
        pairing.complete(&read, 31);
        assert_eq!(all(&mut pairing), [], "a read doesn't complete a write");
    }

    #[test]
    fn requeued_request_is_returned_once() {
        let mut pairing = Pairing::default();
        pairing.issue(&write(0), 10, ());
        pairing.requeue(&write(0));
        pairing.issue(&write(4096), 11, ());
        pairing.issue(&write(0), 12, ());
        pairing.complete(&write(4096), 13);
        pairing.complete(&write(0), 14);
        assert_eq!(all(&mut pairing), [(4096, Some(2000)), (0, Some(2000))]);
    }

    #[test]
    fn completion_after_a_loss_matches_no_older_request() {
        let mut pairing = Pairing::default();
        pairing.issue(&write(0), 10, ());
        pairing.lose();
        pairing.issue(&write(0), 500, ());
        pairing.complete(&write(0), 510);
        assert_eq!(all(&mut pairing), [(0, None), (0, Some(10_000))]);
    }

    #[test]
    fn request_that_never_completes_delays_a_bounded_number() {
        let mut pairing = Pairing::default();
        pairing.issue(&write(1 << 40), 1, ());
        let mut handed_out = Vec::new();
        for number in 0..2 * WAITING_MAX as u64 {
            pairing.issue(&write(number * 4096), number, ());
            pairing.complete(&write(number * 4096), number + 1);
            handed_out.extend(all(&mut pairing));
            assert!(pairing.waiting.len() <= WAITING_MAX);
        }
        assert_eq!(handed_out[0], (1 << 40, None));
        assert_eq!(handed_out[1], (0, Some(1000)));
        pairing.complete(&write(1 << 40), 9);
        assert_eq!(handed_out.len(), 2 * WAITING_MAX + 1);
    }
}
