use std::collections::VecDeque;

use super::line::Line;
use crate::format::Event;

/// Requests that are held until it is known where they count.
const HELD_MAX: usize = 1 << 16;
/// Completions of queued requests, none of which was issued, that show that none ever is. Single ones occur on any device: a flush
/// without a cache to flush, or a discard that isn't supported, ends before it goes to the driver.
const COMPLETED_MIN: usize = 16;

/// Where the requests of a device count.
pub(super) enum Layer {
    /// Not known yet: requests that were queued, and how many of them completed.
    Undecided { held: VecDeque<Event>, completed: usize },
    /// Where they go to the driver.
    Driver,
    /// Where they are queued: the device hands on what comes to it.
    Queue,
}

impl Default for Layer {
    fn default() -> Self {
        Self::Undecided { held: VecDeque::new(), completed: 0 }
    }
}

impl Layer {
    /// A request comes to the device; the events that are known to count now.
    pub(super) fn queue(&mut self, line: &Line) -> VecDeque<Event> {
        match self {
            Self::Driver => VecDeque::new(),
            Self::Queue => VecDeque::from([line.event()]),
            Self::Undecided { held, .. } => {
                held.push_back(line.event());
                // So many in flight no driver has: the trace leaves out what goes to it.
                if held.len() < HELD_MAX { VecDeque::new() } else { self.end() }
            }
        }
    }

    /// A request goes to the driver.
    pub(super) fn issue(&mut self, line: &Line) -> Result<Option<Event>, String> {
        if matches!(self, Self::Queue) {
            return Err(format!(
                "a request goes to the driver (D), and those before it on device {} were queued and completed without",
                line.device
            ));
        }
        *self = Self::Driver;
        Ok(Some(line.event()))
    }

    /// The device is done with a request; the events that are known to count now.
    pub(super) fn complete(&mut self, line: &Line) -> VecDeque<Event> {
        let Self::Undecided { held, completed } = self else { return VecDeque::new() };
        let is_held = |event: &Event| event.record.address == line.record.address;
        let counts = line.record.operation.moves_data() && held.iter().any(is_held);
        *completed += usize::from(counts);
        if *completed < COMPLETED_MIN { VecDeque::new() } else { self.end() }
    }

    /// The events that were held, at the end of the trace or when it is known that they count.
    pub(super) fn end(&mut self) -> VecDeque<Event> {
        let Self::Undecided { held, .. } = self else { return VecDeque::new() };
        let held = std::mem::take(held);
        *self = Self::Queue;
        held
    }
}
