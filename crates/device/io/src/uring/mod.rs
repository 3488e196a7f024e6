//! The `io_uring` world: one ring, one owner thread.
//!
//! Requests are put into the ring by `submit` and sent by `reap`, in the same system call that waits, so a caller
//! that submits a batch and reaps pays one call for all of it. Needs Linux 5.11 (waiting with a time-out);
//! everything newer is used where the kernel has it ([`setup`]). A ring that the kernel lets be entered no longer fails
//! its requests ([`stop`]).

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
