//! Execution of a plan.
//!
//! The pump itself does no I/O. The caller takes its [requests](Pump::next_request), returns their
//! [completions](Pump::complete) and takes whole [steps](Pump::take_step). So several pumps share
//! one world.
//!
//! Its memory is a reserve and a buffer for each window that can be in memory, as large as the
//! largest window. A window's extents are cut in turn from a whole buffer, so they always fit. The
//! buffer is whole again when the consumer has dropped all steps of its window; then the next
//! window but one is read into it. Unplanned reads use the reserve alone, so they proceed whatever
//! the consumer holds.

mod counts;
mod file;
mod memory;
mod skipped;
mod step;
mod urgent;
mod window;

pub use counts::ReadCounts;
pub use file::{Check, Mismatch, ReadFile};
pub use memory::{KeptMemory, ScanMemory};
pub use step::{Step, WantBytes};

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use nandle_io::{Completion, DeviceId, Operation, Request};

use crate::{FileId, Outstanding, Plan, PlanFile, ReadsError, Want};
use memory::WindowMemory;
use skipped::Skipped;
use urgent::Urgent;
use window::LoadedWindow;

/// Execution of a plan, without any I/O of its own. The caller takes its
/// [requests](Self::next_request), returns their [completions](Self::complete) and takes whole
/// [steps](Self::take_step).
pub struct Pump {
    plan: Arc<Plan>,
    files: Arc<[ReadFile]>,
    memory: Vec<WindowMemory>,
    /// Windows with requests sent and steps left to hand out.
    windows: VecDeque<LoadedWindow>,
    next_window: usize,
    next_read: usize,
    next_step: u32,
    /// Wants before this index are in memory.
    ready_wants: usize,
    /// Share of a full queue taken by the requests in flight.
    queue_share: f64,
    in_flight: usize,
    urgent: Urgent,
    failure: Option<ReadsError>,
    counts: ReadCounts,
    outstanding: Outstanding,
    skipped: Skipped,
    is_stopped: bool,
}

/// Token bit of urgent reads.
const URGENT: u64 = 1 << 31;
/// Lower token bits, used by the pump; the upper bits are the caller's.
pub(crate) const TOKEN_BITS: u32 = 32;

impl Pump {
    /// Takes as much of `memory` as the plan states. `files` are those of the plan, in the same
    /// order.
    ///
    /// # Errors
    /// The memory can't be allocated, the files aren't the plan's, a tail has the wrong length, or
    /// the plan has 2³¹ requests or more.
    pub fn new(plan: Arc<Plan>, files: Arc<[ReadFile]>, memory: &mut ScanMemory) -> Result<Self, ReadsError> {
        let is_planned = |(file, planned): (&ReadFile, &PlanFile)| file.plan == *planned;
        if files.len() != plan.files.len() || !files.iter().zip(&plan.files).all(is_planned) {
            return Err(ReadsError::OtherFiles { files: files.len(), planned: plan.files.len() });
        }
        for (number, file) in (0..).zip(files.iter()) {
            let expected_bytes = file.plan.length_bytes.saturating_sub(file.plan.readable_bytes);
            let got_bytes = file.tail.len() as u64;
            if got_bytes != expected_bytes {
                return Err(ReadsError::Tail { file: FileId(number), got_bytes, expected_bytes });
            }
        }
        if plan.reads().len() as u64 >= URGENT {
            return Err(ReadsError::Requests { requests: plan.reads().len(), most: URGENT });
        }
        let memory = memory.of_windows(&plan)?.into_iter().map(WindowMemory::new).collect();
        let reserve_bytes = plan.options().reserve_bytes().max(plan.prices.align_bytes());
        let urgent = Urgent::new(usize::try_from(reserve_bytes).unwrap_or(usize::MAX));
        Ok(Self {
            plan,
            files,
            memory,
            windows: VecDeque::new(),
            next_window: 0,
            next_read: 0,
            next_step: 0,
            ready_wants: 0,
            queue_share: 0.0,
            in_flight: 0,
            urgent,
            failure: None,
            counts: ReadCounts::default(),
            outstanding: Outstanding::default(),
            skipped: Skipped::default(),
            is_stopped: false,
        })
    }

