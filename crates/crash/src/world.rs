use std::collections::BTreeMap;

use nandle_io::{
    Access, Arena, Backend, Cause, Completion, Device, DeviceId, DurableWrites, Full, Io, IoError, Nanos,
    Request, Shape, Wait, Waker,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Most requests take up to this …
const LATENCY_NS: u64 = 100_000;
/// … and one in eight so many times longer, so that it is overtaken by many.
const STRAGGLING: u64 = 20;

/// Says when requests complete, and nothing else: in an order that a seed draws, so that requests overtake each other
/// as on no drive that we know. Stores nothing; it goes under [`MediaWorld`](nandle_model::media::MediaWorld).
pub(crate) struct Jumble {
    devices: Vec<Device>,
    random: Xoshiro256PlusPlus,
    now: Nanos,
    /// By the time of completion, and in the order of submission where that is the same.
    in_flight: BTreeMap<(Nanos, u64), InFlight>,
    submitted: u64,
}

struct InFlight {
    device: DeviceId,
    request: Request,
    submitted_at: Nanos,
    refusal: Option<Cause>,
}

impl Jumble {
    /// A world of so many devices of one size.
    pub(crate) fn new(devices: u32, capacity_bytes: u64, logical_block_bytes: u64, seed: u64) -> Self {
        let shape = Shape {
            capacity_bytes,
            logical_block_bytes,
            memory_alignment_bytes: 1,
            largest_transfer_bytes: 1 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: true,
        };
        let device = |index| Device { id: DeviceId::from_index(index), shape: shape.clone() };
        Self {
            devices: (0..devices).map(device).collect(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            now: Nanos::ZERO,
            in_flight: BTreeMap::new(),
            submitted: 0,
        }
    }

    fn latency(&mut self) -> Nanos {
        let latency_ns = self.random.random_range(1..LATENCY_NS);
        Nanos(if self.random.random_ratio(1, 8) { latency_ns * STRAGGLING } else { latency_ns })
    }

    fn complete_next(&mut self, until: Nanos) -> Option<Completion> {
        let first = self.in_flight.first_entry().filter(|first| first.key().0 <= until)?;
        let ((completed_at, _), InFlight { device, request, submitted_at, refusal }) = first.remove_entry();
        self.now = self.now.max(completed_at);
        let Request { token, operation } = request;
        let result = refusal.map_or(Ok(()), |cause| Err(IoError::new(&operation, cause)));
        Some(Completion { token, device, submitted_at, completed_at, result, operation })
    }
}

impl Io for Jumble {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight.len() >= self.slots() {
            return Err(Full(request));
        }
        let refusal = match self.devices.get(device.index() as usize) {
            Some(known) => known.shape.check(&request.operation).err(),
            None => Some(Cause::UnknownDevice { index: device.index() }),
        };
        self.submitted += 1;
        let due = (self.now + self.latency(), self.submitted);
        self.in_flight.insert(due, InFlight { device, request, submitted_at: self.now, refusal });
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight.len(), false);
        while let Some(completion) = self.complete_next(self.now) {
            into.push(completion);
        }
        while into.len() < enough {
            let Some(completion) = self.complete_next(wait.until.unwrap_or(Nanos::MAX)) else {
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
        128
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
        Backend { name: "jumble", features: Vec::new(), stepped_down: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::Operation;

    use super::*;

    #[test]
    fn requests_overtake_each_other_and_all_of_them_complete() {
        let order = |seed| {
            let mut world = Jumble::new(1, 1 << 20, 512, seed);
            for token in 0..100 {
                let request = Request { token, operation: Operation::Flush };
                world.submit(DeviceId::from_index(0), request).unwrap();
            }
            let mut completions = Vec::new();
            world.reap(Wait::until_completed(100), &mut completions);
            completions.iter().map(|completion| completion.token).collect::<Vec<_>>()
        };
        let mut sorted = order(1);
        assert_ne!(order(1), order(2));
        assert_eq!(order(1), order(1));
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    }
}
