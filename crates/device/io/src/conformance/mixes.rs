use std::collections::BTreeMap;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::memory::Memory;
use super::oracle::Oracle;
use super::session::Session;
use crate::{Buffer, BufferMut, Completion, Device, Durability, Io, Nanos, Operation, Wait};

/// Number of requests in a mix.
const REQUESTS: usize = 600;
/// Limit of a random request's length.
const LONGEST_BYTES: usize = 160 << 10;
/// Part of a large device that a mix uses.
const AREA_BYTES: usize = 16 << 20;
/// Limit of requests in flight; more would add nothing.
const DEPTH_MAX: usize = 64;

/// Checks that every read returns the last write, in random requests on disjoint ranges that fill
/// up to all slots of the world.
///
/// The mix has reads, writes, durable writes and flushes, and discards if supported. Requests have
/// one to four buffers at odd addresses, from registered and unregistered arenas; some writes use
/// slices of shared memory. Does nothing on a read-only device.
pub fn random_mixes_match_an_oracle(io: &mut dyn Io, device: &Device, seed: u64) {
    if !device.shape.writable {
        return;
    }
    let mut mix = Mix::new(Session::new(io, device, "random mixes", seed));
    mix.write_everything();
    mix.run(REQUESTS);
    mix.check_everything();
}

struct Mix<'a> {
    session: Session<'a>,
    rng: Xoshiro256PlusPlus,
    memory: Memory,
    oracle: Oracle,
    pending: BTreeMap<u64, Pending>,
}

/// Request in flight: its range and the addresses of its buffers.
struct Pending {
    range: Range<usize>,
    is_read: bool,
    name: &'static str,
    memory: Vec<(usize, usize)>,
}

impl<'a> Mix<'a> {
    fn new(session: Session<'a>) -> Self {
        let capacity = usize::try_from(session.device.shape.capacity_bytes).unwrap_or(usize::MAX);
        let block_bytes = session.block_bytes();
        let area_bytes = capacity.min(AREA_BYTES) / block_bytes * block_bytes;
        assert!(area_bytes > 0, "a device of no bytes can't be checked");
        let depth = session.io.slots().min(DEPTH_MAX);
        let bytes_in_flight = (depth + 1) * (LONGEST_BYTES + 8 * 4096);
        let memory = Memory::new(session.io, &session.device, 2 * bytes_in_flight);
        let rng = Xoshiro256PlusPlus::seed_from_u64(session.seed());
        Self { session, rng, memory, oracle: Oracle::new(area_bytes), pending: BTreeMap::new() }
    }

    fn run(&mut self, requests: usize) {
        let mut submitted = 0;
        while submitted < requests || !self.pending.is_empty() {
            let depth = self.rng.random_range(1..=self.session.io.slots().min(DEPTH_MAX));
            while submitted < requests && self.pending.len() < depth {
                submitted += 1;
                self.submit_one();
            }
            self.reap();
        }
    }

    fn submit_one(&mut self) {
        let kind = self.rng.random_range(0..100);
        let is_read = kind < 45;
        let Some(range) = self.free_range(is_read) else { return };
        let (offset_bytes, bytes) = (range.start as u64, range.len());
        let operation = match kind {
            0..45 => Operation::Read { offset_bytes, into: self.memory.for_read(&mut self.rng, bytes) },
            45..88 => self.write(offset_bytes, bytes, Durability::Volatile),
            88..93 => self.write(offset_bytes, bytes, Durability::Durable),
            93..97 if self.session.device.shape.discards => {
                Operation::Discard { offset_bytes, length_bytes: bytes as u64 }
            }
            _ => Operation::Flush,
        };
        self.submit(range, operation);
    }

    fn write(&mut self, offset_bytes: u64, bytes: usize, durability: Durability) -> Operation {
        Operation::Write { offset_bytes, from: self.memory.for_write(&mut self.rng, bytes), durability }
    }

    fn submit(&mut self, range: Range<usize>, operation: Operation) {
        let range = if matches!(operation, Operation::Flush) { 0..0 } else { range };
        let is_read = matches!(operation, Operation::Read { .. });
        let (name, memory) = (operation.name(), addresses(&operation));
        let token = self.session.submit(operation);
        self.pending.insert(token, Pending { range, is_read, name, memory });
        assert_eq!(self.session.io.in_flight(), self.pending.len());
    }

