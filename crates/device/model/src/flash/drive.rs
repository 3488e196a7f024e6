//! A flash drive: its stages behind [`Timing`].

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nandle_io::DriveCounters;

use super::chips::Chips;
use super::command_queue::{CommandQueue, SlotIndex};
use super::firmware::Firmware;
use super::host_queue::{HostCommand, HostQueue};
use super::link::Link;
use super::map_memory::MapMemory;
use super::mapping::{Mapping, Medium};
use super::page_reads::PageReads;
use super::parameters::{FlashParameters, ParameterError};
use super::read_ahead::ReadAhead;
use super::requests::Requests;
use super::state::{AgedState, StateError};
use super::stats::{EraseCounts, FlashStats};
use super::units::{UnitRange, saturating_u32};
use super::write_buffer::WriteBuffer;
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

/// End of the current segment of a slot's command. Ties go to the segment that started first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SegmentEnd {
    end_ns: u64,
    sequence: u64,
    slot: SlotIndex,
}

/// Modelled flash drive. It handles addresses and times, but no contents.
#[derive(Debug)]
pub struct FlashDrive {
    pub(super) parameters: FlashParameters,
    pub(super) unit_bytes: u64,
    pub(super) segment_units: u32,
    pub(super) units_per_row: u32,
    pub(super) commands: CommandQueue,
    pub(super) link: Link,
    pub(super) buffer: WriteBuffer,
    pub(super) read_ahead: ReadAhead,
    pub(super) mapping: Mapping,
    pub(super) map_memory: Option<MapMemory>,
    pub(super) chips: Chips,
    pub(super) page_reads: Option<PageReads>,
    pub(super) stats: FlashStats,
    requests: Requests,
    host: HostQueue,
    pub(super) firmware: Firmware,
    segment_ends: BinaryHeap<Reverse<SegmentEnd>>,
    segments: u64,
    idle_work_ns: Option<u64>,
}

impl FlashDrive {
    /// New drive on which nothing is written.
    ///
    /// # Errors
    /// [`ParameterError`] if the parameters are invalid.
    pub fn new(parameters: &FlashParameters) -> Result<Self, ParameterError> {
        parameters.validate()?;
        let unit_bytes = parameters.unit_bytes();
        let segment_units = saturating_u32(parameters.command_queue.segment_bytes / unit_bytes).max(1);
        Ok(Self {
            parameters: parameters.clone(),
            unit_bytes,
            segment_units,
            units_per_row: saturating_u32(parameters.units_per_program()),
            commands: CommandQueue::new(&parameters.command_queue),
            link: Link::new(&parameters.link, unit_bytes),
            buffer: WriteBuffer::new(parameters.write_buffer.bytes, unit_bytes, parameters.chips.dies()),
            read_ahead: ReadAhead::new(&parameters.read_ahead, unit_bytes),
            mapping: Mapping::new(parameters),
            map_memory: MapMemory::of(parameters),
            chips: Chips::new(&parameters.chips),
            page_reads: PageReads::of(&parameters.chips),
            stats: FlashStats::default(),
            requests: Requests::default(),
            host: HostQueue::new(&parameters.host),
            firmware: Firmware::new(&parameters.firmware),
            segment_ends: BinaryHeap::new(),
            segments: 0,
            idle_work_ns: None,
        })
    }

    /// Drive in the state of another one with the same layout. Times and policies may differ.
    ///
    /// # Errors
    /// [`StateError::Parameters`] if the parameters are invalid; [`StateError::OtherLayout`] if the
    /// state's capacity, chips or mapping differ.
    pub fn with_aged_state(parameters: &FlashParameters, state: AgedState) -> Result<Self, StateError> {
        let mut drive = Self::new(parameters)?;
        (drive.mapping, drive.map_memory, drive.stats) = state.into_parts(parameters)?;
        Ok(drive)
    }

    /// State that outlives a power cycle: mapping, wear and counters. Programs the data in the
    /// buffer first, so the drive must be idle.
    pub fn aged_state(&mut self) -> AgedState {
        let programmed_ns = self.buffer.programmed_ns();
        self.program_partial_rows(programmed_ns);
        AgedState::of(&self.parameters, &self.mapping, self.map_memory.as_ref(), &self.stats())
    }

    /// Marks the first part of a new drive, from 0.0 to 1.0, as written sequentially once. Takes no
    /// virtual time and no memory. Pages of an unwritten drive are read without the chips, so fill
    /// the drive before a measurement of reads.
    ///
    /// # Errors
    /// [`StateError::AlreadyWritten`] if the drive has been written to.
    pub fn fill_sequentially(&mut self, fraction: f64) -> Result<(), StateError> {
        if !self.mapping.is_new() {
            return Err(StateError::AlreadyWritten { drive: self.parameters.name.clone() });
        }
        let units = self.parameters.capacity_bytes as f64 * fraction.clamp(0.0, 1.0) / self.unit_bytes as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 2^31 units")]
        self.mapping.fill_sequentially(units as u32);
        Ok(())
    }

    /// Parameters of the drive.
    pub fn parameters(&self) -> &FlashParameters {
        &self.parameters
    }

    /// Counters of the drive.
    pub fn stats(&self) -> FlashStats {
        FlashStats { merged_requests: self.stats.merged_requests + self.host.merged(), ..self.stats.clone() }
    }

    /// Wear of the superblocks.
    pub fn erase_counts(&self) -> EraseCounts {
        self.mapping.erase_counts()
    }

