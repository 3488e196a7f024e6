//! Tests that a page store never loses acknowledged data. Several clients run random histories on
//! modelled devices. The power is cut after every event of every device, with every kind of
//! survivor in the [fault model](nandle_model::media::faults), and again during recovery and in
//! later lives. An oracle checks the results against the store's contract alone. It must never
//! inspect a store's internals, or depend on anything but a seed.
//!
//! After a failure the store is usually opened again without a power cut. Pages of a failed flush
//! are still readable then, but never become durable (Rebello et al., USENIX ATC 2020). For cases
//! not covered, see [`Scenario::goes_on_after_failure`].
//!
//! A history is a pure function of its seed ([`Scenario::of`]): `cargo xtask crash --images 1
//! --seed SEED` repeats it.

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
mod salvaged;
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
