use std::ptr::NonNull;

use libc::iovec;
use smallvec::SmallVec;

use crate::{Buffer, BufferMut};

/// Addresses of a request's buffers, for `readv(2)` and similar calls.
///
/// A request of one buffer, the usual case, needs no allocation. The list of a vectored one is
/// boxed: the kernel reads it while the request is in flight, so it must not move.
#[derive(Debug, Default)]
pub(crate) enum Vectors {
    #[default]
    Nothing,
    Single(iovec),
    List(Box<[iovec]>),
}

impl Vectors {
    /// Buffers of a read, without the first `skip_bytes`.
    pub(crate) fn of_read(buffers: &[BufferMut], skip_bytes: u64) -> Self {
        Self::new(buffers.iter().map(|buffer| vector(buffer.address(), buffer.len())), skip_bytes)
    }

    /// Buffers of a write, without the first `skip_bytes`. The kernel only reads from them.
    pub(crate) fn of_write(buffers: &[Buffer], skip_bytes: u64) -> Self {
        Self::new(buffers.iter().map(|buffer| vector(buffer.address(), buffer.len())), skip_bytes)
    }

    fn new(parts: impl Iterator<Item = iovec>, skip_bytes: u64) -> Self {
        let mut skip = usize::try_from(skip_bytes).unwrap_or(usize::MAX);
        let left: SmallVec<[iovec; 1]> = parts.filter_map(|part| after(part, &mut skip)).collect();
        match left.as_slice() {
            [] => Self::Nothing,
            [part] => Self::Single(*part),
            _ => Self::List(left.into_boxed_slice()),
        }
    }

    /// Rest after `moved` bytes.
    pub(crate) fn after(&self, moved: usize) -> Self {
        Self::new(self.list().iter().copied(), moved as u64)
    }

    /// Address and length of a single buffer.
    pub(crate) fn single(&self) -> Option<(*mut u8, u32)> {
        match self {
            Self::Single(part) => {
                Some((part.iov_base.cast(), u32::try_from(part.iov_len).unwrap_or(u32::MAX)))
            }
            Self::Nothing | Self::List(_) => None,
        }
    }

    /// All buffers.
    pub(crate) fn list(&self) -> &[iovec] {
        match self {
            Self::Nothing => &[],
            Self::Single(part) => std::slice::from_ref(part),
            Self::List(parts) => parts,
        }
    }
}

fn vector(address: NonNull<u8>, length: usize) -> iovec {
    iovec { iov_base: address.as_ptr().cast(), iov_len: length }
}

/// Rest of a part after `skip` bytes; reduces `skip` by the bytes skipped.
fn after(part: iovec, skip: &mut usize) -> Option<iovec> {
    let skipped = part.iov_len.min(*skip);
    *skip -= skipped;
    let iov_len = part.iov_len - skipped;
    (iov_len > 0).then(|| iovec { iov_base: part.iov_base.wrapping_byte_add(skipped), iov_len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;

    #[test]
    fn what_was_moved_is_left_out() {
        let arena = Arena::new(1 << 16).unwrap();
        let buffers = [10, 20, 30].map(|bytes| arena.allocate(bytes).unwrap());
        let lengths = |skip| {
            Vectors::of_read(&buffers, skip).list().iter().map(|part| part.iov_len).collect::<Vec<_>>()
        };
        assert_eq!(lengths(0), [10, 20, 30]);
        assert_eq!(lengths(10), [20, 30]);
        assert_eq!(lengths(25), [5, 30]);
        assert_eq!(lengths(59), [1]);
        assert_eq!(lengths(60), [] as [usize; 0]);
    }
}