    /// Bytes of memory of the mapping's tables.
    pub fn table_bytes(&self) -> usize {
        self.mapping.table_bytes()
    }

    /// Programs all host data that waits for a full row; returns the end of the last operation, if
    /// any.
    pub(super) fn program_partial_rows(&mut self, earliest_ns: u64) -> Option<u64> {
        let (mapping, mut medium) = self.mapping_and_medium();
        mapping.program_partial_rows(earliest_ns, &mut medium)
    }

    pub(super) fn mapping_and_medium(&mut self) -> (&mut Mapping, Medium<'_>) {
        let Self { mapping, chips, buffer, stats, map_memory, .. } = self;
        (mapping, Medium { chips, buffer, stats, map_memory: map_memory.as_mut() })
    }

    /// Starts waiting commands while slots are free.
    fn dispatch(&mut self, now_ns: u64) {
        while self.commands.has_room()
            && let Some(command) = self.host.pop()
        {
            self.start(now_ns, command);
        }
    }

    fn start(&mut self, now_ns: u64, command: HostCommand) {
        let operation = command.operation;
        let units = match operation {
            TimedOperation::Flush => UnitRange { first: 0, end: 0 },
            TimedOperation::Read | TimedOperation::Write { .. } | TimedOperation::Discard => {
                UnitRange::covering(command.offset_bytes, command.length_bytes, self.unit_bytes)
            }
        };
        let slot = self.commands.insert(command, units);
        let accepted_ns = self.firmware.accept(now_ns, operation);
        self.prepare(slot, operation, units, accepted_ns);
        self.serve(slot, accepted_ns);
    }

    /// Serves the next segment of a slot's command.
    fn serve(&mut self, slot: SlotIndex, start_ns: u64) {
        let Some(active) = self.commands.get_mut(slot) else { return };
        if let Some(ready_ns) = active.next_prefetched_ns()
            && ready_ns > start_ns
        {
            // Book the link only once the data is there, so that nothing waits behind a distant
            // booking.
            return self.wake_at(ready_ns, slot);
        }
        let end_ns = match active.command.operation {
            TimedOperation::Read => self.serve_read(slot, start_ns),
            TimedOperation::Write { durable } => self.serve_write(slot, start_ns, durable),
            TimedOperation::Flush => self.serve_flush(start_ns),
            TimedOperation::Discard => self.serve_discard(slot, start_ns),
        };
        self.wake_at(end_ns, slot);
    }

    fn wake_at(&mut self, end_ns: u64, slot: SlotIndex) {
        self.segments += 1;
        self.segment_ends.push(Reverse(SegmentEnd { end_ns, sequence: self.segments, slot }));
    }

    fn segment_ended(&mut self, now_ns: u64, slot: SlotIndex, completed: &mut Vec<TimedCompletion>) {
        let Some(active) = self.commands.get_mut(slot) else { return };
        if active.next_unit < active.units.end {
            return self.serve(slot, now_ns);
        }
        let Some(command) = self.commands.remove(slot) else { return };
        for &request in &command.requests {
            let id = self.requests.command_done(request);
            completed.extend(id.map(|id| TimedCompletion { id, completed_ns: now_ns }));
        }
        self.host.recycle(command.requests);
        self.dispatch(now_ns);
        if self.commands.is_idle() {
            self.idle_work_ns = self.mapping.idle_work_after_ns().map(|after_ns| now_ns + after_ns);
        }
    }

    /// Sets the drive's time.
    fn pass_to(&mut self, now_ns: u64) {
        self.chips.pass_to(now_ns);
        self.link.pass_to(now_ns);
    }

    fn work_while_idle(&mut self, now_ns: u64) {
        let (mapping, mut medium) = self.mapping_and_medium();
        let end_ns = mapping.work_while_idle(now_ns, &mut medium);
        self.idle_work_ns = end_ns.map(|end_ns| end_ns.max(now_ns + 1));
    }
}

impl Timing for FlashDrive {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        self.idle_work_ns = None;
        self.pass_to(now_ns);
        let TimedRequest { id, operation, offset_bytes, length_bytes } = request;
        let commands = self.host.commands_for(operation, length_bytes);
        let slot = self.requests.admit(id, commands);
        let piece_bytes = self.host.piece_bytes(operation, length_bytes);
        for piece in 0..u64::from(commands) {
            let done_bytes = piece * piece_bytes;
            let length = piece_bytes.min(length_bytes - done_bytes);
            self.host.push(operation, offset_bytes + done_bytes, length, slot);
            self.dispatch(now_ns);
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        match (self.segment_ends.peek(), self.idle_work_ns) {
            (Some(Reverse(next)), _) => Some(next.end_ns),
            (None, idle_ns) => idle_ns,
        }
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        while let Some(&Reverse(next)) = self.segment_ends.peek()
            && next.end_ns <= now_ns
        {
            self.segment_ends.pop();
            self.pass_to(next.end_ns);
            self.segment_ended(next.end_ns, next.slot, completed);
        }
        while let Some(idle_ns) = self.idle_work_ns
            && idle_ns <= now_ns
        {
            self.pass_to(idle_ns);
            self.work_while_idle(idle_ns);
        }
    }

    fn counters(&self) -> Option<DriveCounters> {
        Some(self.stats.counters(self.unit_bytes, self.parameters.superblock_bytes()))
    }

    fn aged_states(&mut self) -> Vec<Option<AgedState>> {
        vec![Some(self.aged_state())]
    }
}
