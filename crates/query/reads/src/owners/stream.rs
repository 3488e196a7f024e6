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

/// The steps of a scan that an [`Owner`](super::Owner) carries out: a stream for asynchronous engines; threads wait for the
/// [next step](Self::next_step), or take [all of them](IntoIterator::into_iter).
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

    /// The next step, waited for; `None` after the last.
    ///
    /// # Errors
    /// A read failed, or the owner is gone; after that there is no step any more.
    pub fn next_step(&mut self) -> Result<Option<OwnedStep>, ReadsError> {
        let taken = self.mailbox.wait();
        self.taken(taken).transpose()
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
        self.ask_urgently(file, offset_bytes, length_bytes).wait()
    }

    /// The same without waiting: they come by the future. Memory of answers is as much as was asked for, and is the asker's.
    pub fn ask_urgently(&self, file: FileId, offset_bytes: u64, length_bytes: u64) -> UrgentRead<'_> {
        let number = self.next_urgent.fetch_add(1, Ordering::Relaxed);
        let mailbox = Arc::clone(&self.mailbox);
        if !self.owner.tell(Command::Urgent { mailbox, number, file, offset_bytes, length_bytes }) {
            self.mailbox.end(Some(ReadsError::OwnerGone { why: "it has ended".to_owned() }));
        }
        UrgentRead { mailbox: &self.mailbox, number, is_over: false }
    }

    /// Steps come without their bytes from now on, as far as they aren't on their way; what only they want is read no more, unless reading it has
    /// begun.
    pub fn skip_steps(&self, steps: Range<u32>) {
        // An owner that is gone reads nothing more anyway.
        self.owner.tell(Command::Skip { mailbox: Arc::clone(&self.mailbox), steps });
    }

    /// Stops it from elsewhere.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.mailbox))
    }

    /// What was read so far: what has come with the steps, and all of it after the last.
    pub fn counts(&self) -> ReadCounts {
        self.mailbox.counts()
    }

    /// When its requests were outstanding, as far as they are complete, since this was asked the last time.
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

/// Stops a scan whose stream is in other hands, which may be busy.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Mailbox>);

impl Stopper {
    /// Sends no more requests of the scan; what waits for its steps has an error. Of one that is over nothing is left to stop.
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

/// A scan's steps for a thread that waits for each.
#[derive(Debug)]
pub struct Steps(StepStream);

impl Iterator for Steps {
    type Item = Result<OwnedStep, ReadsError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_step().transpose()
    }
}

/// An urgent read on its way. It gives an error where the bytes aren't in the file, a read of its scan failed, or the owner is gone. Of
/// one that is dropped before it has come nothing is kept.
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

/// All that a step needs, copied. It counts against the scan's memory until it is dropped, with all bytes that were taken from it.
#[derive(Clone)]
pub struct OwnedStep {
    number: u32,
    plan: Arc<Plan>,
    bytes: Vec<Bytes>,
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

impl std::fmt::Debug for OwnedStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OwnedStep")
            .field("number", &self.number)
            .field("wants", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
