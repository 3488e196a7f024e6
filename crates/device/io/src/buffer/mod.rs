//! Memory for requests.
//!
//! An [`Arena`] is a region of page-aligned memory, independent of any ring. It allocates
//! [`BufferMut`]s, each the unique handle to its bytes, which a read request takes.
//! [`BufferMut::freeze`] makes a shared [`Buffer`] of it, which write requests take: a mirror sends
//! clones of it, a stripe sends slices. Dropping the last handle frees the bytes, so a request in
//! flight keeps its memory alive even if its caller is gone.

mod arena;
mod extents;
mod handle;

pub(crate) use arena::Region;
pub use arena::{Arena, ArenaError, GRAIN_BYTES};
pub use handle::{Buffer, BufferMut};
