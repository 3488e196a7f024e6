//! The `io_uring` world: one ring, one owner thread.
//!
//! Requests are put into the ring by `submit` and sent by `reap`, in the same system call that waits, so a caller
//! that submits a batch and reaps pays one call for all of it. Needs Linux 5.11 (waiting with a time-out);
//! everything newer is used where the kernel has it ([`setup`]).

mod arenas;
mod entry;
mod ring;
mod setup;
mod wake;

pub use ring::Uring;
pub use setup::SetupError;

#[cfg(test)]
mod filter_tests;
#[cfg(test)]
mod tests;
