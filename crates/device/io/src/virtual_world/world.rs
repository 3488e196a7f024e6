use std::sync::Arc;

use slab::Slab;

use super::behaviour::{Arrival, Behaviour, Finished};
use super::conduct::{Conduct, Scheduled};
use crate::slots::InFlight;
use crate::{
    Arena, Backend, Cause, Completion, Device, DeviceId, DriveCounters, Full, Io, IoError, Nanos, Operation,
    Request, Shape, Wait, Wake, Waker,
};

/// World in virtual time, whose clock starts at zero; see the [module](super).
///
/// # Panics
/// Panics if its [`Behaviour`] breaks its contract, since waits for such devices would never end.
/// It must not lose a request that is waited for without a deadline, finish a request that isn't in
/// flight, or have an event left at the time of [`advance`](Behaviour::advance).
pub struct VirtualWorld<B> {
    behaviour: B,
    devices: Vec<Device>,
    slots: usize,
    request_cpu: Nanos,
    now: Nanos,
    cpu: Nanos,
    in_flight: Slab<InFlight<()>>,
    /// Completed in order, not collected yet.
    ready: Vec<Completion>,
    /// Reused to save allocations.
    finished: Vec<Finished>,
}

impl<C: Conduct> VirtualWorld<Scheduled<C>> {
    /// World without devices, with `slots` slots.
    pub fn of(conduct: C, slots: usize) -> Self {
        Self::from_behaviour(Scheduled::new(conduct), slots)
    }
}

