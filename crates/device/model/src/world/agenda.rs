//! When each device has something to do next: one heap for all of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The devices' next events, by time and then by the number of the device.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    /// May hold entries that have been overtaken; `due_ns` knows which ones count.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    due_ns: Vec<Option<u64>>,
}

impl Agenda {
    /// Adds a device that has nothing to do; its number is the next one.
    pub(super) fn add(&mut self) {
        self.due_ns.push(None);
    }

    /// A device's next event is now at `next_ns`.
    pub(super) fn set(&mut self, device: usize, next_ns: Option<u64>) {
        debug_assert!(device < self.due_ns.len(), "device {device} of {}", self.due_ns.len());
        let Some(due_ns) = self.due_ns.get_mut(device) else { return };
        if *due_ns == next_ns {
            return;
        }
        *due_ns = next_ns;
        self.heap.extend(next_ns.map(|at_ns| Reverse((at_ns, device))));
    }

    /// When the next event is due.
    pub(super) fn next_ns(&mut self) -> Option<u64> {
        while let Some(&Reverse((at_ns, device))) = self.heap.peek() {
            if self.due_ns.get(device) == Some(&Some(at_ns)) {
                return Some(at_ns);
            }
            self.heap.pop();
        }
        None
    }

    /// The next event that is due by `now_ns`: its time and its device, whose next event is then unknown.
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
