//! The modelled world: an [`Io`](nandle_io::Io) in virtual time, for any number of devices.
//!
//! ```text
//! submit → host processor (charged to the clock) → the device's timing, which says when the request completes
//! reap   → the clock moves to the next event of any device → the device's contents take effect → completion
//! ```
//!
//! A device has two halves that don't know each other: its [`Timing`](crate::timing::Timing) knows addresses and
//! times, its [`Contents`] bytes. Virtual time passes only when somebody waits or the host's processor is charged, so a
//! run is a function of its inputs. Events of one time are handled in the order of their devices, and within a device
//! in the order in which its timing reports them.

mod agenda;
mod contents;
mod device;
mod in_flight;
mod io;
mod model_world;

pub use contents::{Contents, NoContents, SparsePages};
pub use device::ModelledDevice;
pub use model_world::{Host, ModelWorld};
