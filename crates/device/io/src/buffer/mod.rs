//! Memory for requests.
//!
//! An [`Arena`] is a region of page-aligned memory that no ring owns. It hands out [`BufferMut`]s, each the only
//! handle to its bytes, which a read request takes; [`BufferMut::freeze`] makes a shared [`Buffer`] of it, which
//! write requests take: a mirror sends clones of it, a stripe sends slices. The bytes go back to the arena when
//! the last handle is dropped, so a request in flight keeps its memory whatever became of the code that made it.

mod arena;
mod extents;
mod handle;

pub(crate) use arena::Region;
pub use arena::{Arena, ArenaError, GRAIN_BYTES};
pub use handle::{Buffer, BufferMut};
