//! The ring itself.
#![allow(unsafe_code, reason = "hands entries to the kernel; each block names its invariant")]

use std::marker::PhantomData;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;

use io_uring::{cqueue, squeue};
use rustix::io::Errno;

use super::arenas::Arenas;
use super::entry::{self, FileHandle, Progress};
use super::queues::Queues;
use super::setup::{self, FILES_MAX, Setup, SetupError};
use super::wake::WakeEvent;
use crate::file::DeviceFile;
use crate::io::Wake;
use crate::served::Served;
use crate::slots::{InFlight, Slots};
use crate::{
    Arena, Backend, Cause, Completion, Device, DeviceId, Full, Io, IoError, Nanos, Operation, Request, Wait,
    Waker, clock,
};

/// User data of the wake-up poll; slots have small numbers.
const WAKE: u64 = u64::MAX;
/// Maximum number of polls of the wake-up event, and of completions that one call waits for in a
/// world with a waker.
const WAKE_POLLS_MAX: usize = 64;
/// Time for which a dropped world waits for requests in flight before it leaks their memory.
const DRAIN: Nanos = Nanos::from_secs(2);
/// World of files and block devices behind one `io_uring`.
pub struct Uring {
    pub(super) queues: Queues,
    pub(super) served: Served<Progress>,
    /// Reason for which the kernel refuses to enter the ring.
    pub(super) stopped: Option<Cause>,
    /// Handles, indexed by device number.
    handles: Vec<FileHandle>,
    /// Scratch space for completion queue entries.
    entries: Vec<cqueue::Entry>,
    arenas: Arenas,
    wake_event: Arc<WakeEvent>,
    /// Event that other threads set; `None` until a waker exists.
    pub(super) wake: Option<Arc<WakeEvent>>,
    /// Polls of the event in the ring.
    wake_polls: usize,
    /// True after a wake-up that hasn't ended a wait yet.
    pub(super) woken: bool,
    backend: Backend,
    /// `SINGLE_ISSUER` binds the ring to the thread that created it.
    _not_send: PhantomData<*const ()>,
}

impl Uring {
    /// Creates a world with room for `slots` requests in flight.
    ///
    /// # Errors
    /// The system refuses `io_uring`, or the kernel is older than Linux 5.11.
    pub fn new(slots: u32) -> Result<Self, SetupError> {
        let Setup { ring, features, stepped_down, anchor, registered_arenas } = setup::set_up(slots)?;
        let wake_event = WakeEvent::new().map_err(|errno| SetupError::NoWakeEvent { errno })?;
        let slots = slots.clamp(1, ring.params().sq_entries().saturating_sub(1).max(1));
        Ok(Self {
            queues: Queues::new(ring, anchor),
            stopped: None,
            served: Served::new(slots),
            handles: Vec::new(),
            entries: Vec::new(),
            arenas: Arenas::new(registered_arenas),
            wake_event,
            wake: None,
            wake_polls: 0,
            woken: false,
            backend: Backend { name: "io_uring", features, stepped_down },
            _not_send: PhantomData,
        })
    }

    /// Adds a file or a block device.
    pub fn add(&mut self, file: Arc<DeviceFile>) -> Device {
        let DeviceId(index) = self.served.next_id();
        let descriptor = file.file().as_raw_fd();
        let registered = self.queues.has_files() && self.register_file(index, descriptor);
        let number = if registered { index.cast_signed() } else { descriptor };
        let mut flags = squeue::Flags::empty();
        flags.set(squeue::Flags::FIXED_FILE, registered);
        if file.blocks_submission() {
            flags |= squeue::Flags::ASYNC;
            self.allow_workers();
        }
        let calls = file.durable_calls();
        self.note(calls.stepped_down());
        self.handles.push(FileHandle { number, flags, calls });
        self.served.add(file)
    }

    /// Allows as many kernel workers as requests; by default there are four per processor.
    fn allow_workers(&mut self) {
        let workers = u32::try_from(self.served.slots.capacity()).unwrap_or(u32::MAX);
        let Some(submitter) = self.queues.submitter() else { return };
        if let Err(error) = submitter.register_iowq_max_workers(&mut [workers, 0]) {
            self.backend.stepped_down.push(format!("not as many workers as requests: {error}"));
        }
    }

