//! Requests in flight at the host. Several commands may serve one request, and one command several
//! requests.

use slab::Slab;

/// Key of a request in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestSlot(usize);

#[derive(Debug)]
struct InFlight {
    id: u64,
    commands_left: u32,
}

/// Requests that have arrived and are not complete.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Slab<InFlight>,
}

impl Requests {
    /// Admits a request that takes `commands` commands.
    pub(crate) fn admit(&mut self, id: u64, commands: u32) -> RequestSlot {
        debug_assert!(commands > 0, "request {id} would never complete");
        RequestSlot(self.slots.insert(InFlight { id, commands_left: commands }))
    }

    /// Completes one of the request's commands; returns the request's id after the last.
    pub(crate) fn command_done(&mut self, slot: RequestSlot) -> Option<u64> {
        debug_assert!(self.slots.contains(slot.0), "{slot:?} is complete already");
        let request = self.slots.get_mut(slot.0)?;
        request.commands_left -= 1;
        if request.commands_left > 0 {
            return None;
        }
        self.slots.try_remove(slot.0).map(|request| request.id)
    }
}
