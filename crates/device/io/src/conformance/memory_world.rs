use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use crate::virtual_world::{Arrival, Conduct, Fate, Scheduled, VirtualWorld};
use crate::{Access, Cause, Device, DeviceId, DurableWrites, Nanos, Operation, Shape};

/// Small world in memory and in virtual time, for tests. Every request takes effect when it
/// completes, after a fixed latency and some nanoseconds by its length. It models no real device.
pub type MemoryWorld = VirtualWorld<Scheduled<Memory>>;

/// Devices of a [`MemoryWorld`].
pub struct Memory {
    contents: Vec<Vec<u8>>,
    latency: Nanos,
    faults: Faults,
}

/// Faults of a [`MemoryWorld`]; a clone is another handle to the same list.
#[derive(Debug, Clone, Default)]
pub struct Faults(Rc<RefCell<VecDeque<Fault>>>);

#[derive(Debug)]
struct Fault {
    device: u32,
    operation: &'static str,
    cause: Cause,
}

impl Faults {
    /// Makes the next request of this kind (its [name](Operation::name)) on this device fail.
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
    /// World with `slots` slots. A request takes `latency` and a nanosecond for every 8 bytes.
    pub fn new(slots: usize, latency: Nanos) -> Self {
        Self::of(Memory { contents: Vec::new(), latency, faults: Faults::default() }, slots)
    }

    /// Adds a device of zeros that supports every operation.
    pub fn add(&mut self, capacity_bytes: u64, logical_block_bytes: u64) -> Device {
        self.add_shaped(Shape {
            capacity_bytes,
            logical_block_bytes,
            memory_alignment_bytes: logical_block_bytes.min(512),
            largest_transfer_bytes: 1 << 20,
            access: Access::Buffered { reason: "it is memory".into() },
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: true,
        })
    }

    /// Adds a device of zeros with this shape.
    pub fn add_shaped(&mut self, shape: Shape) -> Device {
        self.behaviour_mut()
            .conduct_mut()
            .contents
            .push(vec![0; usize::try_from(shape.capacity_bytes).unwrap()]);
        self.add_device(shape)
    }

    /// Handle to the faults.
    pub fn faults(&self) -> Faults {
        self.behaviour().conduct().faults.clone()
    }
}

impl Conduct for Memory {
    const NAME: &'static str = "memory";

    fn fate(&mut self, _now: Nanos, arrival: &Arrival<'_>) -> Fate {
        let takes = self.latency + Nanos(arrival.operation.length_bytes() / 8);
        Fate { takes, failure: self.faults.take(arrival.device, arrival.operation) }
    }

    fn take_effect(&mut self, _key: usize, device: DeviceId, operation: &mut Operation) {
        let contents = &mut self.contents[device.index() as usize];
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
}
