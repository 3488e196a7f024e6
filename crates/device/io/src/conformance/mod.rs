//! Requirements on every world and device, as functions that panic on a violation. Real worlds,
//! arrays and modelled drives all pass the same suite.
//!
//! Time passes only through the world's own clock, so the suite runs in virtual time, too. Every
//! function takes the place of the world's only user: nothing is in flight before and after it. It
//! overwrites the device's contents.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test suite: its way to say no is to panic"
)]

mod abandoned;
mod charges;
mod completions;
mod full;
mod memory;
mod memory_world;
mod mixes;
mod oracle;
mod refusals;
mod session;
mod waits;
mod wakes;

pub use abandoned::abandoned_requests_keep_their_memory;
pub use charges::charged_time_passes;
pub use completions::completions_tell_the_truth;
pub use full::a_full_world_gives_requests_back;
pub use memory_world::{Faults, Memory, MemoryWorld};
pub use mixes::random_mixes_match_an_oracle;
pub use refusals::impossible_requests_are_refused;
pub use waits::waits_end_when_they_should;
pub use wakes::wakers_end_waits;

use crate::{Device, Io};

/// Runs the whole suite on one device, except the check that drops worlds
/// ([`abandoned_requests_keep_their_memory`]).
///
/// `seed` reproduces the random parts; a failure prints it.
pub fn check(io: &mut dyn Io, device: &Device, seed: u64) {
    impossible_requests_are_refused(io, device, seed);
    a_full_world_gives_requests_back(io, device, seed);
    waits_end_when_they_should(io, device, seed);
    wakers_end_waits(io, device, seed);
    charged_time_passes(io, device, seed);
    completions_tell_the_truth(io, device, seed);
    random_mixes_match_an_oracle(io, device, seed);
}
