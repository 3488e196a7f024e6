//! A die's operations, and the time at which it serves a read of the host.
//!
//! A die without interruptions serves all operations in turn. On other dies, a read suspends the
//! current program or erase operation (Wu, He: *Reducing SSD Read Latency via NAND Flash Program
//! and Erase Suspension*, FAST 2012). The suspension takes time, which delays the operation's end.
//! Reads that arrive while it is suspended follow at once. The number of suspensions of an
//! operation is limited; after that, reads wait for its end. Operations that have not begun wait
//! for the reads.

use std::collections::VecDeque;

use super::parameters::ChipParameters;
use crate::timeline::Timeline;

/// Operation of a die other than reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Program,
    Erase,
}

/// A die with or without interruptions.
#[derive(Debug, Clone)]
pub(crate) enum Die {
    InTurn(Timeline),
    Interruptible(InterruptibleDie),
}

impl Die {
    pub(crate) fn new(parameters: &ChipParameters) -> Self {
        match parameters.suspend_ns {
            None => Self::InTurn(Timeline::default()),
            Some(suspend_ns) => Self::Interruptible(InterruptibleDie {
                suspend_ns,
                program_suspensions: parameters.program_suspensions.unwrap_or(u32::MAX),
                erase_suspensions: parameters.erase_suspensions.unwrap_or(u32::MAX),
                operations: VecDeque::new(),
            }),
        }
    }

    /// Senses for the host from `earliest_ns` on; returns the start.
    #[inline]
    pub(crate) fn read(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        match self {
            Self::InTurn(timeline) => timeline.reserve(earliest_ns, duration_ns),
            Self::Interruptible(die) => die.read(earliest_ns, duration_ns),
        }
    }

    /// Senses once the die has no other work for `duration_ns`; returns the start.
    #[inline]
    pub(crate) fn read_in_turn(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        match self {
            Self::InTurn(timeline) => timeline.reserve(earliest_ns, duration_ns),
            Self::Interruptible(die) => die.read_in_turn(earliest_ns, duration_ns),
        }
    }

    /// Appends work to all that is scheduled; returns the start.
    #[inline]
    pub(crate) fn append(&mut self, work: Work, earliest_ns: u64, duration_ns: u64) -> u64 {
        match self {
            Self::InTurn(timeline) => timeline.append(earliest_ns, duration_ns),
            Self::Interruptible(die) => die.append(work, earliest_ns, duration_ns),
        }
    }

    /// Prolongs the last operation if it ends at `from_ns`.
    #[inline]
    pub(crate) fn prolong(&mut self, from_ns: u64, to_ns: u64) {
        match self {
            Self::InTurn(timeline) => timeline.prolong(from_ns, to_ns),
            Self::Interruptible(die) => die.prolong(from_ns, to_ns),
        }
    }

    /// End of the scheduled work.
    #[inline]
    pub(crate) fn busy_until_ns(&self) -> u64 {
        match self {
            Self::InTurn(timeline) => timeline.busy_until_ns(),
            Self::Interruptible(die) => die.busy_until_ns(),
        }
    }

    /// Promises that no later operation starts before `past_ns`.
    #[inline]
    pub(crate) fn forget_before(&mut self, past_ns: u64) {
        match self {
            Self::InTurn(timeline) => timeline.forget_before(past_ns),
            Self::Interruptible(die) => die.forget_before(past_ns),
        }
    }
}

/// Operation of the cells.
#[derive(Debug, Clone, Copy)]
struct Operation {
    start_ns: u64,
    end_ns: u64,
    is_read: bool,
    suspensions_left: u32,
    /// End of the reads of its last suspension.
    suspended_until_ns: u64,
}

impl Operation {
    fn new(start_ns: u64, duration_ns: u64, suspensions_left: u32) -> Self {
        let end_ns = start_ns + duration_ns;
        Self { start_ns, end_ns, is_read: false, suspensions_left, suspended_until_ns: 0 }
    }

    fn read(start_ns: u64, duration_ns: u64) -> Self {
        Self { is_read: true, ..Self::new(start_ns, duration_ns, 0) }
    }

    /// Suspends the operation at `at_ns` for a read; returns the read's start. `None` if it can't
    /// be suspended, or would end sooner.
    fn interrupt(&mut self, at_ns: u64, read_ns: u64, suspend_ns: u64) -> Option<u64> {
        debug_assert!(self.start_ns < at_ns && at_ns < self.end_ns, "{self:?} is not under way at {at_ns}");
        let is_suspended = at_ns <= self.suspended_until_ns;
        if !is_suspended {
            if self.end_ns - at_ns <= suspend_ns {
                return None;
            }
            self.suspensions_left = self.suspensions_left.checked_sub(1)?;
            self.suspended_until_ns = at_ns + suspend_ns;
            self.end_ns += suspend_ns;
        }
        let start_ns = self.suspended_until_ns;
        self.suspended_until_ns += read_ns;
        self.end_ns += read_ns;
        Some(start_ns)
    }

    fn put_off(&mut self, span_ns: u64) {
        self.start_ns += span_ns;
        self.end_ns += span_ns;
        self.suspended_until_ns += span_ns;
    }
}

/// Die whose operations are interrupted by the host's reads.
#[derive(Debug, Clone)]
pub(crate) struct InterruptibleDie {
    suspend_ns: u64,
    program_suspensions: u32,
    erase_suspensions: u32,
    /// In order of time, without overlap. A read that interrupts an operation is part of it.
    operations: VecDeque<Operation>,
}

