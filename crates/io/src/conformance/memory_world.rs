use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::slots::InFlight;
use crate::{
    Access, Arena, Backend, Cause, Completion, Device, DeviceId, DurableWrites, Full, Io, IoError, Nanos,
    Operation, Request, Shape, Wait, Waker,
};

/// A small world in memory and in virtual time, for tests: every request takes effect when it completes, a
/// fixed latency and some nanoseconds by its length after it was submitted. It models no real device.
pub struct MemoryWorld {
    devices: Vec<Device>,
    contents: Vec<Vec<u8>>,
    slots: usize,
    now: Nanos,
    latency: Nanos,
    /// By the time of completion, and in the order of submission where that is the same.
    in_flight: BTreeMap<(Nanos, u64), InFlight<Option<Cause>>>,
    submitted: u64,
    faults: Faults,
}

/// What shall go wrong in a [`MemoryWorld`]; a clone is another handle to the same list.
#[derive(Debug, Clone, Default)]
pub struct Faults(Rc<RefCell<VecDeque<Fault>>>);

#[derive(Debug)]
struct Fault {
    device: u32,
    operation: &'static str,
    cause: Cause,
}

impl Faults {
    /// Lets the next request of this kind (its [name](Operation::name)) on this device fail.
    pub fn fail_next(&self, device: DeviceId, operation: &'static str, cause: Cause) {
        self.0.borrow_mut().push_back(Fault { device: device.index(), operation, cause });
    }

    fn take(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        let mut faults = self.0.borrow_mut();
        let wanted = |fault: &Fault| fault.device == device.index() && fault.operation == operation.name();
        let index = faults.iter().position(wanted)?;
        faults.remove(index).map(|fault| fault.cause)
    }
}

impl MemoryWorld {
    /// A world with room for `slots` requests, each of which takes `latency` and a nanosecond for every 8
    /// bytes.
    pub fn new(slots: usize, latency: Nanos) -> Self {
        Self {
            devices: Vec::new(),
            contents: Vec::new(),
            slots: slots.max(1),
            now: Nanos::ZERO,
            latency,
            in_flight: BTreeMap::new(),
            submitted: 0,
            faults: Faults::default(),
        }
    }

    /// Adds a device of zeros that can do everything.
    pub fn add(&mut self, capacity_bytes: u64, logical_block_bytes: u64) -> Device {
        let shape = Shape {
            capacity_bytes,
            logical_block_bytes,
            memory_alignment_bytes: logical_block_bytes.min(512),
            largest_transfer_bytes: 1 << 20,
            access: Access::Buffered { reason: "it is memory".into() },
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: true,
        };
        let id = DeviceId::from_index(u32::try_from(self.devices.len()).unwrap());
        let device = Device { id, shape };
        self.devices.push(device.clone());
        self.contents.push(vec![0; usize::try_from(capacity_bytes).unwrap()]);
        device
    }

    /// A handle to what shall go wrong.
    pub fn faults(&self) -> Faults {
        self.faults.clone()
    }

    fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        match self.devices.get(device.index() as usize) {
            Some(known) => known.shape.check(operation).err(),
            None => Some(Cause::UnknownDevice { index: device.index() }),
        }
    }

    /// Carries out what is due first, if that is by `until`, and moves the clock there.
    fn complete_next(&mut self, until: Nanos) -> Option<Completion> {
        let (&(at, _), _) = self.in_flight.first_key_value().filter(|((at, _), _)| *at <= until)?;
        let (_, mut in_flight) = self.in_flight.pop_first()?;
        self.now = self.now.max(at);
        let result = if let Some(cause) = in_flight.extra.take() {
            Err(IoError::new(&in_flight.operation, cause))
        } else {
            take_effect(&mut self.contents[in_flight.device.index() as usize], &mut in_flight.operation);
            Ok(())
        };
        Some(in_flight.complete(at, result))
    }
}

fn take_effect(contents: &mut [u8], operation: &mut Operation) {
    let mut at = usize::try_from(operation.offset_bytes()).unwrap();
    let length = usize::try_from(operation.length_bytes()).unwrap();
    match operation {
        Operation::Read { into, .. } => {
            for buffer in into {
                let bytes = buffer.len();
                buffer.copy_from_slice(&contents[at..at + bytes]);
                at += bytes;
            }
        }
        Operation::Write { from, .. } => {
            for buffer in from {
                contents[at..at + buffer.len()].copy_from_slice(buffer);
                at += buffer.len();
            }
        }
        Operation::Flush => {}
        Operation::Discard { .. } => contents[at..at + length].fill(0xDD),
    }
}

impl Io for MemoryWorld {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight.len() >= self.slots {
            return Err(Full(request));
        }
        let refusal = self.refusal(device, &request.operation);
        let takes = match refusal {
            Some(_) => Nanos::ZERO,
            None => self.latency + Nanos(request.operation.length_bytes() / 8),
        };
        let cause = refusal.or_else(|| self.faults.take(device, &request.operation));
        self.submitted += 1;
        let in_flight = InFlight::new(device, request, self.now, cause);
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
        Backend { name: "memory", features: Vec::new(), stepped_down: Vec::new() }
    }
}
