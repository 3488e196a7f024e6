//! The modelled world: an [`Io`](nandle_io::Io) in virtual time, for any number of devices.
//!
//! ```text
//! submit → host processor (charged to the clock) → the device's timing, which says when the request completes
//! reap   → the clock moves to the next event of any device → completion
//! ```
//!
//! This world keeps no contents: a read leaves its memory as it was. A [`MediaWorld`](crate::media::MediaWorld) around
//! it does. A device's [`Timing`](crate::timing::Timing) knows addresses and times, its
//! [`Media`](crate::media::Media) bytes, and neither knows the other. Virtual time passes only in a wait, or when the host's processor is charged, so a
//! run is a function of its inputs. Events of one time are handled in the order of their devices, and within a device
//! in the order in which its timing reports them.

mod agenda;
mod device;
mod model_world;
mod timings;

pub use device::ModelledDevice;
pub use model_world::{Host, ModelWorld};
