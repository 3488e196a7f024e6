//! Operations on media: decided when they begin, applied when they complete.

use std::ops::Range;
use std::sync::Arc;

use nandle_io::{Buffer, Cause, Durability, Operation, ReadBuffers};

use super::device::{AfterDiscard, Media, WriteCache};
use super::faults::Fate;
use super::page::{Page, flip_one_bit};
use super::pending::{Action, Effect, OperationId, Outcome, Pending, PendingWrite, blocks_of};

/// Linux errno of an input or output error.
const EIO: i32 = 5;
/// Linux errno of a full device.
const ENOSPC: i32 = 28;

impl Media {
    /// Begins an operation. Copies the contents of a write; a read returns those at its completion.
    ///
    /// # Errors
    /// [`Cause::Misaligned`] or [`Cause::BeyondEnd`] if the operation isn't made of whole blocks of
    /// this device. It then doesn't count as an operation. Failures of the device are reported by
    /// [`Self::complete`].
    pub fn begin(&mut self, operation: &Operation) -> Result<OperationId, Cause> {
        self.check(operation)?;
        let number = self.operations;
        self.operations += 1;
        let blocks = self.blocks(operation);
        let extra_latency_ns = self.faults.extra_latency_ns(number, &blocks);
        let (action, failure) = match operation {
            Operation::Read { .. } => (Action::Read, self.faults.read_fails(number, blocks).then_some(EIO)),
            Operation::Write { from, durability, .. } => {
                self.begin_write(number, blocks, from, *durability == Durability::Durable)
            }
            Operation::Flush => self.begin_flush(number),
            Operation::Discard { .. } => (self.begin_discard(number, &blocks), None),
        };
        let result = failure.map_or(Ok(()), |errno| Err(Cause::System(errno)));
        let before =
            self.in_flight.insert(number, Pending { outcome: Outcome { result, extra_latency_ns }, action });
        debug_assert!(before.is_none(), "operation {number} is in flight already");
        Ok(OperationId(number))
    }

    /// Applies an operation and returns its outcome. Fills the buffers of a successful read.
    /// `operation` must be the same as at [`Self::begin`].
    ///
    /// The outcome of another media's id is [`Cause::Unsupported`].
    pub fn complete(&mut self, OperationId(number): OperationId, operation: &mut Operation) -> Outcome {
        let Some(Pending { outcome, action }) = self.in_flight.remove(&number) else {
            let why = "the operation is not in flight on this media";
            return Outcome { result: Err(Cause::Unsupported { why }), extra_latency_ns: 0 };
        };
        match (action, operation) {
            (Action::Read, Operation::Read { offset_bytes, into }) if outcome.result.is_ok() => {
                self.fill(number, *offset_bytes, into);
            }
            (Action::Read, operation) => {
                debug_assert!(outcome.result.is_err(), "a read began, {} completes", operation.name());
            }
            (Action::Write(write), operation) => {
                debug_assert!(
                    matches!(operation, Operation::Write { .. } | Operation::Discard { .. }),
                    "a write or discard began, {} completes",
                    operation.name()
                );
                self.take_effect(&write);
            }
            (Action::Flush { through }, operation) => {
                debug_assert!(
                    matches!(operation, Operation::Flush),
                    "a flush began, {} completes",
                    operation.name()
                );
                if let Some(recording) = &mut self.recording {
                    recording.flush(through, outcome.result.is_ok());
                }
            }
        }
        outcome
    }

    fn check(&self, operation: &Operation) -> Result<(), Cause> {
        let needed = self.contents.logical_block_bytes();
        let aligned = |what, got: u64| {
            if got.is_multiple_of(needed) { Ok(()) } else { Err(Cause::Misaligned { what, got, needed }) }
        };
        let (offset, length) = (operation.offset_bytes(), operation.length_bytes());
        aligned("offset", offset)?;
        aligned("length", length)?;
        if let Operation::Read { into, .. } = operation {
            into.iter().try_for_each(|buffer| aligned("length of a buffer", buffer.len() as u64))?;
        }
        let (end_bytes, capacity_bytes) = (offset.saturating_add(length), self.contents.capacity_bytes());
        if end_bytes > capacity_bytes {
            return Err(Cause::BeyondEnd { end_bytes, capacity_bytes });
        }
        Ok(())
    }

    fn blocks(&self, operation: &Operation) -> Range<u64> {
        let block_bytes = self.contents.logical_block_bytes();
        match operation {
            Operation::Flush => 0..u64::MAX,
            Operation::Read { .. } | Operation::Write { .. } | Operation::Discard { .. } => {
                blocks_of(operation.offset_bytes(), operation.length_bytes(), block_bytes)
            }
        }
    }

