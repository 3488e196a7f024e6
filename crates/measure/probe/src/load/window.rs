//! Amount moved in a window of a run. A request in flight at an end of the window counts in part,
//! as if it transferred data evenly from submission to completion. Counting whole requests would be
//! off by up to one request: 12 % too much in one slice of sequential 1 MiB at depth 8 over a link
//! that was never idle.

use std::collections::VecDeque;

use nandle_io::Nanos;

/// Number of recent latencies kept. Older ones don't improve the forecast.
const KEPT: usize = 1024;

/// Amount moved between two times.
#[derive(Debug)]
pub(super) struct Window {
    from: Nanos,
    /// Amount moved by completed requests, in requests.
    completed: f64,
    /// Most recent latencies, in nanoseconds.
    latencies_ns: VecDeque<u64>,
    /// Submission times of the requests in flight when the window closed.
    under_way: Vec<Nanos>,
}

impl Window {
    pub(super) fn new(from: Nanos) -> Self {
        Self { from, completed: 0.0, latencies_ns: VecDeque::new(), under_way: Vec::new() }
    }

    /// Counts a request that completed within the window.
    pub(super) fn complete(&mut self, submitted_at: Nanos, completed_at: Nanos) {
        debug_assert!(completed_at > self.from, "completions at the opening time belong before the window");
        let latency = completed_at.since(submitted_at);
        self.completed += part(completed_at.since(submitted_at.max(self.from)), latency);
        if self.latencies_ns.len() == KEPT {
            self.latencies_ns.pop_front();
        }
        self.latencies_ns.push_back(latency.0);
    }

    /// Records a request that completed after the window closed.
    pub(super) fn outlast(&mut self, submitted_at: Nanos) {
        self.under_way.push(submitted_at);
    }

    /// Requests moved until `closed_at`. The remaining time of requests in flight is estimated from
    /// earlier latencies. Their actual completions are biased, as no further requests follow:
    /// faster on most devices, slower on a disk, which has fewer requests to reorder.
    pub(super) fn moved(&self, closed_at: Nanos) -> f64 {
        let begun = self.under_way.iter().filter(|submitted_at| **submitted_at < closed_at);
        self.completed + begun.map(|submitted_at| self.part_until(*submitted_at, closed_at)).sum::<f64>()
    }

    fn part_until(&self, submitted_at: Nanos, closed_at: Nanos) -> f64 {
        let (age, inside) = (closed_at.since(submitted_at), closed_at.since(submitted_at.max(self.from)));
        let longer = || self.latencies_ns.iter().filter(|latency_ns| **latency_ns > age.0);
        match longer().count() {
            // Older than any recorded latency, so nearly done.
            0 => part(inside, age),
            count => longer().map(|latency_ns| part(inside, Nanos(*latency_ns))).sum::<f64>() / count as f64,
        }
    }
}

fn part(inside: Nanos, whole: Nanos) -> f64 {
    debug_assert!(inside <= whole, "a part does not exceed the whole");
    if whole == Nanos::ZERO { 1.0 } else { inside.0 as f64 / whole.0 as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_both_ends_count_in_part() {
        let mut window = Window::new(Nanos(100));
        window.complete(Nanos(60), Nanos(160));
        window.complete(Nanos(100), Nanos(200));
        window.outlast(Nanos(160));
        window.outlast(Nanos(200));
        assert!((window.moved(Nanos(200)) - (0.6 + 1.0 + 0.4)).abs() < 1e-12);
    }

    #[test]
    fn an_unusually_old_request_is_nearly_done() {
        let mut window = Window::new(Nanos(0));
        window.complete(Nanos(0), Nanos(10));
        window.outlast(Nanos(20));
        assert!((window.moved(Nanos(50)) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_request_longer_than_the_window_counts_for_its_time() {
        let mut window = Window::new(Nanos(100));
        window.complete(Nanos(60), Nanos(160));
        window.outlast(Nanos(90));
        assert!((window.moved(Nanos(180)) - (0.6 + 0.8)).abs() < 1e-12);
    }
}
