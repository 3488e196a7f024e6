//! Service of commands, segment by segment. Each function books the resources of one segment and
//! returns its end.

use super::chips::{CellTimes, Programming};
use super::command_queue::SlotIndex;
use super::drive::FlashDrive;
use super::link::Direction;
use super::mapping::{Location, Stored};
use super::parameters::{Durability, MappingParameters};
use super::read_ahead::Fetch;
use super::units::{UnitRange, covered_bytes, saturating_u32};
use crate::timing::TimedOperation;

/// State of a unit in the buffer that has yet to be programmed.
#[derive(Debug, Clone, Copy)]
enum Waiting {
    /// Waits for other units of its program operation.
    ForCompany,
    /// Waits for the die.
    ForDie(Programming),
}

/// Segment of a command, and the command's range.
struct Segment {
    units: UnitRange,
    command_units: UnitRange,
    offset_bytes: u64,
    length_bytes: u64,
}

impl FlashDrive {
    /// Prepares a command, before its first segment.
    pub(super) fn prepare(
        &mut self,
        slot: SlotIndex,
        operation: TimedOperation,
        units: UnitRange,
        now_ns: u64,
    ) {
        match operation {
            TimedOperation::Read => self.prefetch(slot, units, now_ns),
            TimedOperation::Write { .. } | TimedOperation::Discard => self.read_ahead.invalidate(units),
            TimedOperation::Flush => {}
        }
    }

    pub(super) fn serve_read(&mut self, slot: SlotIndex, start_ns: u64) -> u64 {
        let Some(segment) = self.next_segment(slot) else { return start_ns };
        let mut end_ns = start_ns;
        let mut unit = segment.units.first;
        while unit < segment.units.end {
            let (units, ready_ns) = match self.prefetched_ns(slot, unit) {
                Some(ready_ns) => (1, ready_ns.max(start_ns)),
                None => self.read_row(unit, &segment, start_ns),
            };
            let last = unit + units == segment.command_units.end;
            let bytes = self.bytes_of(&segment, unit, units);
            end_ns = end_ns.max(self.link.transfer(Direction::ToHost, ready_ns, bytes, last));
            unit += units;
        }
        end_ns
    }

    pub(super) fn serve_write(&mut self, slot: SlotIndex, start_ns: u64, durable: bool) -> u64 {
        let Some(segment) = self.next_segment(slot) else { return start_ns };
        let (mut in_buffer_ns, mut on_medium_ns, mut gathering) = (start_ns, start_ns, false);
        for unit in segment.units.first..segment.units.end {
            let last = unit + 1 == segment.command_units.end;
            let bytes = self.bytes_of(&segment, unit, 1);
            let waiting = self.waiting_in_buffer(unit, start_ns);
            let room_ns = if waiting.is_some() { start_ns } else { self.buffer.admit(start_ns) };
            let arrived_ns = self.link.transfer(Direction::ToDrive, room_ns, bytes, last);
            in_buffer_ns = in_buffer_ns.max(arrived_ns);
            let programmed_ns = self.write_unit(unit, bytes, arrived_ns, waiting);
            on_medium_ns = on_medium_ns.max(programmed_ns.unwrap_or(0));
            gathering = programmed_ns.is_none();
        }
        if !self.waits_for_medium(durable) {
            return in_buffer_ns;
        }
        if gathering {
            // Either this programs the last units, or another write has completed their program
            // operation.
            let programmed_ns =
                self.program_partial_rows(in_buffer_ns).unwrap_or_else(|| self.buffer.programmed_ns());
            on_medium_ns = on_medium_ns.max(programmed_ns);
        }
        let last = segment.units.end == segment.command_units.end;
        on_medium_ns + if last { self.parameters.write_buffer.write_through_ns } else { 0 }
    }

    pub(super) fn serve_flush(&mut self, start_ns: u64) -> u64 {
        match self.parameters.write_buffer.durability {
            Durability::Volatile => {
                self.program_partial_rows(start_ns);
                self.buffer.programmed_ns().max(start_ns)
            }
            Durability::Protected | Durability::Lying => start_ns,
        }
    }

    /// Discards the units that lie entirely in the range.
    pub(super) fn serve_discard(&mut self, slot: SlotIndex, start_ns: u64) -> u64 {
        let Some(active) = self.commands.get_mut(slot) else { return start_ns };
        active.next_unit = active.units.end;
        let (offset, length) = (active.command.offset_bytes, active.command.length_bytes);
        let first = saturating_u32(offset.div_ceil(self.unit_bytes));
        let end = saturating_u32((offset + length) / self.unit_bytes).max(first);
        self.mapping.discard(UnitRange { first, end });
        self.stats.discarded_units += u64::from(end - first);
        start_ns
    }