    /// Returns the next request, with a token below 2³². Returns `None` while the queue or the
    /// memory is full, or if nothing is left to read.
    pub fn next_request(&mut self) -> Option<(DeviceId, Request)> {
        if self.is_stopped || self.failure.is_some() {
            return None;
        }
        if let Some((device, token, operation)) = self.urgent.next_request(&self.files) {
            self.in_flight += 1;
            self.counts.add_urgent(operation.length_bytes());
            return Some((device, Request { token: URGENT | token, operation }));
        }
        let mut read = *self.plan.reads().get(self.next_read)?;
        while self.skipped.leaves_out(&read, &self.plan) {
            self.next_read += 1;
            read = *self.plan.reads().get(self.next_read)?;
        }
        let share = 1.0 / f64::from(self.plan.depth(read.length_bytes));
        // Shares are rounded.
        if self.queue_share > 0.0 && self.queue_share + share > 1.0 + 1e-6 {
            return None;
        }
        if !self.open_window() {
            return None;
        }
        let window = self.windows.back_mut()?;
        let Some(file) = self.files.get(read.file.0 as usize) else { unreachable!("planned files exist") };
        let buffer = window.buffer(&self.plan, &read, &file.tail);
        let token = self.next_read as u64;
        self.next_read += 1;
        self.in_flight += 1;
        self.queue_share += share;
        self.counts.add(read.length_bytes, read.is_continued);
        let operation = Operation::read(file.start_bytes + read.offset_bytes, buffer);
        Some((file.device, Request { token, operation }))
    }

    /// Opens the window of the next read, if there is memory for it.
    fn open_window(&mut self) -> bool {
        let is_in = |window: &LoadedWindow| window.reads.contains(&self.next_read);
        if self.windows.back().is_some_and(is_in) {
            return true;
        }
        while let Some(window) = self.plan.windows().get(self.next_window) {
            if window.reads.contains(&self.next_read) {
                let Some(memory) = self.memory.iter_mut().find_map(WindowMemory::take) else { return false };
                self.windows.push_back(LoadedWindow::new(window, memory));
                self.next_window += 1;
                return true;
            }
            // A window without requests.
            self.next_window += 1;
        }
        false
    }

    /// Takes the completion of a request. The upper bits of its token are ignored.
    ///
    /// # Panics
    /// The pump has sent no such request.
    pub fn complete(&mut self, completion: Completion) {
        assert!(self.in_flight > 0, "a completion has a request");
        self.in_flight -= 1;
        self.outstanding.add(completion.submitted_at..completion.completed_at);
        let token = completion.token & ((1 << TOKEN_BITS) - 1);
        if token & URGENT == 0 {
            let number = usize::try_from(token).unwrap_or(usize::MAX);
            self.complete_planned(number, completion);
        } else if let Err(error) = self.urgent.complete(token & !URGENT, completion, &self.files) {
            self.fail(error);
        }
    }

    fn complete_planned(&mut self, number: usize, completion: Completion) {
        let Some(read) = self.plan.reads().get(number).copied() else {
            unreachable!("token {number} is that of a planned request")
        };
        self.queue_share -= 1.0 / f64::from(self.plan.depth(read.length_bytes));
        if self.in_flight == self.urgent.in_flight() {
            self.queue_share = 0.0; // what rounding has left
        }
        let checked = self.checked(read.file, read.offset_bytes, completion);
        match checked {
            Ok(buffer) => {
                // After a stop, no window takes it.
                if let Some(window) = self.windows.iter_mut().find(|window| window.reads.contains(&number)) {
                    window.take(&self.plan, &read, buffer);
                }
            }
            Err(error) => self.fail(error),
        }
    }

    fn checked(
        &self,
        file: FileId,
        offset_bytes: u64,
        completion: Completion,
    ) -> Result<nandle_io::BufferMut, ReadsError> {
        let Some(found) = self.files.get(file.0 as usize) else { unreachable!("planned files exist") };
        found.checked(file, offset_bytes, completion)
    }

    fn fail(&mut self, error: ReadsError) {
        self.failure.get_or_insert(error);
    }

