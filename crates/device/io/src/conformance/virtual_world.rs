use std::collections::BTreeMap;

use crate::slots::InFlight;
use crate::{
    Arena, Backend, Cause, Completion, Device, DeviceId, Full, Io, IoError, Nanos, Operation, Request, Shape,
    Wait, Waker,
};

/// A world in virtual time, for tests and tools: it keeps what is in flight and lets it complete in time, and its
/// [`Conduct`] says when that is and what comes of it. Time passes only while somebody waits.
pub struct VirtualWorld<C> {
    pub(super) conduct: C,
    devices: Vec<Device>,
    slots: usize,
    now: Nanos,
    /// By the time of completion, and in the order of submission where that is the same.
    in_flight: BTreeMap<(Nanos, u64), InFlight<Option<Cause>>>,
    submitted: u64,
}

/// What tells one [`VirtualWorld`] from another.
pub trait Conduct {
    /// The world's name in its [`Backend`].
    const NAME: &'static str;

    /// Decides about a request that is submitted. A `refusal` says why no device of this shape could carry it out; then it
    /// must fail.
    fn fate(&mut self, device: DeviceId, operation: &Operation, refusal: Option<Cause>) -> Fate;

    /// What a request does that succeeds, at the time when it completes.
    fn take_effect(&mut self, device: DeviceId, operation: &mut Operation);
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fate {
    /// How long it is in flight.
    pub takes: Nanos,
    /// Why it fails, if it does.
    pub failure: Option<Cause>,
}

impl<C: Conduct> VirtualWorld<C> {
    /// A world without devices, with room for `slots` requests.
    pub fn of(conduct: C, slots: usize) -> Self {
        Self {
            conduct,
            devices: Vec::new(),
            slots: slots.max(1),
            now: Nanos::ZERO,
            in_flight: BTreeMap::new(),
            submitted: 0,
        }
    }

    /// Adds a device.
    pub fn add_device(&mut self, shape: Shape) -> Device {
        let id = DeviceId::from_index(u32::try_from(self.devices.len()).unwrap());
        let device = Device { id, shape };
        self.devices.push(device.clone());
        device
    }

    fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        match self.devices.get(device.index() as usize) {
            Some(known) => known.shape.check(operation).err(),
            None => Some(Cause::UnknownDevice { index: device.index() }),
        }
    }

    /// Carries out what is due first, if that is by `until`, and moves the clock there.
    fn complete_next(&mut self, until: Nanos) -> Option<Completion> {
        let first = self.in_flight.first_entry().filter(|first| first.key().0 <= until)?;
        let ((at, _), mut in_flight) = first.remove_entry();
        self.now = self.now.max(at);
        let result = if let Some(cause) = in_flight.extra.take() {
            Err(IoError::new(&in_flight.operation, cause))
        } else {
            self.conduct.take_effect(in_flight.device, &mut in_flight.operation);
            Ok(())
        };
        Some(in_flight.complete(at, result))
    }
}

impl<C: Conduct> Io for VirtualWorld<C> {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight.len() >= self.slots {
            return Err(Full(request));
        }
        let refusal = self.refusal(device, &request.operation);
        let Fate { takes, failure } = self.conduct.fate(device, &request.operation, refusal);
        self.submitted += 1;
        let in_flight = InFlight::new(device, request, self.now, failure);
        self.in_flight.insert((self.now + takes, self.submitted), in_flight);
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight.len(), false);
        while let Some(completion) = self.complete_next(self.now) {
            into.push(completion);
        }
        let until = wait.until.unwrap_or(Nanos::MAX);
        while into.len() < enough {
            let Some(completion) = self.complete_next(until) else {
                // Nothing comes by the deadline: if there is one, the time until then passes.
                self.now = wait.until.map_or(self.now, |until| self.now.max(until));
                return;
            };
            into.push(completion);
        }
    }

    fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn cpu_time(&self) -> Nanos {
        Nanos::ZERO
    }

    fn timer_slack(&self) -> Nanos {
        Nanos::ZERO
    }

    fn waker(&mut self) -> Option<Waker> {
        None
    }

    fn register(&mut self, _arena: &Arena) -> usize {
        0
    }

    fn backend(&self) -> Backend {
        Backend { name: C::NAME, features: Vec::new(), stepped_down: Vec::new() }
    }
}