    fn next_segment(&mut self, slot: SlotIndex) -> Option<Segment> {
        let active = self.commands.get_mut(slot)?;
        let first = active.next_unit;
        let end = active.units.end.min(first.saturating_add(self.segment_units));
        active.next_unit = end;
        Some(Segment {
            units: UnitRange { first, end },
            command_units: active.units,
            offset_bytes: active.command.offset_bytes,
            length_bytes: active.command.length_bytes,
        })
    }

    fn prefetched_ns(&mut self, slot: SlotIndex, unit: u32) -> Option<u64> {
        self.commands.get_mut(slot)?.prefetched_ns(unit)
    }

    /// Reads the units of the segment that share a row with `unit`; returns their number and the
    /// time at which they arrive.
    fn read_row(&mut self, unit: u32, segment: &Segment, start_ns: u64) -> (u32, u64) {
        let Location::Stored(stored) = self.mapping.locate(unit) else { return (1, start_ns) };
        if self.buffer.holds(stored.die, stored.row, start_ns).is_some() {
            return (1, start_ns);
        }
        let start_ns = self.reach(unit, segment, start_ns);
        let units = self.units_in_row(stored, unit, segment.units.end);
        let bytes = self.bytes_of(segment, unit, units);
        (units, self.sense(unit, stored, start_ns, bytes))
    }

    /// Looks up a unit's place and reads it, with retries; returns the time at which the data has
    /// left the channel.
    fn sense(&mut self, unit: u32, stored: Stored, start_ns: u64, bytes: u64) -> u64 {
        let known_ns = self.look_up(unit, start_ns);
        let cells = self.cells_of(stored);
        let Some(pages) = self.page_reads.as_ref().filter(|_| !stored.single_level) else {
            return self.chips.read(stored.die, known_ns, bytes, cells);
        };
        let state = self.mapping.page_state(stored);
        let cells = CellTimes { read_ns: pages.read_ns(state.page), ..cells };
        let mut ready_ns = self.chips.read(stored.die, known_ns, bytes, cells);
        for _ in 0..pages.retries(state) {
            self.stats.read_retries += 1;
            ready_ns = self.chips.read(stored.die, ready_ns + pages.decode_ns(), bytes, cells);
        }
        ready_ns
    }

    /// Time at which the controller has a unit's place: at once, unless that part of the map has to
    /// be read from the chips.
    fn look_up(&mut self, unit: u32, start_ns: u64) -> u64 {
        let Some(memory) = &mut self.map_memory else { return start_ns };
        if self.mapping.is_run(memory.run_around(unit)) {
            return start_ns;
        }
        if let Some(known_ns) = memory.known_ns(unit) {
            return known_ns.max(start_ns);
        }
        let asked_ns = self.firmware.reach_fragment(start_ns);
        memory.fetch(unit, asked_ns, &mut self.chips, &mut self.stats)
    }

    /// Time at which the controller reaches a unit. The first run of pages comes with the command;
    /// each run that isn't contiguous with the previous one is additional work.
    fn reach(&mut self, unit: u32, segment: &Segment, start_ns: u64) -> u64 {
        let is_free = self.parameters.firmware.fragment_ns == 0 || unit == segment.command_units.first;
        if is_free || self.mapping.is_run(UnitRange { first: unit - 1, end: unit + 1 }) {
            return start_ns;
        }
        self.firmware.reach_fragment(start_ns)
    }

    /// Number of contiguous units in the same row from `unit` on.
    fn units_in_row(&self, stored: Stored, unit: u32, end: u32) -> u32 {
        let in_row = |step: &u32| match self.mapping.locate(unit + step) {
            Location::Stored(next) => next.row == stored.row && next.address == stored.address + step,
            Location::Unwritten | Location::Buffered => false,
        };
        if self.units_per_row == 1 {
            return 1;
        }
        1 + (1..end - unit).take_while(in_row).fold(0, |units, _| units + 1)
    }

    /// Writes a unit, or replaces the version in the buffer; returns the end of its program
    /// operation, if that is booked.
    fn write_unit(
        &mut self,
        unit: u32,
        bytes: u64,
        arrived_ns: u64,
        waiting: Option<Waiting>,
    ) -> Option<u64> {
        self.stats.host_written_bytes += bytes;
        match waiting {
            Some(Waiting::ForCompany) => self.replaced_in_buffer(None),
            Some(Waiting::ForDie(programming)) if programming.start_ns >= arrived_ns => {
                self.replaced_in_buffer(Some(programming.end_ns))
            }
            Some(Waiting::ForDie(_)) => {
                let room_ns = self.buffer.admit(arrived_ns);
                self.write_new(unit, bytes, room_ns)
            }
            None => self.write_new(unit, bytes, arrived_ns),
        }
    }

