use crate::Operation;

/// Error of a request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{operation} of {length_bytes} bytes at offset {offset_bytes}: {cause}")]
pub struct IoError {
    /// Name of the operation.
    pub operation: &'static str,
    /// Offset of the request.
    pub offset_bytes: u64,
    /// Length of the request.
    pub length_bytes: u64,
    /// Cause of the failure.
    pub cause: Cause,
}

impl IoError {
    /// Error of an operation.
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
    /// Returns true if the request's world has stopped, so that the device must be opened again.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }

    /// Returns true if the device doesn't support the operation at all. Some file systems and
    /// stacked devices report that only when tried (`EOPNOTSUPP`).
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::Unsupported { .. }) || *self == Self::System(libc::EOPNOTSUPP)
    }
}

/// Cause of a failed request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The operating system's error, as an errno.
    #[error("{}", std::io::Error::from_raw_os_error(*.0))]
    System(i32),
    /// The operating system interrupted or deferred the request at every try.
    #[error(
        "the system put it off in each of {tries} tries ({}); end what interrupts the process, or free memory",
        std::io::Error::from_raw_os_error(*errno)
    )]
    TriesExhausted {
        /// Consecutive tries.
        tries: u32,
        /// Errno of the last try: EINTR or EAGAIN.
        errno: i32,
    },
    /// The system no longer allows requests, for instance because of a system call filter installed
    /// after the world was made. The world accepts no more requests, and all in flight fail with
    /// this cause.
    #[error(
        "{call} failed in {tries} of {tries} tries ({}), so the open device takes no more requests; let the filter of \
         system calls allow it, or open the device again, which does without",
        std::io::Error::from_raw_os_error(*errno)
    )]
    Stopped {
        /// Refused system call.
        call: &'static str,
        /// Consecutive tries.
        tries: u32,
        /// Errno of the last try.
        errno: i32,
    },
    /// The device moved fewer bytes than requested and then no more.
    #[error("only {moved_bytes} bytes were moved; the file may have been cut short")]
    Short {
        /// Bytes moved before.
        moved_bytes: u64,
    },
    /// Offset, length or memory violates the device's alignment.
    #[error("{what} {got} is not a multiple of {needed} bytes, which the device needs for direct I/O")]
    Misaligned {
        /// The misaligned quantity.
        what: &'static str,
        /// Its value.
        got: u64,
        /// Required alignment.
        needed: u64,
    },
    /// The range ends beyond the device.
    #[error("the range ends at {end_bytes}, and the device has {capacity_bytes} bytes")]
    BeyondEnd {
        /// End of the range.
        end_bytes: u64,
        /// End of the device.
        capacity_bytes: u64,
    },
    /// The length is zero or beyond the limit.
    #[error("one request may move 1 to {largest_bytes} bytes")]
    Length {
        /// Limit of a request's length.
        largest_bytes: u64,
    },
    /// The request has more buffers than the system allows.
    #[error("the request has {count} buffers, and one may have {most}")]
    Buffers {
        /// Number of buffers.
        count: usize,
        /// Limit.
        most: usize,
    },
    /// The device doesn't support this.
    #[error("the device can't do this: {why}")]
    Unsupported {
        /// Reason.
        why: &'static str,
    },
    /// An earlier flush failed, so the durable contents are unknown. The device accepts no more
    /// writes until it is opened again.
    #[error("an earlier flush failed, so what is durable is unknown; open the device again")]
    Latched,
    /// The world has no such device.
    #[error("this world has no device {index}")]
    UnknownDevice {
        /// Device number given.
        index: u32,
    },
}
