//! The `io_uring` world: one ring with one owner thread.
//!
//! `submit` puts requests into the ring; `reap` sends them in the system call that also waits. A
//! caller that submits a batch and reaps needs one call. It requires Linux 5.11 (waits with a
//! timeout) and uses newer features if the kernel has them ([`setup`]). If the kernel refuses to
//! enter the ring, its requests fail ([`stop`]).

mod anchor;
mod arenas;
mod entry;
mod queues;
mod ring;
mod setup;
mod stop;
mod wake;

pub use ring::Uring;
pub use setup::SetupError;

#[cfg(test)]
mod filter_tests;
#[cfg(test)]
mod tests;
