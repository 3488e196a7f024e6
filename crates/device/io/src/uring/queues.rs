//! Both queues of the ring, and the system call that makes the kernel process them.
#![allow(unsafe_code, reason = "hands entries to the kernel; each block names its invariant")]

use std::time::Duration;

use io_uring::types::{CancelBuilder, SubmitArgs, Timespec};
use io_uring::{IoUring, Submitter, cqueue, squeue};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use super::anchor::Anchor;
use super::setup::errno_of;
use super::wake::WakeEvent;
use crate::tries::Tries;
use crate::{Cause, Nanos, clock};

/// Polling interval of a ring without an anchor that can't be entered.
const LOOK: Nanos = Nanos::from_millis(1);

/// A ring until it is closed.
pub(super) struct Queues {
    ring: Option<IoUring>,
    /// `None` if the kernel registers no files. Such a ring fills its completion queue without
    /// being entered ([`set_up`](super::setup::set_up)).
    anchor: Option<Anchor>,
    /// Entries pushed so far.
    pushes: u64,
    /// Consecutive calls that neither sent nor delivered anything.
    tries: Tries,
}

impl Queues {
    pub(super) fn new(ring: IoUring, anchor: Option<Anchor>) -> Self {
        Self { ring: Some(ring), anchor, pushes: 0, tries: Tries::default() }
    }

