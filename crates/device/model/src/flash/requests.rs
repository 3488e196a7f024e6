//! Requests in flight, as the host knows them: one may be served by several commands, and one command may serve
//! several requests.

/// Place of a request among those in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestSlot(usize);

#[derive(Debug)]
struct InFlight {
    id: u64,
    commands_left: u32,
}

/// The requests that have arrived and are not complete.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Vec<InFlight>,
    free: Vec<usize>,
}

impl Requests {
    /// Admits a request that takes `commands` commands.
    pub(crate) fn admit(&mut self, id: u64, commands: u32) -> RequestSlot {
        let request = InFlight { id, commands_left: commands };
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.slots.get_mut(index)
        {
            *slot = request;
            return RequestSlot(index);
        }
        self.slots.push(request);
        RequestSlot(self.slots.len() - 1)
    }

    /// One of the request's commands is done; gives the request's id when it was the last.
    pub(crate) fn command_done(&mut self, slot: RequestSlot) -> Option<u64> {
        let request = self.slots.get_mut(slot.0)?;
        request.commands_left = request.commands_left.saturating_sub(1);
        if request.commands_left > 0 {
            return None;
        }
        self.free.push(slot.0);
        Some(request.id)
    }
}
