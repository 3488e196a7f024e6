//! Throughput of a pump compared with a bare loop that only keeps the same requests outstanding.
//! Both use the same amount of memory, which was touched before.
//!
//! `cargo run --release -p nandle-predict --example pump -- TARGET [FILE_BYTES [REQUESTS]]` prints
//! a JSON object for each size and depth.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "it is a program")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_io::{Arena, Completion, DeviceId, Io, Nanos, Operation, Request, Wait, forward_io};
use nandle_reads::{
    Estimate, FileId, Owner, Plan, PlanFile, PlanOptions, ReadCosts, ReadFile, RequestCost, Scan, ScanMemory,
    Strategy, Want,
};
use nandle_session::{Access, Cancel, Session, Unobserved};
use nandle_target::Intent;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

const CELLS: [(u64, u32); 6] = [(4096, 1), (4096, 32), (8192, 32), (32_768, 8), (131_072, 4), (524_288, 4)];
const ROUNDS: usize = 5;
const SLOTS: u32 = 64;
const MEMORY_BYTES: usize = 64 << 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let target = arguments.next().unwrap_or_else(|| "model:nvme-tlc".to_owned());
    let mut number = |default: u64| arguments.next().map_or(default, |text| text.parse().unwrap());
    let (file_bytes, requests) = (number(1 << 30), number(20_000));
    let access = Access { test_file_bytes: file_bytes, ..Access::default() };
    let session = access.open(&target.parse().unwrap(), Intent::Read, &Cancel::default()).unwrap();
    session.prepare_apart(None, &mut Unobserved).unwrap();
    let session = Arc::new(session);
    for (request_bytes, depth) in CELLS {
        let mut seconds = [Vec::new(), Vec::new(), Vec::new()];
        let mut memory = ScanMemory::keeping(MEMORY_BYTES);
        for round in 0..ROUNDS {
            let case = Case::new(
                round as u64,
                file_bytes,
                request_bytes,
                depth,
                requests.min((4 << 30) / request_bytes),
            );
            seconds[0].push(case.bare(&session));
            seconds[1].push(case.scan(&session, &mut memory));
            seconds[2].push(case.owned(&session));
        }
        let [bare, scan, owned] = seconds.map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds[ROUNDS / 2]
        });
        println!(
            "{}",
            json!({
                "target": target, "request_bytes": request_bytes, "depth": depth, "bare_seconds": bare,
                "scan": bare / scan, "owner": bare / owned,
            })
        );
    }
}

struct Case {
    depth: u32,
    request_bytes: u64,
    file_bytes: u64,
    offsets: Vec<u64>,
}

impl Case {
    fn new(seed: u64, file_bytes: u64, request_bytes: u64, depth: u32, requests: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let places = file_bytes / request_bytes;
        let offsets = (0..requests).map(|_| random.random_range(0..places) * request_bytes).collect();
        Self { depth, request_bytes, file_bytes, offsets }
    }

    fn bare(&self, session: &Session) -> f64 {
        let (mut io, device) = session.open_io(SLOTS).unwrap();
        let length = usize::try_from(self.request_bytes).unwrap();
        let arena = Arena::new(MEMORY_BYTES).unwrap();
        let mut all = arena.allocate(MEMORY_BYTES).unwrap();
        // Touch the memory: its first use isn't the device's time.
        all.fill(0);
        let mut spare: VecDeque<_> = (0..MEMORY_BYTES / length).map(|_| all.split_to(length)).collect();
        let mut offsets = self.offsets.iter();
        let mut completions = Vec::new();
        let began = io.now();
        let mut left = self.offsets.len();
        while left > 0 {
            while io.in_flight() < self.depth as usize
                && let Some(offset_bytes) = offsets.next()
            {
                let buffer = spare.pop_front().unwrap();
                io.submit(device.id, Request { token: 0, operation: Operation::read(*offset_bytes, buffer) })
                    .unwrap();
            }
            io.reap(Wait::until_completed(1), &mut completions);
            for completion in completions.drain(..) {
                completion.result.unwrap();
                left -= 1;
                spare.extend(completion.operation.into_read_buffer());
            }
        }
        seconds(io.now().since(began))
    }

