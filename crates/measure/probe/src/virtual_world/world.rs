use nandle_io::virtual_world::{Arrival, Conduct, Fate, Scheduled, VirtualWorld};
use nandle_io::{Access, Cause, Device, DeviceId, DurableWrites, Io, Nanos, Operation, Shape};

use super::{Ledger, Timing};
use crate::load::{Contents, Lane, LaneOptions};

/// Injected fault of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Fails at its completion time.
    Fail,
    /// Succeeds with the contents of another block.
    Damage,
    /// Never completes.
    Silence,
}

/// World with one fake device.
pub(crate) struct FakeWorld {
    world: VirtualWorld<Scheduled<FakeDevice>>,
}

/// Behaviour of the fake device.
pub(crate) struct FakeDevice {
    timing: Box<dyn Timing>,
    submitted: u64,
    contents: Option<Contents>,
    faults: Option<Faults>,
    /// Keys of requests in flight that will return another block's contents.
    damaged: Vec<usize>,
    ledger: Option<Ledger>,
}

/// Numbers of the requests that fail, and the fault.
type Faults = (Box<dyn Fn(u64) -> bool>, Fault);

impl FakeWorld {
    /// Creates a device of `capacity_bytes` with 512-byte blocks.
    pub(crate) fn new(capacity_bytes: u64, timing: impl Timing + 'static) -> Self {
        let fake = FakeDevice {
            timing: Box::new(timing),
            submitted: 0,
            contents: None,
            faults: None,
            damaged: Vec::new(),
            ledger: None,
        };
        let mut world = VirtualWorld::of(fake, 256);
        world.add_device(Shape {
            capacity_bytes,
            logical_block_bytes: 512,
            memory_alignment_bytes: 512,
            largest_transfer_bytes: 16 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::WriteThenFlush,
            writable: true,
            discards: false,
        });
        Self { world }
    }

    pub(crate) fn device(&self) -> Device {
        self.world.devices()[0].clone()
    }

    /// Sets the number of request slots.
    pub(crate) fn slots(self, slots: usize) -> Self {
        Self { world: self.world.with_slots(slots) }
    }

    /// Sets the processor time that the host spends on each request.
    pub(crate) fn request_cpu(self, request_cpu: Nanos) -> Self {
        Self { world: self.world.with_request_cpu(request_cpu) }
    }

    /// Sets the contents that reads return.
    pub(crate) fn contents(mut self, contents: Contents) -> Self {
        self.fake().contents = Some(contents);
        self
    }

    /// Injects `fault` into each request for which `numbers` returns true. Requests count from 0.
    pub(crate) fn faults(mut self, numbers: impl Fn(u64) -> bool + 'static, fault: Fault) -> Self {
        self.fake().faults = Some((Box::new(numbers), fault));
        self
    }

    /// Starts recording requests and returns the record.
    pub(crate) fn ledger(&mut self) -> Ledger {
        self.fake().ledger.get_or_insert_default().clone()
    }

    /// Lane on the device with `buffer_bytes` of buffers and a patience of ten seconds.
    pub(crate) fn lane(self, buffer_bytes: u64) -> Lane {
        let device = self.device();
        let options = LaneOptions { buffer_bytes, read_pool_bytes: 0, patience: Nanos::from_secs(10) };
        Lane::new(Box::new(self), device, options).unwrap()
    }

    fn fake(&mut self) -> &mut FakeDevice {
        self.world.behaviour_mut().conduct_mut()
    }
}

impl Io for FakeWorld {
    nandle_io::forward_io!(
        world: devices submit reap in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters
    );
}

impl Conduct for FakeDevice {
    const NAME: &'static str = "fake";
    const HEARTBEAT: Option<Nanos> = Some(Nanos::from_millis(200));

    fn fate(&mut self, now: Nanos, arrival: &Arrival<'_>) -> Fate {
        if let Some(ledger) = &self.ledger {
            ledger.asked(now, arrival.operation);
        }
        let number = self.submitted;
        self.submitted += 1;
        let done_at =
            |timing: &mut Box<dyn Timing>| timing.done_at(now, arrival.operation, arrival.in_flight);
        let fault = self.faults.as_ref().and_then(|(numbers, fault)| numbers(number).then_some(*fault));
        let takes = match fault {
            Some(Fault::Silence) => Nanos::MAX,
            Some(Fault::Fail | Fault::Damage) | None => done_at(&mut self.timing).since(now),
        };
        self.damaged.extend(matches!(fault, Some(Fault::Damage)).then_some(arrival.key));
        Fate { takes, failure: matches!(fault, Some(Fault::Fail)).then_some(Cause::System(5)) }
    }

    /// Fills the buffers of a read: with its own contents, or with those of the block after it if
    /// damaged.
    fn take_effect(&mut self, key: usize, _device: DeviceId, operation: &mut Operation) {
        if let Some(ledger) = &self.ledger {
            ledger.answered(operation);
        }
        let damaged = self.damaged.iter().position(|damaged| *damaged == key);
        let astray_bytes = damaged.map_or(0, |index| {
            self.damaged.swap_remove(index);
            4096
        });
        if let (Some(contents), Operation::Read { offset_bytes, into }) = (self.contents, operation) {
            contents.fill(*offset_bytes + astray_bytes, &mut into[0]);
        }
    }

    fn time_passes(&mut self, span: Nanos, in_flight: usize) {
        if let Some(ledger) = &self.ledger {
            ledger.passed(span, in_flight);
        }
    }
}