    /// Calls on the ring other than entering it; `None` once closed.
    pub(super) fn submitter(&self) -> Option<Submitter<'_>> {
        self.ring.as_ref().map(IoUring::submitter)
    }

    #[cfg(test)]
    pub(super) fn descriptor(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(self.ring.as_ref().unwrap())
    }

    /// Returns true if the kernel has a table of files.
    pub(super) fn has_files(&self) -> bool {
        self.anchor.is_some()
    }

    /// Number of the next entry.
    pub(super) fn pushes(&self) -> u64 {
        self.pushes
    }

    /// Puts an entry into the submission queue. Returns true if it had room.
    ///
    /// # Safety
    /// The memory that the entry names must stay until its completion is collected or the queues
    /// are over.
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        let Some(ring) = &mut self.ring else { return false };
        // SAFETY: guaranteed by the caller.
        let pushed = unsafe { ring.submission().push(entry) }.is_ok();
        self.pushes += u64::from(pushed);
        pushed
    }

    /// Entries that the kernel hasn't taken yet: the most recent ones.
    pub(super) fn unsent(&mut self) -> usize {
        self.ring.as_mut().map_or(0, |ring| ring.submission().len())
    }

    /// Moves the contents of the completion queue to `into`.
    pub(super) fn collect(&mut self, into: &mut Vec<cqueue::Entry>) {
        self.ring.iter_mut().for_each(|ring| into.extend(ring.completion()));
    }

    /// Returns true if no request is to be sent and no completion needs an entering call.
    fn is_idle(&mut self) -> bool {
        self.ring.as_mut().is_none_or(|ring| {
            let queue = ring.submission();
            queue.is_empty() && !queue.taskrun() && !queue.cq_overflow()
        })
    }

    fn has_completions(&mut self) -> bool {
        self.ring.as_mut().is_some_and(|ring| !ring.completion().is_empty())
    }

    /// Sends queued entries and waits. Returns true if waiting on makes sense.
    ///
    /// # Errors
    /// [`Cause::Stopped`]: the kernel refuses the call, or defers it at every try.
    pub(super) fn enter(&mut self, completions: usize, until: Option<Nanos>) -> Result<bool, Cause> {
        if completions == 0 && self.is_idle() {
            return Ok(true);
        }
        let unsent = self.unsent();
        let Some(submitter) = self.submitter() else { return Ok(false) };
        let result = match until.filter(|_| completions > 0) {
            None => submitter.submit_and_wait(completions),
            Some(until) => {
                let left = until.since(clock::monotonic()).0;
                let nanos = u32::try_from(left % 1_000_000_000).unwrap_or(0);
                let time = Timespec::new().sec(left / 1_000_000_000).nsec(nanos);
                submitter.submit_with_args(completions, &SubmitArgs::new().timespec(&time))
            }
        };
        let errno = result.err().map(|error| errno_of(&error));
        match errno.filter(|errno| !is_passing(*errno)) {
            Some(errno) => Err(stopped(1, errno)),
            None if self.unsent() < unsent || self.has_completions() => {
                self.tries.has_progressed();
                Ok(errno.is_none())
            }
            None => self.came_to_nothing(unsent, completions, errno),
        }
    }

    /// Returns true if a caller may continue after a call that neither sent nor delivered anything.
    fn came_to_nothing(
        &mut self,
        unsent: usize,
        completions: usize,
        errno: Option<Errno>,
    ) -> Result<bool, Cause> {
        let waited = unsent == 0 && completions > 0;
        match errno {
            None if unsent == 0 && completions == 0 => return Ok(true),
            Some(Errno::INTR | Errno::TIME) if waited && self.answers() => return Ok(false),
            // A filter, not the kernel, reports success without doing anything.
            _ => {}
        }
        match self.tries.exhausted() {
            Some(tries) => Err(stopped(tries, errno.unwrap_or(Errno::AGAIN))),
            None => Ok(errno.is_none()),
        }
    }

    /// Returns true if the kernel responds: a call that neither sends nor waits succeeds. This
    /// tells a wait that a signal or deadline really ended from a wait that a filter refused.
    fn answers(&self) -> bool {
        self.submitter().is_some_and(|submitter| submitter.submit().is_ok())
    }

    /// Requests cancellation of everything that the kernel can cancel.
    pub(super) fn cancel_all(&self) {
        // Requests that aren't found are with the device.
        if let Some(submitter) = self.submitter() {
            let _ = submitter.register_sync_cancel(Some(Timespec::new()), CancelBuilder::any());
        }
    }

    /// Closes a ring that can't be entered. The kernel then cancels what it can and finishes the
    /// rest. A ring without an anchor stays, because only its completion queue shows which requests
    /// have ended.
    pub(super) fn close(&mut self) {
        if self.anchor.is_some() {
            self.ring = None;
        }
    }

    /// Returns true once the kernel has freed the ring.
    pub(super) fn are_over(&self) -> bool {
        self.ring.is_none() && self.anchor.as_ref().is_some_and(Anchor::is_released)
    }

    /// Waits until a closed ring may have changed, the event is set, or `until`. Returns true if no
    /// signal came.
    pub(super) fn pause(&self, wake: Option<&WakeEvent>, until: Option<Nanos>, is_waiting: bool) -> bool {
        let anchor = self.anchor.as_ref().filter(|_| is_waiting);
        let mut descriptors: Vec<PollFd<'_>> = Vec::with_capacity(2);
        descriptors.extend(anchor.map(|anchor| PollFd::new(anchor.descriptor(), PollFlags::IN)));
        descriptors.extend(wake.map(|wake| PollFd::new(wake.descriptor(), PollFlags::IN)));
        let now = clock::monotonic();
        let looks = is_waiting && anchor.is_none();
        let until = if looks { Some(until.map_or(now + LOOK, |until| until.min(now + LOOK))) } else { until };
        let left = until.map(|until| rustix::event::Timespec {
            tv_sec: i64::try_from(until.since(now).0 / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(until.since(now).0 % 1_000_000_000).unwrap_or(0),
        });
        match poll(&mut descriptors, left.as_ref()) {
            Ok(_) => true,
            Err(Errno::INTR) => false,
            // Refused, too: look again after an interval.
            Err(_) => {
                std::thread::sleep(Duration::from_nanos(LOOK.0));
                true
            }
        }
    }
}

/// Returns true for a signal, a deadline, or a temporary shortage: the caller retries.
fn is_passing(errno: Errno) -> bool {
    matches!(errno, Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY)
}

fn stopped(tries: u32, errno: Errno) -> Cause {
    Cause::Stopped { call: "io_uring_enter", tries, errno: errno.raw_os_error() }
}
