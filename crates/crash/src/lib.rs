//! Proves that a page store loses nothing: random histories of several clients on modelled devices, the power cut after
//! every event of every device, with every kind of survivor that the [fault model](nandle_model::media::faults) knows,
//! and again inside recovery and in the lives that follow; and an oracle that knows the store's contract and
//! nothing of its code. It must never look into a store, and never depend on time or on anything but a seed.
//!
//! What it doesn't cover: a store that is opened again after a failed flush while the power stays on. What such a flush
//! would have covered stays volatile for good, though it can be read (Rebello et al., USENIX ATC 2020), so a recovery
//! that goes by what it reads may count on it. Here the power goes off after a failure.
//!
//! A history is a pure function of its seed ([`Scenario::of`]): `cargo xtask crash --images 1 --seed SEED` repeats it.

mod campaign;
mod contents;
mod explore;
mod life;
mod oracle;
mod scenario;
mod stage;
mod world;

pub use campaign::{Campaign, Summary, run};
pub use explore::{Outcome, Step, Violation, explore};
pub use scenario::{Scenario, Timing, Trouble};
