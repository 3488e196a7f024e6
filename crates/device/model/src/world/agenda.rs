//! Next events of all devices, in one heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Next events of the devices, ordered by time, then by device number.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// May hold stale entries; an entry counts only if `due_ns` has the same time.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    due_ns: Vec<Option<u64>>,
}

impl Agenda {
    /// Adds an idle device with the next number.
    pub(super) fn add(&mut self) {
        self.due_ns.push(None);
    }

    /// Sets the time of a device's next event.
    pub(super) fn set(&mut self, device: usize, next_ns: Option<u64>) {
        debug_assert!(device < self.due_ns.len(), "device {device} of {}", self.due_ns.len());
        let Some(due_ns) = self.due_ns.get_mut(device) else { return };
        if *due_ns == next_ns {
            return;
        }
        *due_ns = next_ns;
        self.heap.extend(next_ns.map(|at_ns| Reverse((at_ns, device))));
    }

    /// Time of the next event.
    pub(super) fn next_ns(&mut self) -> Option<u64> {
        while let Some(&Reverse((at_ns, device))) = self.heap.peek() {
            if self.due_ns.get(device) == Some(&Some(at_ns)) {
                return Some(at_ns);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes the next event that is due by `now_ns`: its time and its device. The device has no
    /// next event until it is [set](Self::set) again.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(u64, usize)> {
        self.next_ns().filter(|at_ns| *at_ns <= now_ns)?;
        let Reverse((at_ns, device)) = self.heap.pop()?;
        if let Some(due_ns) = self.due_ns.get_mut(device) {
            *due_ns = None;
        }
        Some((at_ns, device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overtaken_events_are_left_out_and_equal_times_go_by_device() {
        let mut agenda = Agenda::default();
        (0..3).for_each(|_| agenda.add());
        agenda.set(2, Some(10));
        agenda.set(1, Some(30));
        agenda.set(1, Some(10));
        agenda.set(0, Some(5));
        agenda.set(0, None);
        assert_eq!(agenda.take_due(9), None);
        assert_eq!([agenda.take_due(10), agenda.take_due(10)], [Some((10, 1)), Some((10, 2))]);
        assert_eq!(agenda.next_ns(), None);
    }
}
