use nandle_io::{Nanos, Operation};

use super::Timing;

/// Parallel servers with one first-come, first-served queue.
pub(crate) struct Servers<F> {
    free_at: Vec<Nanos>,
    service: F,
    number: u64,
}

impl<F: FnMut(u64) -> Nanos> Servers<F> {
    /// `count` servers; `service` returns the service time of the n-th request, counted from 0.
    pub(crate) fn new(count: usize, service: F) -> Self {
        Self { free_at: vec![Nanos::ZERO; count], service, number: 0 }
    }
}

impl<F: FnMut(u64) -> Nanos> Timing for Servers<F> {
    fn done_at(&mut self, now: Nanos, _operation: &Operation, _outstanding: usize) -> Nanos {
        let first_free = self.free_at.iter_mut().min().unwrap();
        *first_free = (*first_free).max(now) + (self.service)(self.number);
        self.number += 1;
        *first_free
    }
}