    fn begin_write(
        &mut self,
        number: u64,
        blocks: Range<u64>,
        from: &[Buffer],
        durable: bool,
    ) -> (Action, Option<i32>) {
        let device_blocks = self.contents.capacity_bytes() / self.contents.logical_block_bytes();
        let landing = self.faults.landing(number, &blocks, device_blocks);
        debug_assert!(
            landing + (blocks.end - blocks.start) <= device_blocks,
            "blocks {blocks:?} of {device_blocks} land on {landing}"
        );
        let new_blocks = self.new_blocks(landing..landing + (blocks.end - blocks.start));
        let used_blocks = self.contents.written_blocks() + self.reserved_blocks;
        if used_blocks + new_blocks > self.space_blocks || self.faults.no_space(number, &blocks) {
            let nothing = self.begin_effects(Vec::new(), 0, false);
            return (nothing, Some(ENOSPC));
        }
        let fails = self.faults.write_fails(number, blocks.clone());
        let pages = Page::of_write(from, self.contents.block_bytes());
        debug_assert!(
            pages.len() as u64 == blocks.end - blocks.start,
            "{} blocks come for {blocks:?}",
            pages.len()
        );
        let stored = blocks.clone().zip(pages).filter_map(|(block, page)| {
            let page = self.stored(number, block, page, fails)?;
            Some((landing + (block - blocks.start), Some(page)))
        });
        let stored = stored.collect();
        let action = self.begin_effects(stored, new_blocks, durable && !fails);
        (action, fails.then_some(EIO))
    }

    /// Blocks of limited space that a write takes. Two writes in flight to one new block take two
    /// until they complete.
    fn new_blocks(&self, blocks: Range<u64>) -> u64 {
        if self.space_blocks == u64::MAX {
            return 0;
        }
        blocks.filter(|block| self.contents.page(*block).is_none()).count() as u64
    }

    /// Contents that a write leaves in a block; `None` if the block is unchanged.
    fn stored(&self, number: u64, block: u64, page: Page, fails: bool) -> Option<Page> {
        if fails && self.faults.dice(number).of(block).coin() {
            return None;
        }
        match self.faults.write_fate(number, block) {
            Fate::Stored => Some(page),
            Fate::Damaged(dice) => Some(page.damaged(dice)),
            Fate::Lost => None,
        }
    }

    fn begin_discard(&mut self, number: u64, blocks: &Range<u64>) -> Action {
        let (dice, block_bytes) = (self.faults.dice(number), self.contents.block_bytes());
        let afterwards = |block| match self.after_discard {
            AfterDiscard::Garbage => Some(Page::garbage(dice.of(block), block_bytes)),
            AfterDiscard::Zeros => None,
        };
        let written = self.contents.written_in(blocks.start, blocks.end);
        let effects = written.into_iter().map(|block| (block, afterwards(block))).collect();
        self.begin_effects(effects, 0, false)
    }

    fn begin_effects(&mut self, effects: Vec<Effect>, new_blocks: u64, durable: bool) -> Action {
        let effects: Arc<[Effect]> = effects.into();
        let recorded = self.recording.as_mut().map(|recording| recording.begin(Arc::clone(&effects)));
        self.reserved_blocks += new_blocks;
        let durable = match self.cache {
            WriteCache::Volatile => durable,
            WriteCache::Protected => true,
            WriteCache::Lying { .. } => false,
        };
        Action::Write(PendingWrite { effects, recorded, durable, new_blocks })
    }

    fn begin_flush(&mut self, number: u64) -> (Action, Option<i32>) {
        let through = self.recording.as_ref().map_or(0, |recording| match self.cache {
            WriteCache::Lying { held_bytes } => {
                recording.completions_but_last(held_bytes / self.contents.logical_block_bytes())
            }
            WriteCache::Volatile | WriteCache::Protected => recording.completions(),
        });
        (Action::Flush { through }, self.faults.flush_fails(number).then_some(EIO))
    }

    fn take_effect(&mut self, write: &PendingWrite) {
        debug_assert!(
            self.reserved_blocks >= write.new_blocks,
            "{} blocks are reserved",
            self.reserved_blocks
        );
        self.reserved_blocks -= write.new_blocks;
        for (block, page) in write.effects.iter() {
            if let Some(previous) = &mut self.previous {
                previous.set(*block, self.contents.page(*block).cloned());
            }
            self.contents.set(*block, page.clone());
            self.faults.written(*block);
        }
        debug_assert!(
            self.recording.is_some() == write.recorded.is_some(),
            "what begins unrecorded isn't recorded when it completes, and the other way round"
        );
        if let (Some(recording), Some(recorded)) = (&mut self.recording, write.recorded) {
            recording.complete(recorded, write.durable);
        }
    }

    fn fill(&self, number: u64, offset_bytes: u64, into: &mut ReadBuffers) {
        let first = offset_bytes / self.contents.logical_block_bytes();
        let parts = into.iter_mut().flat_map(|buffer| buffer.chunks_mut(self.contents.block_bytes()));
        for (block, part) in (first..).zip(parts) {
            debug_assert!(part.len() == self.contents.block_bytes(), "{} bytes of block {block}", part.len());
            let stale = self.previous.as_ref().filter(|_| self.faults.reads_stale(number, block));
            match stale.unwrap_or(&self.contents).page(block) {
                Some(page) => part.copy_from_slice(page.bytes()),
                None => part.fill(0),
            }
            if let Some(dice) = self.faults.read_damage(number, block) {
                flip_one_bit(part, dice);
            }
        }
    }
}