    /// Puts a file into the ring's table. A file without a place is used by its descriptor, and
    /// that is noted.
    fn register_file(&mut self, index: u32, descriptor: RawFd) -> bool {
        let refusal = match self.queues.submitter() {
            _ if index >= FILES_MAX => Some(format!("a ring registers {FILES_MAX} files")),
            None => Some("the ring is closed".to_owned()),
            Some(submitter) => {
                let updated = submitter.register_files_update(index, &[descriptor]);
                updated.err().map(|error| error.to_string())
            }
        };
        let is_registered = refusal.is_none();
        let note = refusal.map(|why| format!("not all files registered: {why}"));
        self.note(note);
        is_registered
    }

    /// Notes an unavailable feature once.
    pub(super) fn note(&mut self, what: Option<impl Into<String>>) {
        let what = what.map(Into::into);
        self.backend.stepped_down.extend(what.filter(|note| !self.backend.stepped_down.contains(note)));
    }

    #[cfg(test)]
    pub(super) fn descriptor(&self) -> RawFd {
        self.queues.descriptor()
    }

    /// Adds any descriptor as the next device.
    #[cfg(test)]
    pub(super) fn add_raw(&mut self, descriptor: i32, device: Device) {
        self.handles.push(FileHandle::unregistered(descriptor));
        self.served.add_device(device);
    }

    /// Takes the request into a slot and into the submission queue.
    fn take(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        let now = clock::monotonic();
        let file = self.handles.get(device.0 as usize).copied();
        let arena_index = self.arenas.index_of(&request.operation);
        let progress = Progress::new(file.unwrap_or(FileHandle::unregistered(-1)), arena_index);
        let in_flight = InFlight::new(device, request, now, progress);
        let refusal = self.served.refusal(device, &in_flight.operation);
        if let Some(cause) = refusal.or_else(|| self.stopped.clone()) {
            self.served.refuse(in_flight, cause);
        } else {
            let full = |back: InFlight<_>| Full(Request { token: back.token, operation: back.operation });
            let index = self.served.slots.insert(in_flight).map_err(full)?;
            self.push(index);
        }
        Ok(())
    }

    /// Pushes the entry of a slot; the submission queue has room for every slot.
    fn push(&mut self, index: u32) {
        let push = self.queues.pushes();
        let Some(in_flight) = self.served.slots.get_mut(index) else { return };
        in_flight.extra.push = push;
        let entry = entry::build(in_flight).user_data(u64::from(index));
        self.push_entry(&entry);
    }

    fn push_entry(&mut self, entry: &squeue::Entry) {
        while self.stopped.is_none() {
            // SAFETY: the slot owns the entry's buffers and lists, and doesn't change until the
            // completion is reaped or the queues are over. A ring dropped earlier leaks its slots
            // (`drop`). The wake-up poll has no memory.
            if unsafe { self.queues.push(entry) } {
                return;
            }
            self.enter(0, None);
        }
    }

    /// Sends queued entries and waits. Returns true if waiting on makes sense.
    fn enter(&mut self, completions: usize, until: Option<Nanos>) -> bool {
        match self.queues.enter(completions, until) {
            Ok(uninterrupted) => uninterrupted,
            Err(cause) => {
                self.stop(cause);
                false
            }
        }
    }

    /// Moves the contents of the completion queue to `into`.
    pub(super) fn collect(&mut self, into: &mut Vec<Completion>) {
        let mut entries = std::mem::take(&mut self.entries);
        self.queues.collect(&mut entries);
        let now = if entries.is_empty() { Nanos::ZERO } else { clock::monotonic() };
        let polls = self.wake_polls;
        for entry in entries.drain(..) {
            if entry.user_data() == WAKE {
                self.wake_polls = self.wake_polls.saturating_sub(1);
            } else {
                self.complete(&entry, now, into);
            }
        }
        self.entries = entries;
        if self.wake_polls < polls {
            self.woken = true;
            self.wake.iter().for_each(|wake| _ = wake.clear());
        }
    }

    /// Returns the completion of a request, unless its rest was submitted again.
    fn complete(&mut self, entry: &cqueue::Entry, now: Nanos, into: &mut Vec<Completion>) {
        let index = u32::try_from(entry.user_data()).unwrap_or(u32::MAX);
        if let Some(result) = self.outcome(index, entry.result())
            && let Some(in_flight) = self.served.slots.remove(index)
        {
            let result = result.map_err(|cause| IoError::new(&in_flight.operation, cause));
            into.push(in_flight.complete(now, result));
        }
    }

