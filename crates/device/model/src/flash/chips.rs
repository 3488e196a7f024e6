//! Dies and their channels. A die is busy while its cells work and while its register waits for the
//! channel.
#![allow(clippy::indexing_slicing, reason = "die numbers come from the mapping's own geometry")]

use super::die::{Die, Work};
use super::parameters::ChipParameters;
use super::units::transfer_ns;
use crate::timeline::Timeline;

/// Number of a die; die *d* sits on channel *d* mod channels.
pub(crate) type DieIndex = u32;

/// Time in which a program operation occupies its die, including the transfer to its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Programming {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

/// Times of cells that store all bits, or one bit each.
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
    /// Concurrent reads of a die: its number of planes if they are independent.
    reads_at_once: u64,
    cache_program: bool,
    /// Current time of the drive; nothing begins earlier.
    now_ns: u64,
    /// For each die, the time at which its cells took the last program operation out of the
    /// register, which was then free for the next.
    register_free_ns: Vec<u64>,
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    /// Channel of each die.
    channel_of: Vec<u32>,
}

impl Chips {
    pub(crate) fn new(parameters: &ChipParameters) -> Self {
        let dies = parameters.dies();
        let least_transfer_ns = transfer_ns(parameters.transfer_bytes, parameters.channel_bytes_per_s);
        let channel = Timeline::new(least_transfer_ns);
        Self {
            cells: CellTimes { read_ns: parameters.read_ns, program_ns: parameters.program_ns },
            erase_ns: parameters.erase_ns,
            bytes_per_s: parameters.channel_bytes_per_s,
            transfer_bytes: parameters.transfer_bytes,
            page_bytes: parameters.page_bytes,
            page_transfer_ns: transfer_ns(parameters.page_bytes, parameters.channel_bytes_per_s),
            copyback: parameters.copyback,
            reads_at_once: if parameters.independent_plane_reads { u64::from(parameters.planes) } else { 1 },
            cache_program: parameters.cache_program,
            now_ns: 0,
            register_free_ns: vec![0; dies as usize],
            dies: vec![Die::new(parameters); dies as usize],
            channels: vec![channel; parameters.channels as usize],
            channel_of: (0..dies).map(|die| die % parameters.channels).collect(),
        }
    }

    /// Times of cells that store all their bits.
    pub(crate) fn cells(&self) -> CellTimes {
        self.cells
    }

    /// Sets the drive's time.
    #[inline]
    pub(crate) fn pass_to(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Reads part of one row for the host; returns the time at which the data has left the channel.
    #[inline]
    pub(crate) fn read(&mut self, die: DieIndex, earliest_ns: u64, bytes: u64, cells: CellTimes) -> u64 {
        let sensing_ns = cells.read_ns / self.reads_at_once;
        let start_ns = self.die(die).read(earliest_ns, sensing_ns);
        self.bring_out(die, start_ns + cells.read_ns, bytes)
    }

    /// Like [`Self::read`], after everything that the die has to do already.
    #[inline]
    pub(crate) fn read_in_turn(
        &mut self,
        die: DieIndex,
        earliest_ns: u64,
        bytes: u64,
        cells: CellTimes,
    ) -> u64 {
        let sensing_ns = cells.read_ns / self.reads_at_once;
        let start_ns = self.die(die).read_in_turn(earliest_ns, sensing_ns);
        self.bring_out(die, start_ns + cells.read_ns, bytes)
    }

    /// Moves sensed data over the channel. If the planes share a register, the die waits for that.
    fn bring_out(&mut self, die: DieIndex, sensed_ns: u64, bytes: u64) -> u64 {
        let ready_ns = self.over_channel(die, sensed_ns, bytes);
        if self.reads_at_once == 1 {
            self.dies[die as usize].prolong(sensed_ns, ready_ns);
        }
        ready_ns
    }

    fn die(&mut self, die: DieIndex) -> &mut Die {
        let die = &mut self.dies[die as usize];
        die.forget_before(self.now_ns);
        die
    }

    fn channel(&mut self, die: DieIndex) -> &mut Timeline {
        let channel = &mut self.channels[self.channel_of[die as usize] as usize];
        channel.forget_before(self.now_ns);
        channel
    }

    fn over_channel(&mut self, die: DieIndex, sensed_ns: u64, bytes: u64) -> u64 {
        let transfer_ns = self.transfer_ns(bytes);
        self.channel(die).reserve(sensed_ns, transfer_ns) + transfer_ns
    }

    /// Transfers `bytes` over the channel and programs them.
    #[inline]
    pub(crate) fn program(
        &mut self,
        die: DieIndex,
        earliest_ns: u64,
        bytes: u64,
        cells: CellTimes,
    ) -> Programming {
        let transfer_ns = self.transfer_ns(bytes);
        if self.cache_program {
            let register_free_ns = self.register_free_ns[die as usize];
            let start_ns = self.channel(die).reserve(earliest_ns.max(register_free_ns), transfer_ns);
            let taken_ns = self.die(die).append(Work::Program, start_ns + transfer_ns, cells.program_ns);
            self.register_free_ns[die as usize] = taken_ns;
            return Programming { start_ns, end_ns: taken_ns + cells.program_ns };
        }
        let free_ns = earliest_ns.max(self.dies[die as usize].busy_until_ns());
        let start_ns = self.channel(die).reserve(free_ns, transfer_ns);
        let duration_ns = transfer_ns + cells.program_ns;
        let start_ns = self.die(die).append(Work::Program, start_ns, duration_ns);
        Programming { start_ns, end_ns: start_ns + duration_ns }
    }

    /// Erases one block of every plane of a die; returns the end.
    pub(crate) fn erase(&mut self, die: DieIndex, earliest_ns: u64) -> u64 {
        let erase_ns = self.erase_ns;
        self.die(die).append(Work::Erase, earliest_ns, erase_ns) + erase_ns
    }

    /// Copies `pages` pages within a die, each with a program operation; returns the end. Bypasses
    /// the channel if the chips support copyback.
    pub(crate) fn copy_within(&mut self, die: DieIndex, earliest_ns: u64, pages: u64) -> u64 {
        let cells_ns = pages * (self.cells.read_ns + self.cells.program_ns);
        let bus_ns = if self.copyback { 0 } else { pages * 2 * self.page_transfer_ns };
        let mut earliest_ns = earliest_ns.max(self.dies[die as usize].busy_until_ns());
        if bus_ns > 0 {
            earliest_ns = self.channel(die).append(earliest_ns, bus_ns);
        }
        self.die(die).append(Work::Program, earliest_ns, cells_ns + bus_ns) + cells_ns + bus_ns
    }

    #[inline]
    fn transfer_ns(&self, bytes: u64) -> u64 {
        if bytes == self.page_bytes {
            return self.page_transfer_ns;
        }
        transfer_ns(bytes.next_multiple_of(self.transfer_bytes), self.bytes_per_s)
    }
}
