use nandle_io::virtual_world::{Arrival, Behaviour, Finished};
use nandle_io::{DeviceId, DriveCounters, Durability, Nanos, Operation};

use super::agenda::Agenda;
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

/// Timings of a world's devices, by device number.
#[derive(Default)]
pub(super) struct Timings {
    devices: Vec<Box<dyn Timing>>,
    agenda: Agenda,
    /// Reused to save allocations.
    completed: Vec<TimedCompletion>,
}

impl Timings {
    /// Adds the timing of the next device.
    pub(super) fn add(&mut self, timing: Box<dyn Timing>) {
        self.agenda.add();
        self.agenda.set(self.devices.len(), timing.next_event_ns());
        self.devices.push(timing);
    }
}

impl Behaviour for Timings {
    const NAME: &'static str = "model";
    const FEATURES: &'static [&'static str] = &["modelled", "virtual time"];

    fn arrive(&mut self, now: Nanos, arrival: Arrival<'_>) {
        let index = arrival.device.index() as usize;
        let timing = self.devices.get_mut(index);
        debug_assert!(timing.is_some(), "a request for device {index}, which has no timing");
        if let Some(timing) = timing {
            timing.arrive(now.0, timed(&arrival));
            self.agenda.set(index, timing.next_event_ns());
        }
    }

    fn next_event(&mut self) -> Option<Nanos> {
        self.agenda.next_ns().map(Nanos)
    }

    fn advance(&mut self, at: Nanos, finished: &mut Vec<Finished>) {
        let Some((at_ns, index)) = self.agenda.take_due(at.0) else { return };
        let Some(timing) = self.devices.get_mut(index) else { return };
        timing.advance(at_ns, &mut self.completed);
        let next_ns = timing.next_event_ns();
        assert!(
            next_ns.is_none_or(|next_ns| next_ns > at_ns),
            "modelled device {index} was advanced to {at_ns} ns and has something to do at {next_ns:?} still"
        );
        self.agenda.set(index, next_ns);
        debug_assert!(
            self.completed.iter().all(|done| done.completed_ns <= at_ns),
            "nothing completes in the future"
        );
        let key = |done: TimedCompletion| usize::try_from(done.id).unwrap_or(usize::MAX);
        finished.extend(self.completed.drain(..).map(|done| Finished { key: key(done), failure: None }));
    }

    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        self.devices.get(device.index() as usize)?.counters()
    }
}

/// Timing part of a request.
fn timed(arrival: &Arrival<'_>) -> TimedRequest {
    let operation = match arrival.operation {
        Operation::Read { .. } => TimedOperation::Read,
        Operation::Write { durability, .. } => {
            TimedOperation::Write { durable: *durability == Durability::Durable }
        }
        Operation::Flush => TimedOperation::Flush,
        Operation::Discard { .. } => TimedOperation::Discard,
    };
    let (offset_bytes, length_bytes) = (arrival.operation.offset_bytes(), arrival.operation.length_bytes());
    TimedRequest { id: arrival.key as u64, operation, offset_bytes, length_bytes }
}
