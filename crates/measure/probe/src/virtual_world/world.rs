use nandle_io::virtual_world::{Arrival, Conduct, Fate, Scheduled, VirtualWorld};
use nandle_io::{Access, Cause, Device, DeviceId, DurableWrites, Io, Nanos, Operation, Shape};

use super::{Ledger, Timing};
use crate::load::{Contents, Lane, LaneOptions};

/// What shall go wrong with a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// It fails, when it would have been done.
    Fail,
    /// It succeeds with what belongs elsewhere.
    Damage,
    /// It is never answered.
    Silence,
}

/// A world of one made-up device.
pub(crate) struct MadeUpWorld {
    world: VirtualWorld<Scheduled<MadeUp>>,
}

/// How the device behaves.
pub(crate) struct MadeUp {
    timing: Box<dyn Timing>,
    submitted: u64,
    contents: Option<Contents>,
    faults: Option<Faults>,
    /// The keys of requests in flight that will find what belongs elsewhere.
    damaged: Vec<usize>,
    ledger: Option<Ledger>,
}

/// Which requests go wrong, by their numbers, and how.
type Faults = (Box<dyn Fn(u64) -> bool>, Fault);

impl MadeUpWorld {
    /// A device of a size with 512-byte blocks.
    pub(crate) fn new(capacity_bytes: u64, timing: impl Timing + 'static) -> Self {
        let made_up = MadeUp {
            timing: Box::new(timing),
            submitted: 0,
            contents: None,
            faults: None,
            damaged: Vec::new(),
            ledger: None,
        };
        let mut world = VirtualWorld::of(made_up, 256);
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

    /// The device.
    pub(crate) fn device(&self) -> Device {
        self.world.devices()[0].clone()
    }

    /// With room for so many requests.
    pub(crate) fn slots(self, slots: usize) -> Self {
        Self { world: self.world.with_slots(slots) }
    }

    /// Each request costs the host's processor so much.
    pub(crate) fn request_cpu(self, request_cpu: Nanos) -> Self {
        Self { world: self.world.with_request_cpu(request_cpu) }
    }

    /// Reads find these contents.
    pub(crate) fn contents(mut self, contents: Contents) -> Self {
        self.made_up().contents = Some(contents);
        self
    }

    /// Those requests go wrong whose number (from 0) is one of these.
    pub(crate) fn faults(mut self, numbers: impl Fn(u64) -> bool + 'static, fault: Fault) -> Self {
        self.made_up().faults = Some((Box::new(numbers), fault));
        self
    }

    /// Keeps a book of everything that is asked.
    pub(crate) fn ledger(&mut self) -> Ledger {
        self.made_up().ledger.get_or_insert_default().clone()
    }

    /// A lane on the device, with buffers for `buffer_bytes` and a patience of ten seconds.
    pub(crate) fn lane(self, buffer_bytes: u64) -> Lane {
        let device = self.device();
        let options = LaneOptions { buffer_bytes, read_pool_bytes: 0, patience: Nanos::from_secs(10) };
        Lane::new(Box::new(self), device, options).unwrap()
    }

    fn made_up(&mut self) -> &mut MadeUp {
        self.world.behaviour_mut().conduct_mut()
    }
}

impl Io for MadeUpWorld {
    nandle_io::forward_io!(
        world: devices submit reap in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters
    );
}

impl Conduct for MadeUp {
    const NAME: &'static str = "made up";
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

    /// Fills a read's buffers with what belongs there, or a block further on.
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
