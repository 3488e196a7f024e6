//! The one world in virtual time: its clock, its slots, and how it waits. What its devices do, and when, is their
//! [`Behaviour`]; where that is known when a request is submitted, a [`Conduct`] says it.
//!
//! Time passes only when something waits or the host's processor is charged, so a run is a function of its inputs.

mod behaviour;
mod conduct;
mod world;

pub use behaviour::{Arrival, Behaviour, Finished};
pub use conduct::{Conduct, Fate, Scheduled};
pub use world::VirtualWorld;
