//! The `threads` world, for systems that refuse `io_uring`: worker threads with blocking
//! `preadv(2)`, `pwritev2(2)`, `fdatasync(2)` and `fallocate(2)`, one request each at a time.
//! Workers are started on demand.

mod call;
mod pool;
mod world;

pub(crate) use call::read;
pub use world::Threads;
