//! Dies and the channels they sit on. A die is busy while its cells work and while its register waits for the
//! channel.
#![allow(clippy::indexing_slicing, reason = "die numbers come from the mapping's own geometry")]

use super::parameters::ChipParameters;
use super::units::transfer_ns;
use crate::timeline::Timeline;

/// Number of a die; die *d* sits on channel *d* mod channels.
pub(crate) type DieIndex = u32;

/// When a program operation keeps its die busy, the transfer to its register included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Programming {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Times of one way of using the cells (all bits, or one bit a cell).
#[derive(Debug, Clone, Copy)]
pub(crate) struct CellTimes {
    pub(crate) read_ns: u64,
    pub(crate) program_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Chips {
    cells: CellTimes,
    erase_ns: u64,
    bytes_per_s: u64,
    transfer_bytes: u64,
    page_bytes: u64,
    page_transfer_ns: u64,
    copyback: bool,
    /// Reads that a die has in its cells at a time: its planes, where they are independent of each other.
    reads_at_once: u64,
    suspend_ns: Option<u64>,
    cache_program: bool,
    /// When the cells of each die took their last program operation from the register, which was free for the next one.
    register_free_ns: Vec<u64>,
    dies: Vec<Timeline>,
    /// The reads among what keeps each die busy.
    reads: Vec<Timeline>,
    channels: Vec<Timeline>,
    /// Channel of each die.
    channel_of: Vec<u32>,
}

impl Chips {
    pub(crate) fn new(parameters: &ChipParameters) -> Self {
        let dies = parameters.dies();
        Self {
            cells: CellTimes { read_ns: parameters.read_ns, program_ns: parameters.program_ns },
            erase_ns: parameters.erase_ns,
            bytes_per_s: parameters.channel_bytes_per_s,
            transfer_bytes: parameters.transfer_bytes,
            page_bytes: parameters.page_bytes,
            page_transfer_ns: transfer_ns(parameters.page_bytes, parameters.channel_bytes_per_s),
            copyback: parameters.copyback,
            reads_at_once: if parameters.independent_plane_reads { u64::from(parameters.planes) } else { 1 },
            suspend_ns: parameters.suspend_ns,
            cache_program: parameters.cache_program,
            register_free_ns: vec![0; dies as usize],
            dies: vec![Timeline::default(); dies as usize],
            reads: vec![Timeline::default(); dies as usize],
            channels: vec![Timeline::default(); parameters.channels as usize],
            channel_of: (0..dies).map(|die| die % parameters.channels).collect(),
        }
    }

    /// Times of the cells used with all their bits.
    pub(crate) fn cells(&self) -> CellTimes {
        self.cells
    }

    /// Reads part of one row for the host; gives the time at which the data has left the channel.
    #[inline]
    pub(crate) fn read(&mut self, die: DieIndex, earliest_ns: u64, bytes: u64, cells: CellTimes) -> u64 {
        let Some(suspend_ns) = self.suspend_ns else {
            return self.read_in_turn(die, earliest_ns, bytes, cells);
        };
        let (timeline, reads) = (&mut self.dies[die as usize], &mut self.reads[die as usize]);
        let sensing_ns = cells.read_ns / self.reads_at_once;
        if timeline.busy_until_ns() <= earliest_ns.max(reads.busy_until_ns()) {
            // Nothing but reads is in the way.
            let start_ns = timeline.append(earliest_ns, sensing_ns);
            reads.append(start_ns, sensing_ns);
            return self.over_channel(die, start_ns + cells.read_ns, bytes);
        }
        let start_ns = reads.append(earliest_ns + suspend_ns, sensing_ns);
        timeline.delay(suspend_ns + sensing_ns);
        self.over_channel(die, start_ns + cells.read_ns, bytes)
    }

    /// Reads part of one row after everything that the die has to do already; gives the time at which the data has
    /// left the channel.
    #[inline]
    pub(crate) fn read_in_turn(
        &mut self,
        die: DieIndex,
        earliest_ns: u64,
        bytes: u64,
        cells: CellTimes,
    ) -> u64 {
        let sensing_ns = cells.read_ns / self.reads_at_once;
        let sensed_ns = self.dies[die as usize].reserve(earliest_ns, sensing_ns) + cells.read_ns;
        let ready_ns = self.over_channel(die, sensed_ns, bytes);
        if self.reads_at_once == 1 {
            self.dies[die as usize].prolong(sensed_ns, ready_ns);
        }
        ready_ns
    }

    fn over_channel(&mut self, die: DieIndex, sensed_ns: u64, bytes: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        let channel = &mut self.channels[self.channel_of[die as usize] as usize];
        channel.reserve(sensed_ns, transfer_ns) + transfer_ns
    }

    /// Brings `bytes` over the channel and programs them.
    #[inline]
    pub(crate) fn program(
        &mut self,
        die: DieIndex,
        earliest_ns: u64,
        bytes: u64,
        cells: CellTimes,
    ) -> Programming {
        let transfer_ns = self.transfer_ns(bytes);
        let timeline = &mut self.dies[die as usize];
        let channel = &mut self.channels[self.channel_of[die as usize] as usize];
        if self.cache_program {
            let register_free_ns = &mut self.register_free_ns[die as usize];
            let start_ns = channel.reserve(earliest_ns.max(*register_free_ns), transfer_ns);
            *register_free_ns = timeline.append(start_ns + transfer_ns, cells.program_ns);
            return Programming { start_ns, end_ns: *register_free_ns + cells.program_ns };
        }
        let free_ns = earliest_ns.max(timeline.busy_until_ns());
        let start_ns = channel.reserve(free_ns, transfer_ns);
        let duration_ns = transfer_ns + cells.program_ns;
        let start_ns = timeline.append(start_ns, duration_ns);
        Programming { start_ns, end_ns: start_ns + duration_ns }
    }

    /// Erases one block of every plane of a die; gives the end.
    pub(crate) fn erase(&mut self, die: DieIndex, earliest_ns: u64) -> u64 {
        self.dies[die as usize].append(earliest_ns, self.erase_ns) + self.erase_ns
    }

    /// Copies `pages` pages within a die, one program operation each, without using the channel where the chips
    /// can; gives the end.
    pub(crate) fn copy_within(&mut self, die: DieIndex, earliest_ns: u64, pages: u64) -> u64 {
        let cells_ns = pages * (self.cells.read_ns + self.cells.program_ns);
        let bus_ns = if self.copyback { 0 } else { pages * 2 * self.page_transfer_ns };
        let timeline = &mut self.dies[die as usize];
        let mut earliest_ns = earliest_ns.max(timeline.busy_until_ns());
        if bus_ns > 0 {
            let channel = &mut self.channels[self.channel_of[die as usize] as usize];
            earliest_ns = channel.append(earliest_ns, bus_ns);
        }
        timeline.append(earliest_ns, cells_ns + bus_ns) + cells_ns + bus_ns
    }

    #[inline]
    fn transfer_ns(&self, bytes: u64) -> u64 {
        if bytes == self.page_bytes {
            return self.page_transfer_ns;
        }
        transfer_ns(bytes.next_multiple_of(self.transfer_bytes), self.bytes_per_s)
    }
}
