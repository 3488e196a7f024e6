use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

use slab::Slab;

use crate::{Completion, DeviceId, Full, Io, Operation, Request};

/// The requests of all tasks that have not completed.
#[derive(Default)]
pub(super) struct Requests {
    outstanding: Slab<Rc<Reaction>>,
    /// Those for which the world had no room, in the order in which they were made.
    waiting: VecDeque<(DeviceId, Request)>,
}

/// Where a request and its future meet. The future may be dropped first: the world keeps the buffers until
/// the request has completed, and then they go with the completion.
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
    /// The completion, or a promise to wake.
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
    /// Sends an operation, behind those that wait for room.
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

    /// Sends what waits for room, as far as there is room now.
    pub(super) fn send_waiting(&mut self, io: &mut dyn Io) {
        while let Some((device, request)) = self.waiting.pop_front() {
            if let Err(Full(request)) = io.submit(device, request) {
                self.waiting.push_front((device, request));
                return;
            }
        }
    }

    /// Hands a completion to its future; returns the waker of the task that waits for it.
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
