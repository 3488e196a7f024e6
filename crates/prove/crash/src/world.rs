use nandle_io::virtual_world::{Arrival, Conduct, Fate, Scheduled, VirtualWorld};
use nandle_io::{Access, DeviceId, DurableWrites, Nanos, Operation, Shape};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Maximum latency of most requests.
const LATENCY_NS: u64 = 100_000;
/// Factor by which every eighth request is slower, so that many requests overtake it.
const STRAGGLING: u64 = 20;
/// Maximum number of requests in flight.
const SLOTS: usize = 128;

/// Timing of requests in random order, drawn from a seed, with more overtaking than on any known
/// drive. Stores no data; [`MediaWorld`](nandle_model::media::MediaWorld) runs on top of it.
pub(crate) struct Jumble {
    random: Xoshiro256PlusPlus,
}

/// Random timing for `devices` devices of one size.
pub(crate) fn jumble(
    devices: u32,
    capacity_bytes: u64,
    logical_block_bytes: u64,
    seed: u64,
) -> VirtualWorld<Scheduled<Jumble>> {
    let mut world = VirtualWorld::of(Jumble { random: Xoshiro256PlusPlus::seed_from_u64(seed) }, SLOTS);
    for _ in 0..devices {
        world.add_device(Shape {
            capacity_bytes,
            logical_block_bytes,
            memory_alignment_bytes: 1,
            largest_transfer_bytes: 1 << 20,
            access: Access::Direct,
            durable_writes: DurableWrites::OneCommand,
            writable: true,
            discards: true,
        });
    }
    world
}

impl Conduct for Jumble {
    const NAME: &'static str = "jumble";

    fn fate(&mut self, _now: Nanos, _arrival: &Arrival<'_>) -> Fate {
        let latency_ns = self.random.random_range(1..LATENCY_NS);
        let straggles = self.random.random_ratio(1, 8);
        let takes = Nanos(if straggles { latency_ns * STRAGGLING } else { latency_ns });
        Fate { takes, failure: None }
    }

    fn take_effect(&mut self, _key: usize, _device: DeviceId, _operation: &mut Operation) {
        // Contents are the media's task.
    }
}

#[cfg(test)]
mod tests {
    use nandle_io::{Io, Request, Wait};

    use super::*;

    #[test]
    fn requests_overtake_each_other_and_all_of_them_complete() {
        let order = |seed| {
            let mut world = jumble(1, 1 << 20, 512, seed);
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
