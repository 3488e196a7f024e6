use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

use slab::Slab;

use crate::{Completion, DeviceId, Full, Io, Operation, Request};

/// Incomplete requests of all tasks.
#[derive(Default)]
pub(super) struct Requests {
    outstanding: Slab<Rc<Reaction>>,
    /// Requests waiting for a slot, in order.
    waiting: VecDeque<(DeviceId, Request)>,
}

/// State shared by a request and its future. The future may be dropped first: the world keeps the
/// buffers until the request completes, and then they are dropped with the completion.
#[derive(Default)]
pub(super) struct Reaction(RefCell<Progress>);

enum Progress {
    Waiting(Option<Waker>),
    Done(Completion),
    Taken,
}

impl Default for Progress {
    fn default() -> Self {
        Self::Waiting(None)
    }
}

impl Reaction {
    /// Takes the completion, or stores the waker.
    pub(super) fn poll(&self, waker: &Waker) -> Poll<Completion> {
        let mut progress = self.0.borrow_mut();
        match std::mem::replace(&mut *progress, Progress::Taken) {
            Progress::Done(completion) => return Poll::Ready(completion),
            Progress::Waiting(_) => *progress = Progress::Waiting(Some(waker.clone())),
            Progress::Taken => {}
        }
        Poll::Pending
    }
}

impl Requests {
    /// Submits an operation, after those that wait for a slot.
    pub(super) fn start(&mut self, io: &mut dyn Io, device: DeviceId, operation: Operation) -> Rc<Reaction> {
        let reaction = Rc::<Reaction>::default();
        let token = self.outstanding.insert(Rc::clone(&reaction)) as u64;
        let request = Request { token, operation };
        let full = if self.waiting.is_empty() { io.submit(device, request) } else { Err(Full(request)) };
        if let Err(Full(request)) = full {
            self.waiting.push_back((device, request));
        }
        reaction
    }

    /// Submits waiting requests while there are free slots.
    pub(super) fn send_waiting(&mut self, io: &mut dyn Io) {
        while let Some((device, request)) = self.waiting.pop_front() {
            if let Err(Full(request)) = io.submit(device, request) {
                self.waiting.push_front((device, request));
                return;
            }
        }
    }

    /// Stores a completion for its future; returns the waker of the waiting task.
    pub(super) fn complete(&mut self, completion: Completion) -> Option<Waker> {
        let index = usize::try_from(completion.token).ok()?;
        let reaction = self.outstanding.try_remove(index)?;
        match reaction.0.replace(Progress::Done(completion)) {
            Progress::Waiting(waker) => waker,
            Progress::Done(_) | Progress::Taken => None,
        }
    }

    pub(super) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
}
