//! The modelled world: an [`Io`](nandle_io::Io) in virtual time, for any number of devices.
//!
//! ```text
//! submit → host processor (charged to the clock) → the device's timing, which says when the request completes
//! reap   → the clock moves to the next event of any device → completion
//! ```
//!
//! This world stores no contents: a read leaves its memory unchanged. A
//! [`MediaWorld`](crate::media::MediaWorld) around it stores them. A device's
//! [`Timing`](crate::timing::Timing) handles addresses and times, its
//! [`Media`](crate::media::Media) handles bytes, and the two are independent. Virtual time passes
//! only in a wait, or when the host's processor is charged, so a run is a function of its inputs.
//! Simultaneous events are handled in device order, and within a device in the order in which its
//! timing reports them.

mod agenda;
mod device;
mod model_world;
mod timings;

pub use device::ModelledDevice;
pub use model_world::{Host, ModelWorld};