    fn plan(&self) -> Arc<Plan> {
        let cost = RequestCost {
            request_bytes: self.request_bytes,
            depth: self.depth,
            seconds: Estimate::exact(1e-5),
        };
        let costs = ReadCosts {
            logical_block_bytes: 4096,
            largest_request_bytes: self.request_bytes,
            random: vec![cost],
            sequential: Vec::new(),
            batches: Vec::new(),
            sequences: Vec::new(),
            price_error: 0.0,
        };
        let want = |(step, offset_bytes): (u32, &u64)| Want {
            file: FileId(0),
            offset_bytes: *offset_bytes,
            length_bytes: self.request_bytes,
            step,
        };
        let strategy = Strategy::OneByOne { depth: self.depth };
        let options = PlanOptions { strategy, ..PlanOptions::new(MEMORY_BYTES as u64) };
        let wants = (0..).zip(&self.offsets).map(want).collect();
        Arc::new(Plan::new(wants, &[PlanFile::new(self.file_bytes, 4096)], &costs, options).unwrap())
    }

    fn files(&self, device: DeviceId) -> Arc<[ReadFile]> {
        let plan = PlanFile::new(self.file_bytes, 4096);
        Arc::new([ReadFile { device, start_bytes: 0, plan, tail: bytes::Bytes::new(), check: None }])
    }

    fn scan(&self, session: &Session, memory: &mut ScanMemory) -> f64 {
        let (mut io, device) = session.open_io(SLOTS).unwrap();
        let plan = self.plan();
        let began = io.now();
        let mut scan = Scan::in_memory(io.as_mut(), self.files(device.id), plan, memory).unwrap();
        while scan.next_step().unwrap().is_some() {}
        drop(scan);
        seconds(io.now().since(began))
    }

    fn owned(&self, session: &Arc<Session>) -> f64 {
        let clock = Arc::new(Clock::default());
        let (of_world, of_owner) = (Arc::clone(session), Arc::clone(&clock));
        let owner = Owner::start("reads", move || {
            let (inner, _) = of_world.open_io(SLOTS).map_err(|error| error.to_string())?;
            Ok(Box::new(Timed { inner, clock: of_owner }))
        });
        let owner = owner.unwrap();
        for _ in 0..2 {
            // The first run warms up the owner's memory.
            clock.first.store(0, Ordering::Relaxed);
            let steps = owner.scan_to_end(self.files(DeviceId::from_index(0)), self.plan());
            assert_eq!(steps, self.offsets.len());
        }
        seconds(Nanos(clock.last.load(Ordering::Relaxed) - clock.first.load(Ordering::Relaxed)))
    }
}

/// Reads all steps and drops them.
trait ToEnd {
    fn scan_to_end(&self, files: Arc<[ReadFile]>, plan: Arc<Plan>) -> usize;
}

impl ToEnd for Owner {
    fn scan_to_end(&self, files: Arc<[ReadFile]>, plan: Arc<Plan>) -> usize {
        let steps = self.scan(files, plan, 16 << 20).into_iter();
        steps.inspect(|step| assert!(step.is_ok(), "{step:?}")).count()
    }
}

/// Times of a world's first request and last completion.
#[derive(Default)]
struct Clock {
    first: AtomicU64,
    last: AtomicU64,
}

struct Timed {
    inner: Box<dyn Io>,
    clock: Arc<Clock>,
}

impl Io for Timed {
    forward_io!(inner: devices in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), nandle_io::Full> {
        let now = self.inner.now().0;
        let _ = self.clock.first.compare_exchange(0, now.max(1), Ordering::Relaxed, Ordering::Relaxed);
        self.inner.submit(device, request)
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.inner.reap(wait, into);
        if into.len() > before {
            self.clock.last.store(self.inner.now().0, Ordering::Relaxed);
        }
    }
}

fn seconds(span: Nanos) -> f64 {
    span.0 as f64 / 1e9
}