    /// Result of a completion for its request; `None` if the rest was submitted again.
    fn outcome(&mut self, index: u32, result: i32) -> Option<Result<(), Cause>> {
        let in_flight = self.served.slots.get_mut(index)?;
        let length = match &in_flight.operation {
            Operation::Read { .. } | Operation::Write { .. } => in_flight.operation.length_bytes(),
            Operation::Flush | Operation::Discard { .. } => 0,
        };
        let progress = &mut in_flight.extra;
        match u64::try_from(result) {
            Err(_) => {
                if let Err(cause) = progress.tries.again(Errno::from_raw_os_error(-result)) {
                    return Some(Err(cause));
                }
            }
            Ok(_) if progress.is_syncing => return Some(Ok(())),
            Ok(moved) if progress.moved_bytes + moved >= length => {
                if !progress.begins_to_sync(&in_flight.operation) {
                    return Some(Ok(()));
                }
            }
            Ok(0) => return Some(Err(Cause::Short { moved_bytes: progress.moved_bytes })),
            Ok(moved) => {
                progress.tries.has_progressed();
                progress.moved_bytes += moved;
            }
        }
        // The rest can't be sent.
        if let Some(cause) = &self.stopped {
            return Some(Err(cause.clone()));
        }
        self.push(index);
        None
    }

    /// Arms enough polls for a wake-up to end a wait for `completions`: to the kernel a wake-up
    /// counts as one completion per poll.
    fn arm_wake(&mut self, completions: usize) {
        let Some(wake) = self.wake.clone() else { return };
        while self.wake_polls < completions && self.stopped.is_none() {
            self.push_entry(&wake.poll_entry(WAKE));
            self.wake_polls += 1;
        }
    }
}

impl Io for Uring {
    crate::forward_io!(served: devices in_flight slots now cpu_time timer_slack);

    /// No effect: real work takes real time.
    fn charge_cpu(&mut self, _span: Nanos) {}

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.slots() {
            return Err(Full(request));
        }
        self.take(device, request)
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight(), self.wake.is_some());
        self.served.reap_refused(into);
        let waits = into.len() < enough;
        while self.stopped.is_none() {
            let missing = match enough.saturating_sub(into.len()) {
                _ if self.woken => 0,
                missing if self.wake.is_some() => missing.min(WAKE_POLLS_MAX),
                missing => missing,
            };
            self.arm_wake(missing);
            let had = into.len();
            let uninterrupted = self.enter(missing, wait.until);
            self.collect(into);
            let woken = waits && std::mem::take(&mut self.woken);
            // The kernel doesn't report that a signal or the deadline ended the wait if the same
            // call sent entries or found completions; there are just fewer completions than
            // requested. (With unsent entries that may have another reason.)
            let all_sent = self.queues.unsent() == 0;
            let ended_early = into.len() < had + missing && all_sent;
            let satisfied = into.len() >= enough && all_sent;
            if self.stopped.is_none() && (satisfied || woken || ended_early || !uninterrupted) {
                return;
            }
        }
        self.reap_stopped(Wait { completions: enough, ..wait }, into);
    }

    fn waker(&mut self) -> Option<Waker> {
        self.wake = Some(Arc::clone(&self.wake_event));
        Some(Waker::new(Arc::clone(&self.wake_event) as Arc<dyn Wake>))
    }

    fn register(&mut self, arena: &Arena) -> usize {
        let Some(submitter) = self.queues.submitter() else { return 0 };
        let (bytes, shortfall) = self.arenas.register(&submitter, arena.region());
        self.backend.stepped_down.extend(shortfall);
        bytes
    }

    fn backend(&self) -> Backend {
        self.backend.clone()
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        if self.served.slots.in_use() == 0 {
            return;
        }
        // Most requests can't be cancelled once the device has them, but some may still wait in the
        // ring.
        self.queues.cancel_all();
        let until = clock::monotonic() + DRAIN;
        let mut completions = Vec::new();
        while self.served.slots.in_use() > 0 && clock::monotonic() < until {
            let all = Wait { completions: completions.len() + self.in_flight(), until: Some(until) };
            if self.stopped.is_some() {
                self.reap_stopped(all, &mut completions);
            } else {
                self.enter(self.served.slots.in_use(), all.until);
                self.collect(&mut completions);
            }
        }
        if self.served.slots.in_use() > 0 {
            // The device or the kernel doesn't respond and may write to this memory at any time.
            std::mem::forget(std::mem::replace(&mut self.served.slots, Slots::new(0)));
        }
    }
}
