use nandle_io::{Cause, Completion, Device, DeviceId, IoError, Nanos, Operation};
use slab::Slab;

use super::agenda::Agenda;
use super::device::ModelledDevice;
use super::in_flight::InFlight;
use crate::timing::{TimedCompletion, Timing};

/// The computer that a world's requests come from: one processor that submits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Most requests in flight.
    pub slots: usize,
    /// Processor time of a request, from its submission to the handling of its completion. It is charged when the
    /// request is submitted, and the next one waits for it, as do completions that come meanwhile.
    pub request_cpu: Nanos,
}

impl Host {
    /// What this project's own ring spends on a request at depth 128, as measured on a machine of 2026
    /// (`cargo xtask bench io`).
    pub const REQUEST_CPU: Nanos = Nanos::from_micros(2);

    /// With room for `slots` requests in flight, each of which costs [`Host::REQUEST_CPU`].
    pub const fn with_slots(slots: usize) -> Self {
        Self { slots, request_cpu: Self::REQUEST_CPU }
    }
}

/// A world of modelled devices with one virtual clock, which starts at zero; see the [module](super).
///
/// # Panics
/// When a device's timing breaks its contract: it forgets a request that is waited for without a deadline, or has
/// something to do again at a time that it was just told. A wait for such a device would never end.
pub struct ModelWorld {
    pub(super) devices: Vec<Device>,
    timings: Vec<Box<dyn Timing>>,
    pub(super) host: Host,
    pub(super) now: Nanos,
    pub(super) cpu: Nanos,
    pub(super) agenda: Agenda,
    /// What its devices are working on; they know a request by its key.
    pub(super) requests: Slab<InFlight>,
    /// Completed, in order, and not collected yet.
    pub(super) ready: Vec<Completion>,
    /// Kept for its memory.
    finished: Vec<TimedCompletion>,
}

impl ModelWorld {
    /// A world without devices.
    pub fn new(host: Host) -> Self {
        Self {
            devices: Vec::new(),
            timings: Vec::new(),
            host: Host { slots: host.slots.max(1), ..host },
            now: Nanos::ZERO,
            cpu: Nanos::ZERO,
            agenda: Agenda::default(),
            requests: Slab::new(),
            ready: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Puts a device into the world.
    ///
    /// # Panics
    /// When there are 2³² devices in it already.
    pub fn add(&mut self, device: ModelledDevice) -> Device {
        let index = u32::try_from(self.devices.len());
        assert!(index.is_ok(), "a world of {} devices", self.devices.len());
        let id = DeviceId::from_index(index.unwrap_or(u32::MAX));
        let ModelledDevice { shape, timing, write_cache: _ } = device;
        let device = Device { id, shape };
        self.devices.push(device.clone());
        self.agenda.add();
        self.agenda.set(self.timings.len(), timing.next_event_ns());
        self.timings.push(timing);
        device
    }

    /// Charges processor time of the host's own work: the clock moves, and the devices work on meanwhile.
    pub fn charge_cpu(&mut self, span: Nanos) {
        self.cpu += span;
        self.advance_to(self.now + span);
    }

    pub(super) fn timing(&self, device: DeviceId) -> Option<&dyn Timing> {
        self.timings.get(device.index() as usize).map(Box::as_ref)
    }

    /// Why a device can't do an operation, if so.
    pub(super) fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        match self.devices.get(device.index() as usize) {
            Some(known) => known.shape.check(operation).err(),
            None => Some(Cause::UnknownDevice { index: device.index() }),
        }
    }

    /// Completes a request that no device has to be asked for.
    pub(super) fn refuse(&mut self, request: InFlight, cause: Cause) {
        let error = IoError::new(&request.request.operation, cause);
        self.ready.push(request.complete(self.now, Err(error)));
    }

    /// Gives a request to its device.
    pub(super) fn start(&mut self, request: InFlight) {
        let index = request.device.index() as usize;
        let mut timed = request.timed(0);
        timed.id = self.requests.insert(request) as u64;
        debug_assert!(index < self.timings.len(), "device {index} of {}", self.timings.len());
        if let Some(timing) = self.timings.get_mut(index) {
            timing.arrive(self.now.0, timed);
            self.agenda.set(index, timing.next_event_ns());
        }
    }

    /// Moves the clock to `now`, and does everything that is due by then.
    pub(super) fn advance_to(&mut self, now: Nanos) {
        while let Some((at_ns, index)) = self.agenda.take_due(now.0) {
            self.now = self.now.max(Nanos(at_ns));
            self.advance_device(at_ns, index);
        }
        self.now = self.now.max(now);
    }

    fn advance_device(&mut self, at_ns: u64, index: usize) {
        let Some(timing) = self.timings.get_mut(index) else { return };
        timing.advance(at_ns, &mut self.finished);
        let next_ns = timing.next_event_ns();
        assert!(
            next_ns.is_none_or(|next_ns| next_ns > at_ns),
            "modelled device {index} was advanced to {at_ns} ns and has something to do at {next_ns:?} still"
        );
        self.agenda.set(index, next_ns);
        for done in self.finished.drain(..) {
            let found = usize::try_from(done.id).ok().and_then(|key| self.requests.try_remove(key));
            assert!(found.is_some(), "modelled device {index} completed what isn't in flight");
            let Some(request) = found else { continue };
            self.ready.push(request.complete(Nanos(done.completed_ns), Ok(())));
        }
    }

    /// Gives the host what has completed. It sees that now: what completed while its processor was busy has waited for it.
    pub(super) fn hand_over(&mut self, into: &mut Vec<Completion>) {
        for completion in &mut self.ready {
            debug_assert!(completion.completed_at <= self.now, "nothing completes in the future");
            completion.completed_at = self.now;
        }
        into.append(&mut self.ready);
    }

    /// Ends a wait that would never end.
    pub(super) fn deadlock(&self) -> ! {
        let oldest =
            self.requests.iter().map(|(_, request)| request).min_by_key(|request| request.submitted_at);
        let waiting = oldest.map_or_else(
            || "nothing is in flight".to_owned(),
            |oldest| {
                let operation = &oldest.request.operation;
                format!(
                    "the oldest is a {} of {} bytes at offset {} on device {}, submitted at {}",
                    operation.name(),
                    operation.length_bytes(),
                    operation.offset_bytes(),
                    oldest.device.index(),
                    oldest.submitted_at
                )
            },
        );
        panic!(
            "the virtual clock stands at {} with {} requests in flight and no event to come: {waiting}",
            self.now,
            self.requests.len()
        )
    }
}

impl std::fmt::Debug for ModelWorld {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelWorld")
            .field("devices", &self.devices)
            .field("host", &self.host)
            .field("now", &self.now)
            .field("in_flight", &self.requests.len())
            .finish_non_exhaustive()
    }
}
