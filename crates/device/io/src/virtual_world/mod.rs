//! World in virtual time: its clock, its slots and its waits. Its devices are a [`Behaviour`], or a
//! [`Conduct`] if a request's fate is known at submission.
//!
//! Time passes only when something waits or the host's processor is charged, so a run is a function
//! of its inputs.

mod behaviour;
mod conduct;
mod world;

pub use behaviour::{Arrival, Behaviour, Finished};
pub use conduct::{Conduct, Fate, Scheduled};
pub use world::VirtualWorld;
