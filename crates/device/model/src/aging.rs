//! Ageing of a device: writes in virtual time without buffers and without a world, for speed.

use nandle_io::{DriveCounters, Nanos, Shape};

use crate::library::{DeviceState, Model, ModelError};
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};
use crate::world::ModelledDevice;

/// Device being aged.
pub struct Aging {
    model: Model,
    device: Box<dyn Timing>,
    shape: Shape,
    begun_with: DriveCounters,
    now_ns: u64,
    writes: u64,
    in_flight: u32,
    /// Reused to save allocations.
    completed: Vec<TimedCompletion>,
}

impl Aging {
    /// Starts with a device in the model's first state.
    ///
    /// # Errors
    /// Fails if the model makes no device, or if no part of it ages.
    pub fn new(model: Model) -> Result<Self, ModelError> {
        let ModelledDevice { shape, timing: mut device, .. } = model.device()?;
        let begun_with = model.state_of(device.as_mut())?.counters();
        let completed = Vec::new();
        Ok(Self { model, device, shape, begun_with, now_ns: 0, writes: 0, in_flight: 0, completed })
    }

    /// Capacity and block sizes of the device.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Virtual time since the start.
    pub fn now(&self) -> Nanos {
        Nanos(self.now_ns)
    }

    /// Writes up to `count` blocks of `block_bytes` at `offsets_bytes`, with `queue_depth` in
    /// flight. Starts no write after `until`.
    pub fn write(
        &mut self,
        offsets_bytes: &mut dyn Iterator<Item = u64>,
        block_bytes: u64,
        queue_depth: u32,
        count: usize,
        until: Nanos,
    ) {
        for offset_bytes in offsets_bytes.take(count) {
            while self.in_flight >= queue_depth.max(1) && self.step() {}
            if self.now_ns >= until.0 {
                return;
            }
            let operation = TimedOperation::Write { durable: false };
            self.writes += 1;
            let request =
                TimedRequest { id: self.writes, operation, offset_bytes, length_bytes: block_bytes };
            self.in_flight += 1;
            self.device.arrive(self.now_ns, request);
        }
    }

    /// Waits for the writes in flight; returns the device's state and its counters since the start.
    ///
    /// # Errors
    /// None: a model that doesn't age is refused by [`Self::new`].
    pub fn finish(mut self) -> Result<(DeviceState, DriveCounters), ModelError> {
        while self.in_flight > 0 && self.step() {}
        let state = self.model.state_of(self.device.as_mut())?;
        let counted = state.counters().since(self.begun_with);
        Ok((state, counted))
    }

    /// Advances to the device's next event; returns `false` when there is none.
    fn step(&mut self) -> bool {
        let Some(next_ns) = self.device.next_event_ns() else { return false };
        self.now_ns = self.now_ns.max(next_ns);
        self.device.advance(self.now_ns, &mut self.completed);
        self.in_flight =
            self.in_flight.saturating_sub(u32::try_from(self.completed.len()).unwrap_or(u32::MAX));
        self.completed.clear();
        true
    }
}

impl std::fmt::Debug for Aging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Aging")
            .field("model", &self.model.name())
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}
