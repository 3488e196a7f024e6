//! Classes of errors, by an engine's possible reaction.

use std::io::ErrorKind;

use nandle_io::Cause;
use rustix::io::Errno;

use crate::PageError;

impl PageError {
    /// Returns true if the open store is unusable after this error, because it stopped or was
    /// closed. All calls fail until it is reopened, in place by
    /// [`BlockingStore::reopen`](crate::BlockingStore::reopen) or
    /// [`PageStore::reopen`](crate::PageStore::reopen). Any other error concerns only its call.
    pub fn is_fatal(&self) -> bool {
        match self {
            // A failed read stops nothing, unless the device accepts no more requests.
            Self::Device { source, .. } => source.operation != "read" || source.cause.is_stopped(),
            error => matches!(
                error,
                Self::Latched { .. }
                    | Self::Corrupt { .. }
                    | Self::ExtentsLost { .. }
                    | Self::NoRoom { .. }
                    | Self::Inconsistent { .. }
                    | Self::Thread { .. }
                    | Self::World { .. }
            ),
        }
    }

    /// Returns true if repeating the call later may succeed: memory was in use, the store was open
    /// elsewhere, the disk was full, or the system lacked some resource.
    pub fn is_retryable(&self) -> bool {
        if let Self::Device { source, .. } = self {
            return !self.is_fatal() && is_passing(&source.cause);
        }
        let is_busy = |kind: ErrorKind| {
            use ErrorKind::{Interrupted, OutOfMemory, QuotaExceeded, ResourceBusy, StorageFull, WouldBlock};
            let kinds = [Interrupted, OutOfMemory, QuotaExceeded, ResourceBusy, StorageFull, WouldBlock];
            kinds.contains(&kind)
        };
        matches!(self, Self::Memory(_) | Self::Locked | Self::ConversionSpace { .. })
            || matches!(self, Self::File { kind, .. } if is_busy(*kind))
    }
}

fn is_passing(cause: &Cause) -> bool {
    let passing = [Errno::INTR, Errno::AGAIN, Errno::NOMEM, Errno::NOBUFS, Errno::BUSY];
    matches!(cause, Cause::System(errno) if passing.iter().any(|passing| passing.raw_os_error() == *errno))
}

#[cfg(test)]
mod tests {
    use nandle_io::{Arena, IoError, Operation};

    use super::*;

    fn device(operation: &Operation, errno: i32) -> PageError {
        PageError::device("doing it")(IoError::new(operation, Cause::System(errno)))
    }

    #[test]
    fn errors_say_whether_to_open_again_or_to_try_again() {
        let arena = Arena::new(8192).unwrap();
        let read = || Operation::read(0, arena.allocate(4096).unwrap());
        let memory = PageError::from(arena.allocate(1 << 20).unwrap_err());
        let flush = device(&Operation::Flush, 5);
        let latched = PageError::Latched { first: Box::new(memory.clone()) };
        let stopped = Cause::Stopped { call: "io_uring_enter", tries: 1, errno: 1 };
        let stopped_read = PageError::device("doing it")(IoError::new(&read(), stopped));
        for (error, is_fatal, is_retryable) in [
            (device(&read(), 5), false, false),
            (device(&read(), 11), false, true),
            (flush, true, false),
            (stopped_read, true, false),
            (device(&Operation::Flush, 11), true, false),
            (memory, false, true),
            (latched, true, false),
            (PageError::Locked, false, true),
            (PageError::ReadOnly, false, false),
        ] {
            assert_eq!((error.is_fatal(), error.is_retryable()), (is_fatal, is_retryable), "{error}");
        }
    }
}
