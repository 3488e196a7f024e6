//! Proves that a page store loses nothing: random histories of several clients on modelled devices, the power cut after
//! every event of every device, with every kind of survivor that the [fault model](nandle_model::media::faults) knows,
//! and again inside recovery and in the lives that follow; and an oracle that knows the store's contract and
//! nothing of its code. It must never look into a store, and never depend on time or on anything but a seed.
//!
//! After a failure the store is opened again, mostly while the power stays on: what a failed flush would have covered
//! can be read then, and stays volatile for good (Rebello et al., USENIX ATC 2020). What this doesn't cover is said by
//! [`Scenario::goes_on_after_failure`].
//!
//! A history is a pure function of its seed ([`Scenario::of`]): `cargo xtask crash --images 1 --seed SEED` repeats it.

mod bad_blocks;
mod campaign;
mod client;
mod contents;
mod corruption;
mod explore;
pub mod file_calls;
mod fixture_life;
mod fixtures;
mod life;
mod oracle;
mod places;
mod rollback;
mod scenario;
mod stage;
mod whole_life;
mod world;

pub use bad_blocks::{Bad, BadBlocks, Violated, bad_blocks};
pub use campaign::{Campaign, Summary, run};
pub use corruption::{Damage, Left, Silent, Trials, corrupt};
pub use explore::{Outcome, Step, Violation, explore};
pub use fixture_life::live_from_fixture;
pub use fixtures::Fixture;
pub use rollback::{Copies, Rollbacks, roll_back};
pub use scenario::{Batches, CHUNK_PAGES, Scenario, Timing, Trouble, Used, Zones};
