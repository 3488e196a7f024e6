//! Sequential reader that bypasses the page cache and keeps several requests in flight.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSliceMut, Read, Seek, SeekFrom};
use std::sync::Arc;

use nandle_io::runtime::{AsyncDevice, Handle, Reply, Runtime};
use nandle_io::{Access, Arena, BufferMut, DeviceFile, FileOptions, Operation};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::world_of;

/// Requests in flight.
pub(crate) const DEPTH: usize = 4;
/// Below this size the setup doesn't pay.
const LENGTH_BYTES_MIN: u64 = 16 << 20;
/// Offsets of a file sampled for being in the page cache.
const LOOKS: u64 = 16;

/// See the [module](self).
pub(crate) struct DirectFile {
    runtime: Runtime,
    device: AsyncDevice,
    /// Offset of the next request.
    next_bytes: u64,
    /// End of the whole blocks. The rest, and data appended since the file was opened, is read
    /// normally.
    end_bytes: u64,
    in_flight: VecDeque<Reply>,
    present: Option<Present>,
    spare: Vec<BufferMut>,
    tail: File,
    _arena: Arena,
}

/// Data read, and the position up to which it was consumed.
struct Present {
    buffer: BufferMut,
    taken: usize,
}

impl DirectFile {
    /// Returns `None` if the file is short, not a regular file, cached, or without direct I/O, or
    /// if memory is short. It is then read normally.
    pub(crate) fn open(file: &File, request_bytes: usize) -> io::Result<Option<Self>> {
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() < LENGTH_BYTES_MIN || is_cached(file, metadata.len()) {
            return Ok(None);
        }
        // Opened again: a flag on a duplicated handle would apply to the original.
        let again = || File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)));
        let (Ok(direct), Ok(mut tail)) = (again(), again()) else { return Ok(None) };
        let Ok(device) = DeviceFile::new(direct, FileOptions::default()) else { return Ok(None) };
        let shape = device.shape();
        let is_fitting = shape.access == Access::Direct
            && (request_bytes as u64).is_multiple_of(shape.logical_block_bytes)
            && (request_bytes as u64).is_multiple_of(shape.memory_alignment_bytes);
        if !is_fitting {
            return Ok(None);
        }
        let end_bytes = metadata.len() - metadata.len() % request_bytes as u64;
        tail.seek(SeekFrom::Start(end_bytes))?;
        let Ok((io, devices)) = world_of(&[&Arc::new(device)]) else { return Ok(None) };
        let Some(device) = devices.first().map(|device| device.id) else { unreachable!("it was added") };
        let Ok(arena) = Arena::new(DEPTH * request_bytes) else { return Ok(None) };
        let spare = (0..DEPTH).map(|_| arena.allocate(request_bytes));
        let spare: Vec<BufferMut> = spare.collect::<Result<_, _>>().map_err(io::Error::other)?;
        let runtime = Runtime::new(io);
        let handle: Handle = runtime.handle();
        Ok(Some(Self {
            device: handle.device(device),
            runtime,
            next_bytes: 0,
            end_bytes,
            in_flight: VecDeque::new(),
            present: None,
            spare,
            tail,
            _arena: arena,
        }))
    }

    fn request(&mut self) {
        while self.next_bytes < self.end_bytes
            && let Some(buffer) = self.spare.pop()
        {
            let operation = Operation::read(self.next_bytes, buffer);
            self.next_bytes += operation.length_bytes();
            self.in_flight.push_back(self.device.request(operation));
        }
    }

    /// Waits for the oldest request, if any.
    fn next(&mut self) -> io::Result<()> {
        self.request();
        let Some(reply) = self.in_flight.pop_front() else { return Ok(()) };
        let completion = self.runtime.block_on(reply);
        completion.result.map_err(io::Error::other)?;
        let Some(buffer) = completion.operation.into_read_buffer() else {
            unreachable!("a completion has its request's buffer")
        };
        self.present = Some(Present { buffer, taken: 0 });
        Ok(())
    }
}

impl Read for DirectFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.present.is_none() {
            self.next()?;
        }
        let Some(Present { buffer, taken }) = self.present.take() else { return self.tail.read(into) };
        let left = buffer.get(taken..).unwrap_or_default();
        let fitting = left.len().min(into.len());
        if let (Some(into), Some(from)) = (into.get_mut(..fitting), left.get(..fitting)) {
            into.copy_from_slice(from);
        }
        let taken = taken + fitting;
        if taken == buffer.len() {
            self.spare.push(buffer);
            self.request();
        } else {
            self.present = Some(Present { buffer, taken });
        }
        Ok(fitting)
    }
}

/// Returns true if the sampled pages of a file are in the page cache, or if the system can't tell.
fn is_cached(file: &File, length_bytes: u64) -> bool {
    (0..LOOKS).all(|look| {
        let at = length_bytes / LOOKS * look;
        let mut byte = [0];
        match preadv2(file, &mut [IoSliceMut::new(&mut byte)], at, ReadWriteFlags::NOWAIT) {
            Ok(_) => true,
            Err(errno) => errno != Errno::AGAIN,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use rustix::fs::{Advice, fadvise};

    use super::*;

    #[test]
    fn it_reads_what_is_there_and_what_has_come_since() {
        let mut file = tempfile::tempfile().unwrap();
        let mut expected: Vec<u8> =
            (0..LENGTH_BYTES_MIN + 12_345).map(|at| (at * at / 7).to_le_bytes()[0]).collect();
        file.write_all(&expected).unwrap();
        assert!(DirectFile::open(&file, 65_536).unwrap().is_none(), "it is in the page cache");
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        let Some(mut direct) = DirectFile::open(&file, 65_536).unwrap() else {
            // In memory or without direct I/O: nothing to test.
            return;
        };
        file.write_all(b"more").unwrap();
        expected.extend_from_slice(b"more");
        let mut got = Vec::new();
        direct.read_to_end(&mut got).unwrap();
        assert!(got == expected);
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 20 << 20]).unwrap();
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
        let Some(mut direct) = DirectFile::open(&file, 65_536).unwrap() else { return };
        file.set_len(1 << 20).unwrap();
        assert!(direct.read_to_end(&mut Vec::new()).is_err());
    }
}
