use std::collections::BTreeMap;

use nandle_io::{
    Access, Arena, Backend, Cause, Completion, Device, DeviceId, DurableWrites, Full, Io, IoError, Nanos,
    Operation, Request, Shape, Wait, Wake, Waker,
};

use super::{Ledger, Timing};
use crate::load::{Contents, Lane, LaneOptions};

/// How often a world with a waker is woken.
const BEAT: Nanos = Nanos::from_millis(200);
/// Processor time that is charged for each request.
const CPU: Nanos = Nanos(700);

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

/// One device in virtual time.
pub(crate) struct VirtualWorld {
    devices: Vec<Device>,
    timing: Box<dyn Timing>,
    slots: usize,
    now: Nanos,
    /// By the time of completion, and in the order of submission where that is the same.
    in_flight: BTreeMap<(Nanos, u64), InFlight>,
    submitted: u64,
    reaped: u64,
    contents: Option<Contents>,
    faults: Option<Faults>,
    ledger: Option<Ledger>,
}

/// Which requests go wrong, by their numbers, and how.
type Faults = (Box<dyn Fn(u64) -> bool>, Fault);

struct InFlight {
    submitted_at: Nanos,
    request: Request,
    fault: Option<Fault>,
}

struct NoWake;

impl Wake for NoWake {
    fn wake(&self) {}
}

impl VirtualWorld {
    /// A device of a size with 512-byte blocks.
    pub(crate) fn new(capacity_bytes: u64, timing: impl Timing + 'static) -> Self {
        let shape = Shape {
            capacity_bytes,
            logical_block_bytes: 512,
            memory_alignment_bytes: 512,
            largest_transfer_bytes: 16 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::WriteThenFlush,
            writable: true,
            discards: false,
        };
        Self {
            devices: vec![Device { id: DeviceId::from_index(0), shape }],
            timing: Box::new(timing),
            slots: 256,
            now: Nanos::ZERO,
            in_flight: BTreeMap::new(),
            submitted: 0,
            reaped: 0,
            contents: None,
            faults: None,
            ledger: None,
        }
    }

    /// The device.
    pub(crate) fn device(&self) -> Device {
        self.devices[0].clone()
    }

    /// With room for so many requests.
    pub(crate) fn slots(mut self, slots: usize) -> Self {
        self.slots = slots;
        self
    }

    /// Reads find these contents.
    pub(crate) fn contents(mut self, contents: Contents) -> Self {
        self.contents = Some(contents);
        self
    }

    /// Those requests go wrong whose number (from 0) is one of these.
    pub(crate) fn faults(mut self, numbers: impl Fn(u64) -> bool + 'static, fault: Fault) -> Self {
        self.faults = Some((Box::new(numbers), fault));
        self
    }

    /// Keeps a book of everything that is asked.
    pub(crate) fn ledger(&mut self) -> Ledger {
        self.ledger.get_or_insert_default().clone()
    }

    /// A lane on the device, with buffers for `buffer_bytes` and a patience of ten seconds.
    pub(crate) fn lane(self, buffer_bytes: u64) -> Lane {
        let device = self.devices[0].clone();
        let options = LaneOptions { buffer_bytes, patience: Nanos::from_secs(10) };
        Lane::new(Box::new(self), device, options).unwrap()
    }

    fn advance_to(&mut self, time: Nanos) {
        if let Some(ledger) = &self.ledger {
            ledger.passed(time.since(self.now), self.in_flight.len());
        }
        self.now = self.now.max(time);
    }

    /// The next completion, when it comes by `until`.
    fn complete_next(&mut self, until: Nanos) -> Option<Completion> {
        let (&(at, number), _) = self.in_flight.first_key_value().filter(|((at, _), _)| *at <= until)?;
        self.advance_to(at);
        let in_flight = self.in_flight.remove(&(at, number))?;
        self.reaped += 1;
        Some(self.answer(in_flight))
    }

    fn answer(&self, in_flight: InFlight) -> Completion {
        let Request { token, mut operation } = in_flight.request;
        let astray_bytes = if matches!(in_flight.fault, Some(Fault::Damage)) { 4096 } else { 0 };
        self.read(&mut operation, astray_bytes);
        let result = match in_flight.fault {
            Some(Fault::Fail) => Err(IoError::new(&operation, Cause::System(5))),
            _ => Ok(()),
        };
        Completion {
            token,
            device: self.devices[0].id,
            submitted_at: in_flight.submitted_at,
            completed_at: self.now,
            result,
            operation,
        }
    }

    /// Fills a read's buffers with what belongs so many bytes further on.
    fn read(&self, operation: &mut Operation, astray_bytes: u64) {
        if let (Some(contents), Operation::Read { offset_bytes, into }) = (self.contents, operation) {
            contents.fill(*offset_bytes + astray_bytes, &mut into[0]);
        }
    }
}

impl Io for VirtualWorld {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        assert_eq!(device, self.devices[0].id);
        if self.in_flight.len() >= self.slots {
            return Err(Full(request));
        }
        self.devices[0].shape.check(&request.operation).unwrap();
        if let Some(ledger) = &self.ledger {
            let operation = &request.operation;
            let outstanding = self.in_flight.values().map(|other| other.request.operation.length_bytes());
            ledger.asked(self.now, operation.offset_bytes(), operation.length_bytes(), outstanding.sum());
        }
        let faulty = |(numbers, fault): &Faults| numbers(self.submitted).then_some(*fault);
        let fault = self.faults.as_ref().and_then(faulty);
        let done_at = match fault {
            Some(Fault::Silence) => Nanos::MAX,
            _ => self.timing.done_at(self.now, &request.operation, self.in_flight.len()),
        };
        let in_flight = InFlight { submitted_at: self.now, request, fault };
        self.in_flight.insert((done_at, self.submitted), in_flight);
        self.submitted += 1;
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let wanted = into.len() + wait.completions.min(self.in_flight.len().max(1));
        while let Some(completion) = self.complete_next(self.now) {
            into.push(completion);
        }
        let beat = self.now + BEAT;
        let until = wait.until.unwrap_or(Nanos::MAX).min(beat);
        while into.len() < wanted {
            match self.complete_next(until) {
                Some(completion) => into.push(completion),
                None => return self.advance_to(until),
            }
            while let Some(completion) = self.complete_next(self.now) {
                into.push(completion);
            }
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
        Nanos(CPU.0 * self.reaped)
    }

    fn timer_slack(&self) -> Nanos {
        Nanos::ZERO
    }

    fn waker(&mut self) -> Option<Waker> {
        Some(Waker::new(std::sync::Arc::new(NoWake)))
    }

    fn register(&mut self, _arena: &Arena) -> usize {
        0
    }

    fn backend(&self) -> Backend {
        Backend { name: "virtual", features: Vec::new(), stepped_down: Vec::new() }
    }
}
