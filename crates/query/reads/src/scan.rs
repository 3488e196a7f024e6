use std::sync::Arc;

use nandle_io::{Completion, DeviceId, Io, Request, Wait};

use crate::pump::{Pump, ReadCounts, ReadFile, ScanMemory, Step};
use crate::{FileId, Plan, ReadsError};

/// Execution of a plan by the consuming thread. It has the world to itself.
///
/// Dropping it stops sending requests, and waits for those in flight.
pub struct Scan<'io> {
    io: &'io mut dyn Io,
    pump: Pump,
    /// A request that the world had no room for.
    refused: Option<(DeviceId, Request)>,
    /// Requests submitted since the last reap; the world may not have sent them yet.
    unsent: usize,
    completions: Vec<Completion>,
}

/// While a consumer works on a step, at most 1 / `UNSENT_PART` of the requests in flight are
/// unsent.
const UNSENT_PART: usize = 4;

impl<'io> Scan<'io> {
    /// Allocates the plan's memory, and sends the first requests.
    ///
    /// # Errors
    /// The memory can't be allocated.
    ///
    /// # Panics
    /// The world has requests in flight.
    pub fn new(io: &'io mut dyn Io, files: Arc<[ReadFile]>, plan: Arc<Plan>) -> Result<Self, ReadsError> {
        Self::in_memory(io, files, plan, &mut ScanMemory::keeping(0))
    }

    /// Starts a scan in memory reused from earlier scans.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    ///
    /// # Panics
    /// See [`new`](Self::new).
    pub fn in_memory(
        io: &'io mut dyn Io,
        files: Arc<[ReadFile]>,
        plan: Arc<Plan>,
        memory: &mut ScanMemory,
    ) -> Result<Self, ReadsError> {
        assert!(
            io.in_flight() == 0,
            "a scan has its world alone, and {} requests are in flight",
            io.in_flight()
        );
        let pump = Pump::new(plan, files, memory)?;
        let mut scan = Self { io, pump, refused: None, unsent: 0, completions: Vec::new() };
        scan.go_on();
        Ok(scan)
    }

    /// Returns the next step; `None` after the last.
    ///
    /// # Errors
    /// A read failed or its bytes are damaged, which every later call repeats; or the consumer
    /// holds too many steps for the memory.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadsError> {
        loop {
            self.send();
            if let Some(step) = self.pump.take_step()? {
                // System calls are expensive, so wait until a part of the queue is unsent.
                if self.unsent * UNSENT_PART >= self.io.in_flight() {
                    self.reap(Wait::NONE);
                }
                return Ok(Some(step));
            }
            if self.pump.is_done() {
                return Ok(None);
            }
            if self.io.in_flight() == 0 {
                return Err(ReadsError::Held { step: self.pump.next_step() });
            }
            self.reap(Wait::until_completed(1));
        }
    }

    /// Reads unplanned bytes ahead of all planned reads.
    ///
    /// # Errors
    /// See [`next_step`](Self::next_step); or the bytes aren't in the file.
    pub fn read_urgently(
        &mut self,
        file: FileId,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<Vec<u8>, ReadsError> {
        let number = self.pump.ask_urgently(file, offset_bytes, length_bytes)?;
        loop {
            self.send();
            if let Some(bytes) = self.pump.take_urgent(number)? {
                return Ok(bytes);
            }
            self.reap(Wait::until_completed(1));
        }
    }

    /// Processes completions and sends requests without waiting, for consumers with long steps.
    pub fn go_on(&mut self) {
        self.send();
        self.reap(Wait::NONE);
        self.send();
        if self.unsent > 0 {
            self.reap(Wait::NONE);
        }
    }

    /// Its world, for the clock.
    pub fn io(&mut self) -> &mut dyn Io {
        self.io
    }

    /// Reads counted so far.
    pub fn counts(&self) -> &ReadCounts {
        self.pump.counts()
    }

    /// Submits requests until the queue is full.
    fn send(&mut self) {
        while let Some((device, request)) = self.refused.take().or_else(|| self.pump.next_request()) {
            if let Err(full) = self.io.submit(device, request) {
                self.refused = Some((device, full.0));
                break;
            }
            self.unsent += 1;
        }
    }

    fn reap(&mut self, wait: Wait) {
        self.unsent = 0;
        self.io.reap(wait, &mut self.completions);
        for completion in self.completions.drain(..) {
            self.pump.complete(completion);
        }
    }
}

impl Drop for Scan<'_> {
    fn drop(&mut self) {
        self.pump.stop();
        self.refused = None;
        while self.io.in_flight() > 0 {
            self.reap(Wait::until_completed(self.io.in_flight()));
        }
    }
}

impl std::fmt::Debug for Scan<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scan").field("pump", &self.pump).finish_non_exhaustive()
    }
}
