use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use super::mailbox::{Address, Letter, Mailbox};
use super::thread::Command;
use crate::{FileId, Outstanding, Plan, ReadCounts, ReadsError, Want};

/// Steps of a scan by an [`Owner`](super::Owner): an asynchronous stream. Threads wait for the
/// [next step](Self::next_step), or iterate over [all of them](IntoIterator::into_iter).
///
/// Dropping it stops the reads.
pub struct StepStream {
    mailbox: Arc<Mailbox>,
    plan: Arc<Plan>,
    owner: Address,
    next_urgent: AtomicU64,
    has_failed: bool,
}

impl StepStream {
    pub(crate) fn new(mailbox: Arc<Mailbox>, plan: Arc<Plan>, owner: Address) -> Self {
        Self { mailbox, plan, owner, next_urgent: AtomicU64::new(0), has_failed: false }
    }

    /// Waits for the next step; `None` after the last.
    ///
    /// # Errors
    /// A read failed, or the owner has ended. No step follows an error.
    pub fn next_step(&mut self) -> Result<Option<OwnedStep>, ReadsError> {
        let taken = self.mailbox.wait();
        self.taken(taken).transpose()
    }

    /// Reads unplanned bytes ahead of all planned reads, and waits for them.
    ///
    /// # Errors
    /// They aren't in the file, a read of this scan failed, or the owner has ended.
    pub fn read_urgently(
        &self,
        file: FileId,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Vec<u8>, ReadsError> {
        self.ask_urgently(file, offset_bytes, length_bytes).wait()
    }

    /// Starts an urgent read without waiting; the future returns its bytes. Their memory isn't
    /// counted against the scan's.
    pub fn ask_urgently(&self, file: FileId, offset_bytes: u64, length_bytes: u64) -> UrgentRead<'_> {
        let number = self.next_urgent.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::clone(&self.mailbox);
        if !self.owner.tell(Command::Urgent { mailbox, number, file, offset_bytes, length_bytes }) {
            self.mailbox.end(Some(ReadsError::OwnerGone { why: "it has ended".to_owned() }));
        }
        UrgentRead { mailbox: &self.mailbox, number, is_over: false }
    }

    /// Skips steps that aren't handed out yet: they come without bytes. Bytes that no other step
    /// needs aren't read, unless their read has begun.
    pub fn skip_steps(&self, steps: Range<u32>) {
        // An owner that has ended reads nothing more anyway.
        self.owner.tell(Command::Skip { mailbox: Arc::clone(&self.mailbox), steps });
    }

    /// Returns a handle that stops the scan.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.mailbox))
    }

    /// Reads counted up to the steps handed out; complete after the last.
    pub fn counts(&self) -> ReadCounts {
        self.mailbox.counts()
    }

    /// Returns the times of its completed requests since the last call.
    pub fn take_outstanding(&self) -> Outstanding {
        self.mailbox.take_outstanding()
    }

    fn step(&mut self, letter: Letter) -> OwnedStep {
        OwnedStep { number: letter.number, plan: Arc::clone(&self.plan), bytes: letter.bytes }
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

/// Stops a scan whose stream is held elsewhere.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Mailbox>);

impl Stopper {
    /// Stops sending requests; waiting consumers receive an error. Has no effect on a completed
    /// scan.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Stream for StepStream {
    type Item = Result<OwnedStep, ReadsError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.mailbox.clone().poll(context).map(|taken| self.taken(taken))
    }
}

impl IntoIterator for StepStream {
    type Item = Result<OwnedStep, ReadsError>;
    type IntoIter = Steps;

    fn into_iter(self) -> Steps {
        Steps(self)
    }
}

/// Blocking iterator over the steps of a scan.
#[derive(Debug)]
pub struct Steps(StepStream);

impl Iterator for Steps {
    type Item = Result<OwnedStep, ReadsError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_step().transpose()
    }
}

/// Future of an urgent read. It fails if the bytes aren't in the file, a read of the scan failed,
/// or the owner has ended. Dropping it cancels the read.
#[derive(Debug)]
#[must_use = "an urgent read that is given up is read for nothing"]
pub struct UrgentRead<'a> {
    mailbox: &'a Mailbox,
    number: u64,
    is_over: bool,
}

impl UrgentRead<'_> {
    fn wait(mut self) -> Result<Vec<u8>, ReadsError> {
        let answer = self.mailbox.wait_urgent(self.number);
        self.is_over = true;
        answer
    }
}

impl Future for UrgentRead<'_> {
    type Output = Result<Vec<u8>, ReadsError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = self.mailbox.poll_urgent(self.number, context);
        self.is_over = answer.is_ready();
        answer
    }
}

impl Drop for UrgentRead<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.mailbox.forget_urgent(self.number);
        }
    }
}

impl Drop for StepStream {
    fn drop(&mut self) {
        self.mailbox.abandon();
    }
}

impl std::fmt::Debug for StepStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StepStream").field("has_failed", &self.has_failed).finish_non_exhaustive()
    }
}

/// A step with copies of its bytes. Its memory counts against the scan's until the step and all
/// bytes taken from it are dropped.
#[derive(Clone)]
pub struct OwnedStep {
    number: u32,
    plan: Arc<Plan>,
    bytes: Vec<Bytes>,
}

impl OwnedStep {
    /// Number of the step.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns its wants in the order given, each with its bytes.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&Want, &Bytes)> {
        self.plan.wants_of(self.number).iter().zip(&self.bytes)
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
