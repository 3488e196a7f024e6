//! Buffer for written data until its program operation ends. Reads are served from it. Data written
//! again before its program operation begins replaces the older version.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::chips::{DieIndex, Programming};

/// Row whose program operation is booked.
#[derive(Debug, Clone, Copy)]
struct BookedRow {
    row: u32,
    programming: Programming,
}

/// Occupancy of the buffer, in mapping units.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    capacity_units: usize,
    /// Units whose program operation is not booked.
    open_units: usize,
    /// Times at which the other units leave.
    leaving_ns: BinaryHeap<Reverse<u64>>,
    /// End of all booked program operations of host data.
    programmed_ns: u64,
    /// Booked host data of each die, in the order in which it leaves.
    booked: Vec<VecDeque<BookedRow>>,
}

impl WriteBuffer {
    pub(crate) fn new(bytes: u64, unit_bytes: u64, dies: u32) -> Self {
        let capacity_units = usize::try_from(bytes / unit_bytes.max(1)).unwrap_or(usize::MAX);
        Self {
            capacity_units,
            open_units: 0,
            leaving_ns: BinaryHeap::new(),
            programmed_ns: 0,
            booked: vec![VecDeque::new(); dies as usize],
        }
    }

    /// Admits one unit; returns the time, from `earliest_ns` on, at which there is room.
    pub(crate) fn admit(&mut self, earliest_ns: u64) -> u64 {
        self.open_units += 1;
        if self.open_units + self.leaving_ns.len() <= self.capacity_units {
            return earliest_ns;
        }
        let Some(Reverse(left_ns)) = self.leaving_ns.pop() else { return earliest_ns };
        left_ns.max(earliest_ns)
    }

    /// Records the program operation of a row, booked at `now_ns`; `host_units` of its units are
    /// admitted ones.
    pub(crate) fn programmed(
        &mut self,
        (die, row): (DieIndex, u32),
        host_units: u32,
        now_ns: u64,
        programming: Programming,
    ) {
        if host_units == 0 {
            return;
        }
        self.open_units = self.open_units.saturating_sub(host_units as usize);
        for _ in 0..host_units {
            self.leaving_ns.push(Reverse(programming.end_ns));
        }
        self.programmed_ns = self.programmed_ns.max(programming.end_ns);
        let Some(booked) = self.booked.get_mut(die as usize) else { return };
        while booked.front().is_some_and(|first| first.programming.end_ns <= now_ns) {
            booked.pop_front();
        }
        booked.push_back(BookedRow { row, programming });
    }

    /// Program operation of a row that is still in the buffer at `now_ns`.
    #[inline]
    pub(crate) fn holds(&self, die: DieIndex, row: u32, now_ns: u64) -> Option<Programming> {
        let booked = self.booked.get(die as usize)?;
        let here = booked.iter().rev().take_while(|booked| booked.programming.end_ns > now_ns);
        here.into_iter().find(|booked| booked.row == row).map(|booked| booked.programming)
    }

    /// End of all booked program operations of host data.
    pub(crate) fn programmed_ns(&self) -> u64 {
        self.programmed_ns
    }
}

#[cfg(test)]
mod tests {
    use super::{Programming, WriteBuffer};

    fn until(end_ns: u64) -> Programming {
        Programming { start_ns: end_ns - 100, end_ns }
    }

    #[test]
    fn a_full_buffer_waits_for_the_first_unit_to_leave() {
        let mut buffer = WriteBuffer::new(8192, 4096, 2);
        assert_eq!(buffer.admit(10), 10);
        assert_eq!(buffer.admit(11), 11);
        buffer.programmed((0, 1), 1, 11, until(900));
        buffer.programmed((1, 2), 1, 11, until(500));
        assert_eq!(buffer.admit(12), 500);
        assert_eq!(buffer.programmed_ns(), 900);
    }

    #[test]
    fn data_is_here_until_it_is_programmed() {
        let mut buffer = WriteBuffer::new(8192, 4096, 2);
        buffer.programmed((0, 7), 1, 0, until(500));
        buffer.programmed((0, 8), 1, 0, until(900));
        assert_eq!(buffer.holds(0, 7, 499), Some(until(500)));
        assert_eq!((buffer.holds(0, 7, 500), buffer.holds(1, 8, 0)), (None, None));
        assert_eq!(buffer.holds(0, 8, 600), Some(until(900)));
    }

    #[test]
    fn what_cleaning_moves_is_not_waited_for() {
        let mut buffer = WriteBuffer::new(8192, 4096, 1);
        buffer.programmed((0, 1), 1, 0, until(500));
        buffer.programmed((0, 2), 0, 0, until(9_000));
        assert_eq!(buffer.programmed_ns(), 500);
    }
}