    /// Range of whole blocks without requests in flight; reads may overlap other reads.
    fn free_range(&mut self, is_read: bool) -> Option<Range<usize>> {
        let block = self.session.block_bytes();
        let blocks = self.oracle.bytes() / block;
        let largest = usize::try_from(self.session.device.shape.largest_transfer_bytes).unwrap_or(usize::MAX);
        let longest = (LONGEST_BYTES.min(largest) / block).clamp(1, blocks);
        (0..20).find_map(|_| {
            let exponent = self.rng.random_range(0..=longest.ilog2());
            let length = self.rng.random_range(1..=(2_usize << exponent).min(longest));
            let start = self.rng.random_range(0..=blocks - length);
            let range = start * block..(start + length) * block;
            let meets = |other: &Pending| other.range.start < range.end && range.start < other.range.end;
            let taken = self.pending.values().any(|other| !(is_read && other.is_read) && meets(other));
            (!taken).then_some(range)
        })
    }

    fn reap(&mut self) {
        let io = &mut *self.session.io;
        let wait = match self.rng.random_range(0..4) {
            0 => Wait::NONE,
            1 => Wait::until_time(io.now() + Nanos::from_micros(self.rng.random_range(0..500))),
            _ => Wait::until_completed(self.rng.random_range(1..=self.pending.len().max(1))),
        };
        let mut completions = Vec::new();
        io.reap(wait, &mut completions);
        self.check_all(&completions);
        assert_eq!(self.session.io.in_flight(), self.pending.len());
    }

    fn check_all(&mut self, completions: &[Completion]) {
        for completion in completions {
            self.check(completion);
        }
    }

    fn check(&mut self, completion: &Completion) {
        let pending = self.pending.remove(&completion.token).expect("a completion for what was asked, once");
        assert_eq!(completion.result, Ok(()));
        assert_eq!(completion.operation.name(), pending.name);
        assert_eq!(addresses(&completion.operation), pending.memory, "the buffers come back as they went");
        match &completion.operation {
            Operation::Read { into, .. } => {
                self.oracle.check_read(pending.range.start, into.iter().map(|buffer| &**buffer));
            }
            Operation::Write { from, .. } => {
                self.oracle.wrote(pending.range.start, from.iter().map(|buffer| &**buffer));
            }
            Operation::Discard { .. } => self.oracle.forget(pending.range),
            Operation::Flush => {}
        }
    }

    fn write_everything(&mut self) {
        for range in self.strides() {
            let write = self.write(range.start as u64, range.len(), Durability::Volatile);
            self.submit(range, write);
            self.drain();
        }
    }

    fn check_everything(&mut self) {
        for range in self.strides() {
            let into = self.memory.for_read(&mut self.rng, range.len());
            let offset_bytes = range.start as u64;
            self.submit(range, Operation::Read { offset_bytes, into });
            self.drain();
        }
    }

    fn drain(&mut self) {
        let completions = self.session.drain();
        self.check_all(&completions);
    }

    /// Ranges that cover the whole area, within the length limit and not aligned to chunks.
    fn strides(&self) -> Vec<Range<usize>> {
        let block = self.session.block_bytes();
        let largest = usize::try_from(self.session.device.shape.largest_transfer_bytes).unwrap_or(usize::MAX);
        let stride = (LONGEST_BYTES.min(largest) / block).max(1) * block;
        let bytes = self.oracle.bytes();
        (0..bytes).step_by(stride).map(|start| start..(start + stride).min(bytes)).collect()
    }
}

/// Addresses and lengths of a request's buffers.
fn addresses(operation: &Operation) -> Vec<(usize, usize)> {
    let place = |bytes: &[u8]| (bytes.as_ptr().addr(), bytes.len());
    match operation {
        Operation::Read { into, .. } => into.iter().map(|buffer: &BufferMut| place(buffer)).collect(),
        Operation::Write { from, .. } => from.iter().map(|buffer: &Buffer| place(buffer)).collect(),
        Operation::Flush | Operation::Discard { .. } => Vec::new(),
    }
}
