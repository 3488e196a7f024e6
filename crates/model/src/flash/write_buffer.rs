//! Where written data waits until its program operation is over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Occupancy of the buffer, in mapping units.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    capacity_units: usize,
    /// Units that no program operation has been started for yet.
    open_units: usize,
    /// When the other units leave.
    leaving_ns: BinaryHeap<Reverse<u64>>,
    /// When everything that has been programmed so far will be on the medium.
    programmed_ns: u64,
}

impl WriteBuffer {
    pub(crate) fn new(bytes: u64, unit_bytes: u64) -> Self {
        let capacity_units = usize::try_from(bytes / unit_bytes.max(1)).unwrap_or(usize::MAX);
        Self { capacity_units, open_units: 0, leaving_ns: BinaryHeap::new(), programmed_ns: 0 }
    }

    /// Takes room for one unit; gives the time, from `earliest_ns` on, at which there is some.
    pub(crate) fn admit(&mut self, earliest_ns: u64) -> u64 {
        self.open_units += 1;
        if self.open_units + self.leaving_ns.len() <= self.capacity_units {
            return earliest_ns;
        }
        let Some(Reverse(left_ns)) = self.leaving_ns.pop() else { return earliest_ns };
        left_ns.max(earliest_ns)
    }

    /// `units` of the admitted units will be on the medium at `end_ns`.
    pub(crate) fn programmed(&mut self, units: u32, end_ns: u64) {
        self.open_units = self.open_units.saturating_sub(units as usize);
        for _ in 0..units {
            self.leaving_ns.push(Reverse(end_ns));
        }
        self.programmed_ns = self.programmed_ns.max(end_ns);
    }

    /// When everything programmed so far is on the medium.
    pub(crate) fn programmed_ns(&self) -> u64 {
        self.programmed_ns
    }
}

#[cfg(test)]
mod tests {
    use super::WriteBuffer;

    #[test]
    fn a_full_buffer_waits_for_the_first_unit_to_leave() {
        let mut buffer = WriteBuffer::new(8192, 4096);
        assert_eq!(buffer.admit(10), 10);
        assert_eq!(buffer.admit(11), 11);
        buffer.programmed(1, 900);
        buffer.programmed(1, 500);
        assert_eq!(buffer.admit(12), 500);
        assert_eq!(buffer.programmed_ns(), 900);
    }
}