    fn replaced_in_buffer(&mut self, programmed_ns: Option<u64>) -> Option<u64> {
        self.stats.host_written_units += 1;
        self.stats.overwritten_in_buffer_units += 1;
        programmed_ns
    }

    /// State of a unit in the buffer, if its program operation has not begun.
    fn waiting_in_buffer(&self, unit: u32, now_ns: u64) -> Option<Waiting> {
        match self.mapping.locate(unit) {
            Location::Unwritten => None,
            Location::Buffered => Some(Waiting::ForCompany),
            Location::Stored(stored) => {
                let programming = self.buffer.holds(stored.die, stored.row, now_ns)?;
                (programming.start_ns > now_ns).then_some(Waiting::ForDie(programming))
            }
        }
    }

    fn write_new(&mut self, unit: u32, bytes: u64, arrived_ns: u64) -> Option<u64> {
        let ready_ns =
            if bytes < self.unit_bytes { self.fill_up(unit, bytes, arrived_ns) } else { arrived_ns };
        let (mapping, mut medium) = self.mapping_and_medium();
        mapping.write(unit, ready_ns, &mut medium)
    }

    /// Reads the rest of a unit that is written in part.
    fn fill_up(&mut self, unit: u32, bytes: u64, arrived_ns: u64) -> u64 {
        let Location::Stored(stored) = self.mapping.locate(unit) else { return arrived_ns };
        if self.buffer.holds(stored.die, stored.row, arrived_ns).is_some() {
            return arrived_ns;
        }
        self.sense(unit, stored, arrived_ns, self.unit_bytes - bytes)
    }

    /// Passes a read command to the read-ahead, and fetches the units that it returns.
    fn prefetch(&mut self, slot: SlotIndex, units: UnitRange, now_ns: u64) {
        let Some(fetch) = self.read_ahead.observe(units, now_ns) else { return };
        if fetch.units.len() > 0 {
            // The controller's processor treats a fetch like any other command.
            let accepted_ns = self.firmware.accept(now_ns, TimedOperation::Read);
            self.fetch(fetch, accepted_ns);
        }
        let Some(active) = self.commands.get_mut(slot) else { return };
        self.read_ahead.copy_ready(fetch.stream, units, &mut active.prefetched_ns);
        self.stats.prefetched_used_units += active.prefetched_ns.len() as u64;
    }

    fn fetch(&mut self, fetch: Fetch, now_ns: u64) {
        let whole = Segment {
            units: fetch.units,
            command_units: fetch.units,
            offset_bytes: u64::from(fetch.units.first) * self.unit_bytes,
            length_bytes: u64::from(fetch.units.len()) * self.unit_bytes,
        };
        let mut next_address = None;
        let mut unit = fetch.units.first;
        while unit < fetch.units.end {
            let Location::Stored(stored) = self.mapping.locate(unit) else { return };
            if self.read_ahead.follows_physical_order()
                && next_address.is_some_and(|next| next != stored.address)
            {
                return;
            }
            let (units, ready_ns) = self.read_row(unit, &whole, now_ns);
            (unit..unit + units).for_each(|unit| self.read_ahead.fetched(fetch.stream, unit, ready_ns));
            self.stats.prefetched_units += u64::from(units);
            next_address = Some(stored.address + units);
            unit += units;
        }
    }

    fn waits_for_medium(&self, durable: bool) -> bool {
        let buffer = &self.parameters.write_buffer;
        !buffer.acknowledges_early || (durable && buffer.durability == Durability::Volatile)
    }

    fn cells_of(&self, stored: Stored) -> CellTimes {
        match &self.parameters.mapping {
            MappingParameters::Page(page) if stored.single_level => {
                page.slc_region.as_ref().map_or(self.chips.cells(), |slc| CellTimes {
                    read_ns: slc.read_ns,
                    program_ns: slc.program_ns,
                })
            }
            _ => self.chips.cells(),
        }
    }

    /// Bytes of the command in `units` units from `unit` on.
    fn bytes_of(&self, segment: &Segment, unit: u32, units: u32) -> u64 {
        let start = (u64::from(unit) * self.unit_bytes).max(segment.offset_bytes);
        let last = unit + units - 1;
        let last_bytes = covered_bytes(last, segment.offset_bytes, segment.length_bytes, self.unit_bytes);
        let last_start = (u64::from(last) * self.unit_bytes).max(segment.offset_bytes);
        last_start + last_bytes - start
    }
}
