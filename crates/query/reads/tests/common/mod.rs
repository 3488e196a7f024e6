//! Files with computed contents in a world in memory, and random wants of them.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use nandle_io::conformance::MemoryWorld;
use nandle_io::{
    Arena, Cause, Completion, DeviceId, Full, Io, IoError, Nanos, Operation, Request, Wait, forward_io,
};
use nandle_reads::{
    Check, Estimate, FileId, Groups, Mismatch, PlanFile, PlanOptions, ReadCosts, ReadFile, RequestCost,
    SequenceCost, Strategy, Want,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Computes a byte of a file.
pub(crate) fn byte_of(file: u32, at: u64) -> u8 {
    let mixed = (at ^ u64::from(file) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.to_be_bytes()[2]
}

pub(crate) fn bytes_of(want: &Want) -> Vec<u8> {
    (want.offset_bytes..want.end_bytes()).map(|at| byte_of(want.file.0, at)).collect()
}

/// Costs of a device with these figures that serves up to `depth` requests at once.
pub(crate) fn costs(access_seconds: f64, bytes_per_second: f64, depth: u32, largest_bytes: u64) -> ReadCosts {
    let depths = (0..32).map(|power| 1_u32 << power).filter(|at| *at <= depth).collect::<Vec<_>>();
    let random = (9..=20).flat_map(|power| {
        let request_bytes = 1_u64 << power;
        let transfer = request_bytes as f64 / bytes_per_second;
        depths.iter().map(move |depth| RequestCost {
            request_bytes,
            depth: *depth,
            seconds: Estimate::exact(((access_seconds + transfer) / f64::from(*depth)).max(transfer)),
        })
    });
    ReadCosts {
        logical_block_bytes: 512,
        largest_request_bytes: largest_bytes,
        random: random.collect(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
        sequential: (9..=20)
            .map(|power| RequestCost {
                request_bytes: 1 << power,
                depth,
                seconds: Estimate::exact((1_u64 << power) as f64 / bytes_per_second),
            })
            .collect(),
    }
}

/// A device that reads ahead for a second after three contiguous requests; so they are sent in
/// reverse.
pub(crate) fn wasteful_sequences() -> SequenceCost {
    SequenceCost { request_bytes: 4096, requests: 3, seconds: Estimate::exact(1.0) }
}

/// Check against the computed contents.
struct Contents(u32);

impl Check for Contents {
    fn check(&self, offset_bytes: u64, bytes: &[u8]) -> Result<(), Mismatch> {
        let wrong = (offset_bytes..).zip(bytes).find(|(at, byte)| byte_of(self.0, *at) != **byte);
        wrong.map_or(Ok(()), |(at, _)| {
            Err(Mismatch { offset_bytes: at, why: "it is another byte".to_owned() })
        })
    }
}

/// A random case.
pub(crate) struct Case {
    pub(crate) files: Arc<[ReadFile]>,
    pub(crate) wants: Vec<Want>,
    pub(crate) costs: ReadCosts,
    pub(crate) options: PlanOptions,
    pub(crate) slots: usize,
}

impl Case {
    pub(crate) fn plan_files(&self) -> Vec<PlanFile> {
        self.files.iter().map(|file| file.plan.clone()).collect()
    }

    pub(crate) fn random(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut start_bytes = 0;
        let files = (0..random.random_range(1..=3)).map(|number| {
            let length_bytes = random.random_range(1..300_000);
            let align_bytes = [512, 4096][random.random_range(0..2)];
            let mut plan = PlanFile::new(length_bytes, align_bytes);
            plan.groups = groups(&mut random, length_bytes);
            let tail = (plan.readable_bytes..length_bytes).map(|at| byte_of(number, at)).collect::<Vec<_>>();
            let check: Option<Arc<dyn Check>> =
                random.random_bool(0.5).then(|| Arc::new(Contents(number)) as _);
            let file = ReadFile {
                device: DeviceId::from_index(0),
                start_bytes,
                plan,
                tail: Bytes::from(tail),
                check,
            };
            start_bytes += length_bytes.next_multiple_of(4096);
            file
        });
        let files: Arc<[ReadFile]> = files.collect();
        let wants = wants(&mut random, &files);
        let depth = [1, 4, 32][random.random_range(0..3)];
        let access_seconds = [10e-6, 100e-6, 8e-3][random.random_range(0..3)];
        let largest_bytes = [4096, 16_384, 131_072][random.random_range(0..3)];
        let mut costs = costs(access_seconds, [1e8, 2e9][random.random_range(0..2)], depth, largest_bytes);
        if seed.is_multiple_of(2) {
            costs.sequences = vec![wasteful_sequences()];
        }
        let options = PlanOptions {
            strategy: strategy(&mut random),
            depth: random.random_bool(0.3).then(|| random.random_range(1..40)),
            request_bytes_max: random.random_bool(0.3).then(|| random.random_range(512..200_000)),
            ..PlanOptions::new(random.random_range(100_000..4_000_000))
        };
        Self { files, wants, costs, options, slots: random.random_range(1..64) }
    }
}

fn groups(random: &mut impl Rng, length_bytes: u64) -> Groups {
    match random.random_range(0..3) {
        0 => Groups::Unknown,
        1 => Groups::Every(random.random_range(1000..40_000)),
        _ => {
            let mut cuts: Vec<u64> = (0..6).map(|_| random.random_range(0..=length_bytes)).collect();
            cuts.sort_unstable();
            Groups::Listed(cuts.chunks(2).map(|ends| ends[0]..ends[1]).collect())
        }
    }
}

fn strategy(random: &mut impl Rng) -> Strategy {
    match random.random_range(0..5) {
        0 | 1 => Strategy::Flexible,
        2 => {
            let block_bytes = random.random_bool(0.5).then(|| random.random_range(1..20_000));
            Strategy::FixedBlock { block_bytes }
        }
        3 => Strategy::WholeGroup,
        _ => Strategy::OneByOne { depth: random.random_range(1..10) },
    }
}

fn wants(random: &mut impl Rng, files: &[ReadFile]) -> Vec<Want> {
    let steps = random.random_range(0..40);
    let longest = [600, 5_000, 40_000][random.random_range(0..3)];
    let mut wants = Vec::new();
    for _ in 0..random.random_range(0..120) {
        let file = random.random_range(0..files.len());
        let length_bytes = files[file].plan.length_bytes;
        let offset_bytes = random.random_range(0..length_bytes);
        let most = (length_bytes - offset_bytes).min(longest);
        let length_bytes = random.random_range(1..=most);
        let step = random.random_range(0..=steps);
        let file = FileId(u32::try_from(file).unwrap());
        wants.push(Want { file, offset_bytes, length_bytes, step });
    }
    wants
}

/// A world whose device holds the files' contents.
pub(crate) fn world(case: &Case) -> MemoryWorld {
    let mut world = MemoryWorld::new(case.slots, Nanos::from_micros(50));
    let end_bytes = case.files.iter().map(|file| file.start_bytes + file.plan.length_bytes).max().unwrap();
    let device = world.add(end_bytes.next_multiple_of(4096), 512).id;
    for (file, number) in case.files.iter().zip(0..) {
        let length = usize::try_from(file.plan.length_bytes.next_multiple_of(512)).unwrap();
        let arena = Arena::new(length).unwrap();
        let mut buffer = arena.allocate(length).unwrap();
        (0..).zip(buffer.iter_mut()).for_each(|(at, byte)| *byte = byte_of(number, at));
        let operation = Operation::write(file.start_bytes, buffer.freeze());
        world.submit(device, Request { token: 0, operation }).unwrap();
        let mut completions = Vec::new();
        world.reap(Wait::until_completed(1), &mut completions);
        assert!(completions.iter().all(|completion| completion.result.is_ok()));
    }
    world
}

/// A world in which one read fails or returns damaged bytes.
pub(crate) struct Faulty<W> {
    pub(crate) inner: W,
    pub(crate) nth: u64,
    pub(crate) reads: Rc<Cell<u64>>,
    pub(crate) damages: bool,
    chosen: Option<u64>,
}

impl<W> Faulty<W> {
    pub(crate) fn new(inner: W, nth: u64, damages: bool) -> Self {
        Self { inner, nth, reads: Rc::default(), damages, chosen: None }
    }
}

impl<W: Io> Io for Faulty<W> {
    forward_io!(inner: devices in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        let token = request.token;
        self.inner.submit(device, request)?;
        self.reads.set(self.reads.get() + 1);
        if self.reads.get() == self.nth {
            self.chosen = Some(token);
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.inner.reap(wait, into);
        for completion in into.iter_mut().skip(before) {
            if self.chosen != Some(completion.token) {
                continue;
            }
            self.chosen = None;
            match &mut completion.operation {
                Operation::Read { into, .. } if self.damages => {
                    let last = into[0].len() - 1;
                    into[0][last] ^= 1;
                }
                _ => completion.result = Err(IoError::new(&completion.operation, Cause::System(5))),
            }
        }
    }
}