impl<B: Behaviour> VirtualWorld<B> {
    /// World without devices, with `slots` slots.
    pub fn from_behaviour(behaviour: B, slots: usize) -> Self {
        Self {
            behaviour,
            devices: Vec::new(),
            slots: slots.max(1),
            request_cpu: Nanos::ZERO,
            now: Nanos::ZERO,
            cpu: Nanos::ZERO,
            in_flight: Slab::new(),
            ready: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Charges `request_cpu` to the host's processor at each submission. The next request waits for
    /// it, and so do completions that arrive meanwhile.
    #[must_use]
    pub fn with_request_cpu(self, request_cpu: Nanos) -> Self {
        Self { request_cpu, ..self }
    }

    /// Sets the number of slots.
    #[must_use]
    pub fn with_slots(self, slots: usize) -> Self {
        Self { slots: slots.max(1), ..self }
    }

    /// Adds a device.
    ///
    /// # Panics
    /// Panics if the world has 2³² devices already.
    pub fn add_device(&mut self, shape: Shape) -> Device {
        let index = u32::try_from(self.devices.len());
        assert!(index.is_ok(), "a world of {} devices", self.devices.len());
        let device = Device { id: DeviceId::from_index(index.unwrap_or(u32::MAX)), shape };
        self.devices.push(device.clone());
        device
    }

    /// Behaviour of the devices.
    pub const fn behaviour(&self) -> &B {
        &self.behaviour
    }

    /// Behaviour of the devices, mutable.
    pub const fn behaviour_mut(&mut self) -> &mut B {
        &mut self.behaviour
    }

    fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        match self.devices.get(device.index() as usize) {
            Some(known) => known.shape.check(operation).err(),
            None => Some(Cause::UnknownDevice { index: device.index() }),
        }
    }

    /// Sends a request to its device.
    fn start(&mut self, request: InFlight<()>) {
        let in_flight = self.in_flight.len();
        let place = self.in_flight.vacant_entry();
        let key = place.key();
        let request = &*place.insert(request);
        let arrival = Arrival { key, device: request.device, operation: &request.operation, in_flight };
        self.behaviour.arrive(self.now, arrival);
    }

    /// Advances the clock to `now` and handles all events due by then.
    fn advance_to(&mut self, now: Nanos) {
        while let Some(at) = self.behaviour.next_event().filter(|at| *at <= now) {
            self.pass_until(at);
            self.behaviour.advance(at, &mut self.finished);
            self.complete();
        }
        self.pass_until(now);
    }

    fn pass_until(&mut self, time: Nanos) {
        if time > self.now {
            self.behaviour.time_passes(time.since(self.now), self.in_flight.len());
            self.now = time;
        }
    }

    /// Completes the finished requests.
    fn complete(&mut self) {
        for Finished { key, failure } in self.finished.drain(..) {
            let found = self.in_flight.try_remove(key);
            assert!(found.is_some(), "a device of `{}` finished what isn't in flight", B::NAME);
            let Some(mut request) = found else { continue };
            if failure.is_none() {
                self.behaviour.take_effect(key, request.device, &mut request.operation);
            }
            let result = failure.map_or(Ok(()), |cause| Err(IoError::new(&request.operation, cause)));
            self.ready.push(request.complete(self.now, result));
        }
    }

    /// Returns completed requests to the host. Their time is now: requests that completed while the
    /// processor was busy have waited for it.
    fn hand_over(&mut self, into: &mut Vec<Completion>) {
        for completion in &mut self.ready {
            completion.completed_at = self.now;
        }
        into.append(&mut self.ready);
    }

    /// Panics in place of a wait that would never end.
    fn deadlock(&self) -> ! {
        let oldest =
            self.in_flight.iter().map(|(_, request)| request).min_by_key(|request| request.submitted_at);
        let waiting = oldest.map_or_else(
            || "nothing is in flight".to_owned(),
            |oldest| {
                format!(
                    "the oldest is a {} of {} bytes at offset {} on device {}, submitted at {}",
                    oldest.operation.name(),
                    oldest.operation.length_bytes(),
                    oldest.operation.offset_bytes(),
                    oldest.device.index(),
                    oldest.submitted_at
                )
            },
        );
        panic!(
            "the virtual clock stands at {} with {} requests in flight and no event to come: {waiting}",
            self.now,
            self.in_flight.len()
        )
    }
}

impl<B: Behaviour> Io for VirtualWorld<B> {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.slots {
            return Err(Full(request));
        }
        let request = InFlight::new(device, request, self.now, ());
        self.charge_cpu(self.request_cpu);
        match self.refusal(device, &request.operation) {
            Some(cause) => {
                let error = IoError::new(&request.operation, cause);
                self.ready.push(request.complete(self.now, Err(error)));
            }
            None => self.start(request),
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight(), B::HEARTBEAT.is_some());
        let beat = B::HEARTBEAT.map(|span| self.now + span);
        let until = wait.until.into_iter().chain(beat).min();
        self.advance_to(self.now);
        self.hand_over(into);
        while into.len() < enough {
            let in_time = |next: &Nanos| until.is_none_or(|until| *next <= until);
            let Some(next) = self.behaviour.next_event().filter(in_time) else {
                let Some(until) = until else { self.deadlock() };
                self.pass_until(until);
                return;
            };
            self.advance_to(next);
            self.hand_over(into);
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len() + self.ready.len()
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn cpu_time(&self) -> Nanos {
        self.cpu
    }

    fn charge_cpu(&mut self, span: Nanos) {
        self.cpu += span;
        self.advance_to(self.now + span);
    }

    fn timer_slack(&self) -> Nanos {
        Nanos::ZERO
    }

    fn waker(&mut self) -> Option<Waker> {
        B::HEARTBEAT.map(|_| Waker::new(Arc::new(Heart)))
    }

    fn register(&mut self, _arena: &Arena) -> usize {
        0
    }

    fn backend(&self) -> Backend {
        let features = B::FEATURES.iter().map(|feature| (*feature).to_owned()).collect();
        Backend { name: B::NAME, features, stepped_down: Vec::new() }
    }

    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        self.behaviour.counters(device)
    }
}

/// Waker of a world with a heartbeat.
struct Heart;

impl Wake for Heart {
    fn wake(&self) {}
}

impl<B> std::fmt::Debug for VirtualWorld<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VirtualWorld")
            .field("devices", &self.devices)
            .field("now", &self.now)
            .field("in_flight", &self.in_flight.len())
            .finish_non_exhaustive()
    }
}
