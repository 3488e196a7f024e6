use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::contents::Contents;
use super::pending::Effect;

/// Numbers the events of recordings; devices that share one can be [cut together](super::CrashImages). A clone is
/// another handle to the same numbers.
#[derive(Debug, Clone, Default)]
pub struct Sequence(Arc<AtomicU64>);

impl Sequence {
    /// How many events there were. Whatever was promised to a client at this position must be kept by every
    /// [image](super::CrashImage) whose cut is not smaller.
    pub fn position(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether the other one is a handle to the same numbers.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// What was done to one device's media, in the order in which it was submitted and completed, with the contents by
/// reference. Reads leave no trace in it. Memory: what was written, once, and some 50 bytes a block.
#[derive(Debug)]
pub struct Recording {
    pub(super) base: Contents,
    pub(super) writes: Vec<Arc<[Effect]>>,
    pub(super) events: Vec<(u64, Event)>,
    sequence: Sequence,
    completions: u64,
}

/// What happened. Writes, which include discards, are named by their place in [`Recording::writes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Begun(u32),
    /// `durable`: this itself is a guarantee for what was written.
    Completed {
        write: u32,
        durable: bool,
    },
    /// Covers as many completions, counted from the recording's start.
    Flushed {
        through: u64,
    },
    FlushFailed {
        through: u64,
    },
}

impl Recording {
    pub(super) fn new(base: Contents, sequence: Sequence) -> Self {
        Self { base, writes: Vec::new(), events: Vec::new(), sequence, completions: 0 }
    }

    /// How many events there are.
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// The numbers of its events.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// What the device held, durably, when the recording began.
    pub fn base(&self) -> &Contents {
        &self.base
    }

    /// Writes and discards that completed.
    pub(super) fn completions(&self) -> u64 {
        self.completions
    }

    /// Of these, all but the last ones that fit into so many blocks.
    pub(super) fn completions_but_last(&self, blocks: u64) -> u64 {
        let completed = self.events.iter().rev().filter_map(|(_, event)| match event {
            Event::Completed { write, .. } => self.writes.get(*write as usize),
            Event::Begun(_) | Event::Flushed { .. } | Event::FlushFailed { .. } => None,
        });
        let mut room = blocks;
        let fit = completed.take_while(|effects| {
            let left = room.checked_sub(effects.len() as u64);
            room = left.unwrap_or(room);
            left.is_some()
        });
        self.completions - fit.count() as u64
    }

    pub(super) fn begin(&mut self, effects: Arc<[Effect]>) -> u32 {
        debug_assert!(effects.is_sorted_by(|one, next| one.0 < next.0), "blocks of a write are in order");
        assert!(self.writes.len() < u32::MAX as usize, "a recording holds no more than 2^32 - 1 writes");
        #[expect(clippy::cast_possible_truncation, reason = "asserted")]
        let write = self.writes.len() as u32;
        self.writes.push(effects);
        self.push(Event::Begun(write));
        write
    }

    pub(super) fn complete(&mut self, write: u32, durable: bool) {
        debug_assert!((write as usize) < self.writes.len(), "write {write} completes and hasn't begun");
        debug_assert!(self.completions < self.writes.len() as u64, "more writes complete than began");
        self.completions += 1;
        self.push(Event::Completed { write, durable });
    }

    pub(super) fn flush(&mut self, through: u64, succeeded: bool) {
        debug_assert!(through <= self.completions, "a flush covers {through} of {}", self.completions);
        self.push(if succeeded { Event::Flushed { through } } else { Event::FlushFailed { through } });
    }

    fn push(&mut self, event: Event) {
        let number = self.sequence.next();
        debug_assert!(
            self.events.last().is_none_or(|(last, _)| *last < number),
            "event {number} is in order"
        );
        self.events.push((number, event));
    }
}
