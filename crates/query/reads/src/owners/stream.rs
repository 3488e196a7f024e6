use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use nandle_io::Waker;

use super::mailbox::{Letter, Mailbox};
use super::thread::Command;
use crate::{FileId, Plan, ReadCounts, ReadsError, Want};

/// The steps of a scan that an [`Owner`](super::Owner) carries out: a stream for asynchronous engines, and an iterator for threads.
///
/// Dropping it stops the reads.
pub struct StepStream {
    mailbox: Arc<Mailbox>,
    plan: Arc<Plan>,
    commands: Sender<Command>,
    waker: Option<Waker>,
    next_urgent: AtomicU64,
    has_failed: bool,
}

impl StepStream {
    pub(crate) fn new(
        mailbox: Arc<Mailbox>,
        plan: Arc<Plan>,
        commands: Sender<Command>,
        waker: Option<Waker>,
    ) -> Self {
        Self { mailbox, plan, commands, waker, next_urgent: AtomicU64::new(0), has_failed: false }
    }

    /// Bytes that no plan foresaw, read before anything that is planned; waits for them.
    ///
    /// # Errors
    /// They aren't in the file, a read of this scan failed, or the owner is gone.
    pub fn read_urgently(
        &self,
        file: FileId,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Vec<u8>, ReadsError> {
        let number = self.next_urgent.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::clone(&self.mailbox);
        self.tell(Command::Urgent { mailbox, number, file, offset_bytes, length_bytes });
        self.mailbox.wait_urgent(number)
    }

    /// What was read so far: what has come with the steps, and all of it after the last.
    pub fn counts(&self) -> ReadCounts {
        self.mailbox.counts()
    }

    fn tell(&self, command: Command) {
        if self.commands.send(command).is_err() {
            self.mailbox.end(Some(ReadsError::OwnerGone { why: "it has ended".to_owned() }));
        }
        self.wake();
    }

    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }

    fn step(&mut self, letter: Letter) -> OwnedStep {
        let held = Held {
            length_bytes: letter.length_bytes(),
            mailbox: Arc::clone(&self.mailbox),
            commands: self.commands.clone(),
            waker: self.waker.clone(),
        };
        OwnedStep {
            number: letter.number,
            plan: Arc::clone(&self.plan),
            bytes: letter.bytes,
            _held: Arc::new(held),
        }
    }

    fn taken(&mut self, taken: Option<Result<Letter, ReadsError>>) -> Option<Result<OwnedStep, ReadsError>> {
        if self.has_failed {
            return None;
        }
        let result = taken?.map(|letter| self.step(letter));
        self.has_failed = result.is_err();
        Some(result)
    }
}

impl Stream for StepStream {
    type Item = Result<OwnedStep, ReadsError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.mailbox.clone().poll(context).map(|taken| self.taken(taken))
    }
}

impl Iterator for StepStream {
    type Item = Result<OwnedStep, ReadsError>;

    fn next(&mut self) -> Option<Self::Item> {
        let taken = self.mailbox.wait();
        self.taken(taken)
    }
}

impl Drop for StepStream {
    fn drop(&mut self) {
        self.mailbox.abandon();
        // The owner looks for abandoned scans when it hears anything.
        let _ = self.commands.send(Command::Look);
        self.wake();
    }
}

impl std::fmt::Debug for StepStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepStream").field("has_failed", &self.has_failed).finish_non_exhaustive()
    }
}

/// All that a step needs, copied. It counts against the scan's memory until it is dropped.
#[derive(Clone)]
pub struct OwnedStep {
    number: u32,
    plan: Arc<Plan>,
    bytes: Vec<Bytes>,
    _held: Arc<Held>,
}

impl OwnedStep {
    /// Its number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Its wants in the order in which they were given, each with its bytes.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&Want, &Bytes)> {
        self.plan.wants_of(self.number).iter().zip(&self.bytes)
    }
}

struct Held {
    length_bytes: u64,
    mailbox: Arc<Mailbox>,
    commands: Sender<Command>,
    waker: Option<Waker>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.mailbox.give_back(self.length_bytes);
        // An owner that is gone has no use for the room.
        let _ = self.commands.send(Command::Look);
        if let Some(waker) = &self.waker {
            waker.wake();
        }
    }
}

impl std::fmt::Debug for OwnedStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnedStep")
            .field("number", &self.number)
            .field("wants", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