    /// Returns the next step once all its bytes are in memory.
    ///
    /// # Errors
    /// A read failed. From then on every call fails.
    pub fn take_step(&mut self) -> Result<Option<Step>, ReadsError> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        if self.next_step >= self.plan.steps() {
            return Ok(None);
        }
        let step = self.next_step;
        let indices = self.plan.want_indices(step);
        if self.skipped.contains(step) {
            self.ready_wants = self.ready_wants.max(indices.end);
            self.pass(step);
            return Ok(Some(Step { number: step, plan: Arc::clone(&self.plan), bytes: Vec::new() }));
        }
        while self.ready_wants < indices.end {
            if !self.has_come(self.ready_wants) {
                return Ok(None);
            }
            self.ready_wants += 1;
        }
        let bytes = indices.map(|index| {
            let Some(bytes) = self.bytes_of(index) else { unreachable!("want {index} was in memory") };
            bytes
        });
        let bytes = bytes.collect();
        self.counts.wanted_bytes +=
            self.plan.wants_of(step).iter().map(|want| want.length_bytes).sum::<u64>();
        self.pass(step);
        Ok(Some(Step { number: step, plan: Arc::clone(&self.plan), bytes }))
    }

    /// Advances past a step, and drops windows without remaining steps.
    fn pass(&mut self, step: u32) {
        self.next_step = step + 1;
        while self.windows.front().is_some_and(|window| window.steps.end <= self.next_step)
            && let Some(window) = self.windows.pop_front()
        {
            // Skip requests that no remaining step needs.
            self.next_read = self.next_read.max(window.reads.end);
        }
    }

    /// Skips steps that aren't handed out yet: they come without bytes. Bytes that no other step
    /// needs aren't read, unless their read has begun.
    pub fn skip_steps(&mut self, steps: Range<u32>) {
        self.skipped.add(steps, &self.plan, self.next_step);
    }

    /// Returns a want with its extent and window. `None` if the window isn't in memory or there is
    /// no such want.
    fn want(&self, index: usize) -> Option<(&Want, Option<(u32, &LoadedWindow)>)> {
        let want = self.plan.wants.get(index)?;
        let Some(extent) = *self.plan.want_extents.get(index)? else { return Some((want, None)) };
        let window = self.windows.iter().find(|window| window.extents.contains(&(extent as usize)))?;
        Some((want, Some((extent, window))))
    }

    fn has_come(&self, index: usize) -> bool {
        self.want(index).is_some_and(|(want, from)| {
            from.is_none_or(|(extent, window)| window.has(&self.plan, want, extent))
        })
    }

    /// Returns the bytes of a want, or `None` while some are missing.
    fn bytes_of(&self, index: usize) -> Option<WantBytes> {
        let (want, from) = self.want(index)?;
        Some(match from {
            Some((extent, window)) => WantBytes::read(window.bytes(&self.plan, want, extent)?),
            None => WantBytes::tail(self.files.get(want.file.0 as usize)?.in_tail(want)),
        })
    }

    /// Starts an unplanned read, ahead of all planned ones. The returned number identifies it in
    /// [`take_urgent`](Self::take_urgent).
    ///
    /// # Errors
    /// The bytes lie beyond the end of the file, or there is no such file.
    pub fn ask_urgently(
        &mut self,
        file: FileId,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<u64, ReadsError> {
        let align_bytes = self.plan.prices.align_bytes();
        self.urgent.ask(
            &self.files,
            file,
            offset_bytes..offset_bytes.saturating_add(length_bytes),
            align_bytes,
        )
    }

    /// Returns the bytes of an urgent read once it is complete.
    ///
    /// # Errors
    /// A read failed.
    pub fn take_urgent(&mut self, number: u64) -> Result<Option<Vec<u8>>, ReadsError> {
        match (self.urgent.take(number), &self.failure) {
            (Some(bytes), _) => Ok(Some(bytes)),
            (None, Some(error)) => Err(error.clone()),
            (None, None) => Ok(None),
        }
    }

    /// Returns true if urgent reads wait to be sent.
    pub(crate) fn has_urgent(&self) -> bool {
        self.urgent.is_asked()
    }

    /// Stops sending requests. Those in flight must still be [completed](Self::complete).
    pub fn stop(&mut self) {
        self.is_stopped = true;
        self.windows.clear();
    }

    /// Requests sent and not completed.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Returns true if all steps were handed out.
    pub fn is_done(&self) -> bool {
        self.next_step >= self.plan.steps()
    }

    /// Number of the next step.
    pub fn next_step(&self) -> u32 {
        self.next_step
    }

    /// Reads counted so far.
    pub fn counts(&self) -> &ReadCounts {
        &self.counts
    }

    /// Returns the times of its completed requests since the last call.
    pub fn take_outstanding(&mut self) -> Outstanding {
        std::mem::take(&mut self.outstanding)
    }

    /// Its plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}

impl std::fmt::Debug for Pump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pump")
            .field("next_step", &self.next_step)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}