impl InterruptibleDie {
    fn read(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        let mut start_ns = earliest_ns;
        let mut index = self.first_after(earliest_ns);
        while let Some(operation) = self.operations.get_mut(index)
            && operation.start_ns < start_ns + duration_ns
        {
            if operation.start_ns < start_ns {
                if let Some(read_ns) = operation.interrupt(start_ns, duration_ns, self.suspend_ns) {
                    self.put_off_after(index);
                    return read_ns;
                }
            } else if !operation.is_read {
                break;
            }
            start_ns = operation.end_ns;
            index += 1;
        }
        self.operations.insert(index, Operation::read(start_ns, duration_ns));
        self.put_off_after(index);
        start_ns
    }

    fn read_in_turn(&mut self, earliest_ns: u64, duration_ns: u64) -> u64 {
        let mut start_ns = earliest_ns;
        let mut index = self.first_after(earliest_ns);
        while let Some(operation) = self.operations.get(index)
            && operation.start_ns < start_ns + duration_ns
        {
            start_ns = operation.end_ns;
            index += 1;
        }
        self.operations.insert(index, Operation::read(start_ns, duration_ns));
        start_ns
    }

    fn append(&mut self, work: Work, earliest_ns: u64, duration_ns: u64) -> u64 {
        let suspensions = match work {
            Work::Program => self.program_suspensions,
            Work::Erase => self.erase_suspensions,
        };
        let start_ns = earliest_ns.max(self.busy_until_ns());
        self.operations.push_back(Operation::new(start_ns, duration_ns, suspensions));
        start_ns
    }

    fn prolong(&mut self, from_ns: u64, to_ns: u64) {
        if let Some(last) = self.operations.back_mut().filter(|last| last.end_ns == from_ns) {
            last.end_ns = to_ns;
        }
    }

    fn busy_until_ns(&self) -> u64 {
        self.operations.back().map_or(0, |last| last.end_ns)
    }

    fn forget_before(&mut self, past_ns: u64) {
        while self.operations.front().is_some_and(|operation| operation.end_ns <= past_ns) {
            self.operations.pop_front();
        }
    }

    /// First operation that ends after `time_ns`.
    fn first_after(&self, time_ns: u64) -> usize {
        self.operations.partition_point(|operation| operation.end_ns <= time_ns)
    }

    /// Postpones the operations that the one at `index` now overlaps.
    fn put_off_after(&mut self, index: usize) {
        let mut free_ns = self.operations.get(index).map_or(0, |operation| operation.end_ns);
        for operation in self.operations.range_mut(index + 1..) {
            if operation.start_ns >= free_ns {
                return;
            }
            operation.put_off(free_ns - operation.start_ns);
            free_ns = operation.end_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUSPEND_NS: u64 = 20;

    fn die(program_suspensions: u32) -> InterruptibleDie {
        let operations = VecDeque::new();
        InterruptibleDie { suspend_ns: SUSPEND_NS, program_suspensions, erase_suspensions: 1, operations }
    }

    #[test]
    fn a_read_suspends_what_is_under_way_and_lets_it_end_later() {
        let mut die = die(8);
        die.append(Work::Program, 0, 1_000);
        die.append(Work::Erase, 0, 5_000);
        assert_eq!(die.read(100, 50), 120);
        let ends: Vec<u64> = die.operations.iter().map(|operation| operation.end_ns).collect();
        assert_eq!(ends, [1_070, 6_070]);
    }

    #[test]
    fn reads_of_one_suspension_follow_each_other() {
        let mut die = die(1);
        die.append(Work::Program, 0, 1_000);
        assert_eq!([die.read(100, 50), die.read(110, 50), die.read(220, 50)], [120, 170, 220]);
        assert_eq!(die.busy_until_ns(), 1_000 + 20 + 150);
    }

    #[test]
    fn the_last_suspension_used_up_reads_wait_for_the_end_and_go_before_the_next() {
        let mut die = die(1);
        die.append(Work::Program, 0, 1_000);
        die.append(Work::Program, 0, 1_000);
        assert_eq!(die.read(100, 50), 120);
        assert_eq!(die.read(300, 50), 1_070);
        assert_eq!(die.busy_until_ns(), 2_120);
    }

    #[test]
    fn what_is_nearly_over_is_not_suspended() {
        let mut die = die(8);
        die.append(Work::Program, 0, 1_000);
        assert_eq!(die.read(985, 50), 1_000);
    }

    #[test]
    fn a_die_that_is_idle_is_not_interrupted() {
        let mut die = die(8);
        die.append(Work::Program, 10_000, 1_000);
        assert_eq!([die.read(100, 50), die.read(100, 50)], [100, 150]);
        assert_eq!(die.read(9_980, 50), 9_980);
        assert_eq!(die.busy_until_ns(), 11_030, "what has not begun waits for the read");
    }

    #[test]
    fn reads_in_turn_take_the_first_gap_that_is_long_enough() {
        let mut die = die(8);
        die.append(Work::Program, 100, 1_000);
        assert_eq!([die.read_in_turn(60, 50), die.read_in_turn(50, 50)], [1_100, 50]);
        die.forget_before(1_150);
        assert!(die.operations.is_empty());
    }
}
