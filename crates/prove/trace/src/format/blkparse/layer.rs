use std::collections::VecDeque;

use super::line::Line;
use crate::format::Event;

/// Maximum number of requests held while the layer is undecided.
const HELD_MAX: usize = 1 << 16;
/// Completions of queued requests that show that the device never issues requests. A few occur on
/// any device: a flush without a cache, or an unsupported discard, completes without reaching the
/// driver.
const COMPLETED_MIN: usize = 16;

/// Layer at which the requests of a device are counted.
pub(super) enum Layer {
    /// Undecided: holds the queued requests, and counts their completions.
    Undecided { held: VecDeque<Event>, completed: usize },
    /// Counted when they are issued to the driver.
    Driver,
    /// Counted when they are queued: the device forwards its requests.
    Queue,
}

impl Default for Layer {
    fn default() -> Self {
        Self::Undecided { held: VecDeque::new(), completed: 0 }
    }
}

impl Layer {
    /// Handles a queued request. Returns the events that count as of now.
    pub(super) fn queue(&mut self, line: &Line) -> VecDeque<Event> {
        match self {
            Self::Driver => VecDeque::new(),
            Self::Queue => VecDeque::from([line.event()]),
            Self::Undecided { held, .. } => {
                held.push_back(line.event());
                // No driver has as many requests in flight: the trace has no issue actions.
                if held.len() < HELD_MAX { VecDeque::new() } else { self.end() }
            }
        }
    }

    /// Handles a request issued to the driver.
    pub(super) fn issue(&mut self, line: &Line) -> Result<Option<Event>, String> {
        if matches!(self, Self::Queue) {
            return Err(format!(
                "a request is issued (D), but earlier requests on device {} completed without being issued",
                line.device
            ));
        }
        *self = Self::Driver;
        Ok(Some(line.event()))
    }

    /// Handles a completion. Returns the events that count as of now.
    pub(super) fn complete(&mut self, line: &Line) -> VecDeque<Event> {
        let Self::Undecided { held, completed } = self else { return VecDeque::new() };
        let is_held = |event: &Event| event.record.address == line.record.address;
        let counts = line.record.operation.moves_data() && held.iter().any(is_held);
        *completed += usize::from(counts);
        if *completed < COMPLETED_MIN { VecDeque::new() } else { self.end() }
    }

    /// Decides to count queued requests. Returns the events held so far.
    pub(super) fn end(&mut self) -> VecDeque<Event> {
        let Self::Undecided { held, .. } = self else { return VecDeque::new() };
        let held = std::mem::take(held);
        *self = Self::Queue;
        held
    }
}
