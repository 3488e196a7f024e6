//! The `threads` world, for where `io_uring` is refused: worker threads that do blocking `preadv(2)`, `pwritev2(2)`,
//! `fdatasync(2)` and `fallocate(2)`, one request each at a time. Workers are started as the load asks for them.

mod call;
mod pool;
mod world;

pub(crate) use call::read;
pub use world::Threads;
