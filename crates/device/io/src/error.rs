use crate::Operation;

/// A request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation} of {length_bytes} bytes at offset {offset_bytes}: {cause}")]
pub struct IoError {
    /// What was tried.
    pub operation: &'static str,
    /// Where.
    pub offset_bytes: u64,
    /// How long it was.
    pub length_bytes: u64,
    /// Why it failed.
    pub cause: Cause,
}

impl IoError {
    /// The error of an operation.
    pub fn new(operation: &Operation, cause: Cause) -> Self {
        Self {
            operation: operation.name(),
            offset_bytes: operation.offset_bytes(),
            length_bytes: operation.length_bytes(),
            cause,
        }
    }
}

impl Cause {
    /// Whether the world that had the request takes no more of them, so that the device must be opened again.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// Whether the device can't do this at all, however often it is asked. Some file systems and stacked devices say so
    /// only when they are asked (`EOPNOTSUPP`).
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. }) || *self == Self::System(libc::EOPNOTSUPP)
    }
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system said so; the number is its errno.
    #[error("{}", std::io::Error::from_raw_os_error(*.0))]
    System(i32),
    /// The operating system interrupted the request, or put it off, at every try.
    #[error(
        "the system put it off in each of {tries} tries ({}); end what interrupts the process, or free memory",
        std::io::Error::from_raw_os_error(*errno)
    )]
    TriesExhausted {
        /// Tries in a row.
        tries: u32,
        /// Why the last one failed: EINTR or EAGAIN.
        errno: i32,
    },
    /// The system no longer lets requests be sent, as by a filter of system calls that was set after the world was made. The
    /// world takes no more requests, and all that it had fail with this.
    #[error(
        "{call} failed in {tries} of {tries} tries ({}), so the open device takes no more requests; let the filter of \
         system calls allow it, or open the device again, which does without",
        std::io::Error::from_raw_os_error(*errno)
    )]
    Stopped {
        /// The call that is refused.
        call: &'static str,
        /// Tries in a row.
        tries: u32,
        /// Why the last one failed.
        errno: i32,
    },
    /// The device moved fewer bytes than asked and no more came.
    #[error("only {moved_bytes} bytes were moved; the file may have been cut short")]
    Short {
        /// Bytes moved before it stopped.
        moved_bytes: u64,
    },
    /// Offset, length or memory isn't a multiple of what the device needs.
    #[error("{what} {got} is not a multiple of {needed} bytes, which the device needs for direct I/O")]
    Misaligned {
        /// Which of them.
        what: &'static str,
        /// What it was.
        got: u64,
        /// What it must be a multiple of.
        needed: u64,
    },
    /// The range ends behind the device.
    #[error("the range ends at {end_bytes}, and the device has {capacity_bytes} bytes")]
    BeyondEnd {
        /// Where the range ends.
        end_bytes: u64,
        /// Where the device ends.
        capacity_bytes: u64,
    },
    /// No bytes, or more than one request may move.
    #[error("one request may move 1 to {largest_bytes} bytes")]
    Length {
        /// The most that one request may move.
        largest_bytes: u64,
    },
    /// More buffers than the system takes in one request.
    #[error("the request has {count} buffers, and one may have {most}")]
    Buffers {
        /// How many it has.
        count: usize,
        /// How many it may have.
        most: usize,
    },
    /// The device can't do this.
    #[error("the device can't do this: {why}")]
    Unsupported {
        /// Why not.
        why: &'static str,
    },
    /// An earlier flush failed, so what is durable is unknown; the device takes no more writes until it is
    /// opened again.
    #[error("an earlier flush failed, so what is durable is unknown; open the device again")]
    Latched,
    /// The request names a device that this world doesn't have.
    #[error("this world has no device {index}")]
    UnknownDevice {
        /// The device's number.
        index: u32,
    },
}
