//! Shared test support: worlds, random cases, and a reference sort in memory.

#![allow(dead_code, reason = "each test uses its part")]

pub(crate) mod joins;
pub(crate) mod turns;
pub(crate) mod unusual;

use std::cell::Cell;
use std::future::Future;
use std::ops::Range;
use std::rc::Rc;

use nandle_io::conformance::MemoryWorld;
use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{
    Access, Cause, Completion, DeviceId, DurableWrites, Full, Io, IoError, Nanos, Operation, Request, Shape,
    Wait, forward_io,
};
use nandle_spill::{Budget, Combine, Place, Row, SortOptions, Sorted, Sorter, SpillError};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) const DEVICE: DeviceId = DeviceId::from_index(0);
pub(crate) const SPACE_BYTES: u64 = 32 << 20;

pub(crate) type OwnedRow = (Vec<u8>, Vec<u8>);

/// Seeds of random cases: the test's default number, or `NANDLE_CASES` from `NANDLE_FIRST_SEED` on.
pub(crate) struct Cases {
    what: &'static str,
    seeds: Range<u64>,
}

impl Cases {
    pub(crate) fn of(what: &'static str, default: u64) -> Self {
        let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
        let first = number("NANDLE_FIRST_SEED").unwrap_or(0);
        Self { what, seeds: first..first + number("NANDLE_CASES").unwrap_or(default) }
    }

    /// Cases that run twice: a hundredth of the number that run once.
    pub(crate) fn twice(what: &'static str, default: u64) -> Self {
        let Self { seeds, .. } = Self::of(what, 100 * default);
        Self { what, seeds: seeds.start..seeds.start + (seeds.end - seeds.start).div_ceil(100) }
    }

    pub(crate) fn seeds(&self) -> Range<u64> {
        self.seeds.clone()
    }

    /// Prints a summary of the cases that passed.
    #[allow(clippy::print_stdout, reason = "a record of what was tried")]
    pub(crate) fn summarise(&self, more: &str) {
        let Self { what, seeds: Range { start, end } } = self;
        println!("{what}: {} cases, seeds {start} to {}{more}", end - start, end.saturating_sub(1));
    }
}

pub(crate) fn memory_world() -> MemoryWorld {
    let mut world = MemoryWorld::new(64, Nanos::from_micros(20));
    world.add_shaped(Shape {
        capacity_bytes: SPACE_BYTES,
        logical_block_bytes: 512,
        memory_alignment_bytes: 512,
        largest_transfer_bytes: 1 << 20,
        access: Access::Direct,
        durable_writes: DurableWrites::OneCommand,
        writable: true,
        discards: true,
    });
    world
}

pub(crate) fn place() -> Place {
    Place { device: DEVICE, start_bytes: 0, length_bytes: SPACE_BYTES, salt: 0xC0FF_EE00, discards: false }
}

pub(crate) fn run<F: Future>(world: Box<dyn Io>, test: impl FnOnce(Handle) -> F) -> F::Output {
    let runtime = Runtime::new(world);
    runtime.block_on(test(runtime.handle()))
}

/// Concatenates payloads, so that lost, duplicated or reordered rows show.
pub(crate) struct Concatenation;

impl Combine for Concatenation {
    fn combine(&self, into: &mut Vec<u8>, payload: &[u8]) {
        into.extend_from_slice(payload);
    }
}

pub(crate) async fn sort(
    handle: &Handle,
    place: Place,
    options: &SortOptions,
    rows: &[OwnedRow],
) -> Result<(Vec<OwnedRow>, Sorted), SpillError> {
    let mut sorter = Sorter::new(handle, place, options.clone())?;
    for (key, payload) in rows {
        sorter.push(Row { key, payload }).await?;
    }
    let mut rows = sorter.finish().await?;
    let mut got = Vec::new();
    while let Some(row) = rows.next().await? {
        got.push((row.key.to_vec(), row.payload.to_vec()));
    }
    Ok((got, rows))
}

/// Reference sort with a vector.
pub(crate) fn sort_in_memory(options: &SortOptions, rows: &[OwnedRow]) -> Vec<OwnedRow> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|one, other| one.0.cmp(&other.0));
    if options.combine.is_some() {
        sorted.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            if is_same {
                first.1.extend_from_slice(&later.1);
            }
            is_same
        });
    }
    let limit = options.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    sorted.truncate(limit);
    sorted
}

/// Sorts rows with equal keys by payload unless the sort is stable, so that results can be
/// compared.
pub(crate) fn normalised(rows: &[OwnedRow], is_stable: bool) -> Vec<OwnedRow> {
    let mut rows = rows.to_vec();
    if !is_stable {
        rows.sort();
    }
    rows
}

/// Sorts, reverses, nearly sorts, or leaves the rows as they are.
pub(crate) fn reorder(random: &mut Xoshiro256PlusPlus, rows: &mut [OwnedRow]) {
    match random.random_range(0..6) {
        0 => rows.sort(),
        1 => {
            rows.sort();
            rows.reverse();
        }
        2 => rows.sort_by(|one, other| one.0.get(..2).cmp(&other.0.get(..2))),
        _ => {}
    }
}

pub(crate) fn budget(bytes: usize) -> Budget {
    Budget::new(bytes).unwrap()
}

/// Random rows with keys and payloads of bounded length. Keys use few letters, so that many are
/// equal or nearly equal.
pub(crate) fn random_rows(
    random: &mut Xoshiro256PlusPlus,
    rows: usize,
    key_bytes_max: usize,
    payload_bytes_max: usize,
) -> Vec<OwnedRow> {
    let letters = *[2_u8, 4, 255].get(random.random_range(0..3)).unwrap();
    let prefix = vec![7; *[0, 0, 3, 11].get(random.random_range(0..4)).unwrap()];
    (0..rows)
        .map(|_| {
            let length = random.random_range(0..=key_bytes_max);
            let mut key = prefix.clone();
            key.extend((0..length).map(|_| random.random_range(0..letters)));
            let length = random.random_range(0..=payload_bytes_max);
            (key, (0..length).map(|_| random.random()).collect())
        })
        .collect()
}

/// A world in which request number `nth` fails.
pub(crate) struct FailingWorld<W> {
    pub(crate) inner: W,
    pub(crate) nth: u64,
    pub(crate) requests: Rc<Cell<u64>>,
    /// Tokens of requests that must complete with an error.
    pub(crate) failing: Vec<u64>,
}

impl<W> FailingWorld<W> {
    pub(crate) fn new(inner: W, nth: u64) -> (Self, Rc<Cell<u64>>) {
        let requests = Rc::new(Cell::new(0));
        (Self { inner, nth, requests: Rc::clone(&requests), failing: Vec::new() }, requests)
    }
}

impl<W: Io> Io for FailingWorld<W> {
    forward_io!(inner: devices in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if matches!(request.operation, Operation::Read { .. } | Operation::Write { .. }) {
            self.requests.set(self.requests.get() + 1);
            if self.requests.get() == self.nth {
                self.failing.push(request.token);
            }
        }
        self.inner.submit(device, request)
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.inner.reap(wait, into);
        for completion in into.iter_mut().skip(before) {
            if let Some(index) = self.failing.iter().position(|token| *token == completion.token) {
                self.failing.remove(index);
                completion.result = Err(IoError::new(&completion.operation, Cause::System(5)));
            }
        }
    }
}
