//! Detects that the kernel has released a closed ring.

use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;

use io_uring::IoUring;
use rustix::io::{Errno, ioctl_fionbio};

/// Pipe that ends with a ring. Only the ring's file table holds its writing end. The kernel closes
/// that table when it frees a closed ring, after the last request has ended.
#[derive(Debug)]
pub(super) struct Anchor {
    reader: PipeReader,
}

impl Anchor {
    /// Puts the writing end into a place of the ring's table.
    ///
    /// # Errors
    /// No descriptors are left, or the kernel refuses the table.
    pub(super) fn attach(ring: &IoUring, place: u32) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        ioctl_fionbio(&reader, true)?;
        ring.submitter().register_files_update(place, &[writer.as_raw_fd()])?;
        Ok(Self { reader })
    }

    /// Returns true once the kernel has freed the ring and no longer uses the memory of its
    /// requests.
    pub(super) fn is_released(&self) -> bool {
        loop {
            match rustix::io::read(&self.reader, &mut [0; 1]) {
                Err(Errno::INTR) => {}
                // End of file: the last writing end is closed.
                ended => return ended == Ok(0),
            }
        }
    }

    /// Descriptor that hangs up at the release.
    pub(super) fn descriptor(&self) -> &PipeReader {
        &self.reader
    }
}
