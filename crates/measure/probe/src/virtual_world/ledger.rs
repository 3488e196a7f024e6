use std::cell::RefCell;
use std::rc::Rc;

use nandle_io::{Nanos, Operation};

/// Record of the requests that a fake device received. A clone shares the same record.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Rc<RefCell<Book>>);

#[derive(Debug, Default)]
struct Book {
    asked_bytes: u64,
    outstanding_bytes: u64,
    outstanding_bytes_max: u64,
    offsets: Vec<u64>,
    submitted_at: Vec<Nanos>,
    /// Spans of time, in order, with the number of requests outstanding in each.
    spans: Vec<(Nanos, usize)>,
}

impl Ledger {
    /// Records a submitted request.
    pub(super) fn asked(&self, now: Nanos, operation: &Operation) {
        let mut book = self.0.borrow_mut();
        book.asked_bytes += operation.length_bytes();
        book.outstanding_bytes += operation.length_bytes();
        book.outstanding_bytes_max = book.outstanding_bytes_max.max(book.outstanding_bytes);
        book.offsets.push(operation.offset_bytes());
        book.submitted_at.push(now);
    }

    /// Records a successful completion.
    pub(super) fn answered(&self, operation: &Operation) {
        self.0.borrow_mut().outstanding_bytes -= operation.length_bytes();
    }

    pub(super) fn passed(&self, span: Nanos, outstanding: usize) {
        self.0.borrow_mut().spans.push((span, outstanding));
    }

    pub(crate) fn asked_bytes(&self) -> u64 {
        self.0.borrow().asked_bytes
    }

    /// Largest number of bytes outstanding at one time.
    pub(crate) fn outstanding_bytes_max(&self) -> u64 {
        self.0.borrow().outstanding_bytes_max
    }

    pub(crate) fn offsets(&self) -> Vec<u64> {
        self.0.borrow().offsets.clone()
    }

    pub(crate) fn submitted_at(&self) -> Vec<Nanos> {
        self.0.borrow().submitted_at.clone()
    }

    /// Numbers of requests outstanding in each span until `until`, in order.
    pub(crate) fn outstanding_until(&self, until: Nanos) -> Vec<usize> {
        let mut at = Nanos::ZERO;
        let before = |(span, outstanding): &(Nanos, usize)| {
            at += *span;
            (at <= until).then_some(*outstanding)
        };
        self.0.borrow().spans.iter().map_while(before).collect()
    }

    /// Requests outstanding, integrated over time (request × nanosecond).
    pub(crate) fn area_ns(&self) -> f64 {
        self.0.borrow().spans.iter().map(|(span, outstanding)| span.0 as f64 * *outstanding as f64).sum()
    }
}
