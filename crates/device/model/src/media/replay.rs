//! Replay of a recording up to a cut: its durable and volatile data.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::page::Page;
use super::recording::{Event, Recording};

/// State of one device at a cut. Advancing costs only the events in between.
#[derive(Debug, Clone)]
pub(super) struct Replay<'a> {
    pub(super) recording: &'a Recording,
    pub(super) durable: Contents,
    /// Volatile writes by block: completed ones in the order of completion, then those in flight in
    /// the order of submission.
    pub(super) volatile: BTreeMap<u64, Vec<Version>>,
    /// Completed writes that no flush covers yet, by their number among the completions.
    uncovered: BTreeMap<u64, u32>,
    completions: u64,
    next_event: usize,
}

/// Contents of a block after a write.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub(super) write: u32,
    pub(super) page: Option<Page>,
    completed: bool,
}

impl<'a> Replay<'a> {
    pub(super) fn new(recording: &'a Recording) -> Self {
        Self {
            recording,
            durable: recording.base.clone(),
            volatile: BTreeMap::new(),
            uncovered: BTreeMap::new(),
            completions: 0,
            next_event: 0,
        }
    }

    /// Earliest cut that includes the next event of this device.
    pub(super) fn next_cut(&self) -> Option<u64> {
        self.recording.events.get(self.next_event).map(|(number, _)| number + 1)
    }

    /// Replays all events before `cut`.
    pub(super) fn advance(&mut self, cut: u64) {
        while let Some(&(_, event)) =
            self.recording.events.get(self.next_event).filter(|(number, _)| *number < cut)
        {
            self.next_event += 1;
            self.play(event);
        }
        debug_assert!(self.next_cut().is_none_or(|next| next > cut), "an event before {cut} is left");
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Begun(write) => self.begin(write),
            Event::Completed { write, durable } => self.complete(write, durable),
            Event::Flushed { through } => {
                for write in self.take_uncovered(through) {
                    self.cover(write);
                }
            }
            // No flush covers these any more; only a newer write of the same block does.
            Event::FlushFailed { through } => drop(self.take_uncovered(through)),
        }
    }

    fn begin(&mut self, write: u32) {
        for (block, page) in self.effects(write) {
            let version = Version { write, page: page.clone(), completed: false };
            self.volatile.entry(*block).or_default().push(version);
        }
    }

    fn complete(&mut self, write: u32, durable: bool) {
        for (block, _) in self.effects(write) {
            let versions = self.volatile.get_mut(block);
            debug_assert!(versions.is_some(), "what is in flight is volatile: write {write}, block {block}");
            if let Some(versions) = versions {
                complete_version(versions, write);
            }
        }
        if durable {
            self.cover(write);
        } else {
            self.uncovered.insert(self.completions, write);
        }
        self.completions += 1;
        debug_assert!(self.uncovered.len() as u64 <= self.completions, "what is to be covered has completed");
    }

    /// Removes the uncovered writes among the first `through` completions, in order.
    fn take_uncovered(&mut self, through: u64) -> Vec<u32> {
        debug_assert!(through <= self.completions, "a flush of {through} of {}", self.completions);
        let later = self.uncovered.split_off(&through);
        std::mem::replace(&mut self.uncovered, later).into_values().collect()
    }

    /// Makes a write durable; drops earlier completed versions of its blocks.
    fn cover(&mut self, write: u32) {
        for (block, _) in self.effects(write) {
            // Already covered: a newer write of the block became durable first.
            let Some(versions) = self.volatile.get_mut(block) else { continue };
            let Some(at) = versions.iter().position(|version| version.write == write) else { continue };
            if let Some(version) = versions.drain(..=at).next_back() {
                debug_assert!(
                    version.completed,
                    "what is in flight isn't durable: write {write}, block {block}"
                );
                self.durable.set(*block, version.page);
            }
            if versions.is_empty() {
                self.volatile.remove(block);
            }
        }
    }

    /// Effects of a write on its blocks, in block order.
    pub(super) fn effects(&self, write: u32) -> &'a [super::pending::Effect] {
        let effects = self.recording.writes.get(write as usize);
        debug_assert!(effects.is_some(), "write {write} is recorded");
        effects.map(|effects| &**effects).unwrap_or_default()
    }
}

/// Moves a version from those in flight to the end of the completed ones.
fn complete_version(versions: &mut [Version], write: u32) {
    let completed = versions.iter().take_while(|version| version.completed).count();
    let at = versions.iter().position(|version| version.write == write);
    debug_assert!(at.is_some_and(|at| at >= completed), "write {write} completes once");
    let Some(at) = at else { return };
    if let Some(version) = versions.get_mut(at) {
        version.completed = true;
    }
    if let Some(moved) = versions.get_mut(completed..=at) {
        moved.rotate_right(1);
    }
}
