use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::contents::Contents;
use super::pending::Effect;

/// Numbering of the events of recordings. Devices that share one can be [cut
/// together](super::CrashImages). A clone is another handle to the same numbers.
#[derive(Debug, Clone, Default)]
pub struct Sequence(Arc<AtomicU64>);

impl Sequence {
    /// Number of events so far. Every [image](super::CrashImage) with a cut from here on must keep
    /// the promises made to a client up to now.
    pub fn position(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns true if both are handles to the same numbers.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Effects on one device's media in the order of submission and completion, with contents by
/// reference. Reads leave no trace. Takes the memory of the written data, plus some 50 bytes a
/// block.
#[derive(Debug)]
pub struct Recording {
    pub(super) base: Contents,
    pub(super) writes: Vec<Arc<[Effect]>>,
    pub(super) events: Vec<(u64, Event)>,
    sequence: Sequence,
    completions: u64,
}

/// Recorded event. Writes and discards are indices into [`Recording::writes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Begun(u32),
    /// `durable`: the completion itself is a guarantee.
    Completed {
        write: u32,
        durable: bool,
    },
    /// Covers the first `through` completions of the recording.
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

    /// Number of events.
    pub fn events(&self) -> usize {
        self.events.len()
    }

    /// Numbering of the events.
    pub fn sequence(&self) -> &Sequence {
        &self.sequence
    }

    /// Durable contents at the start of the recording.
    pub fn base(&self) -> &Contents {
        &self.base
    }

    /// Number of completed writes and discards.
    pub(super) fn completions(&self) -> u64 {
        self.completions
    }

    /// Number of completions without the last ones that fit into `blocks`.
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
