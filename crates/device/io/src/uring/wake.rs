use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{opcode, squeue, types};
use rustix::event::{EventfdFlags, eventfd};

use crate::io::Wake;

/// Event descriptor polled by the ring.
#[derive(Debug)]
pub(super) struct WakeEvent {
    descriptor: OwnedFd,
}

impl WakeEvent {
    pub(super) fn new() -> rustix::io::Result<Arc<Self>> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Arc::new(Self { descriptor }))
    }

    /// Ring request that completes when the event is set. It isn't a multi-shot poll, which needs
    /// Linux 5.13: wake-ups are rare, and rearming needs no extra system call.
    pub(super) fn poll_entry(&self, user_data: u64) -> squeue::Entry {
        let readable = u32::from(rustix::event::PollFlags::IN.bits());
        opcode::PollAdd::new(types::Fd(self.descriptor.as_raw_fd()), readable).build().user_data(user_data)
    }

    /// Descriptor that is readable once the event is set.
    pub(super) fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Clears the event. Returns true if it was set.
    pub(super) fn clear(&self) -> bool {
        // Nothing to read: another poll has already cleared it.
        rustix::io::read(&self.descriptor, &mut [0; 8]).is_ok()
    }
}

impl Wake for WakeEvent {
    fn wake(&self) {
        // The only possible failure is a full counter, and then the event is set.
        let _ = rustix::io::write(&self.descriptor, &1_u64.to_ne_bytes());
    }
}
