//! Several drives as one device: behind controllers that share a link for each direction and a processor between their
//! drives and may have a battery-backed write-back cache and read ahead, as RAID 0 or 10 in a controller's hardware, as RAID 0 or 10 in the
//! host's software over everything that the controllers show, or both.
//!
//! ```text
//! request → software layout → controller (processor, links, cache) → hardware layout → drives
//! ```
//!
//! The drives are anything that is [`Timing`](crate::timing::Timing).

mod backlog;
mod cache;
mod controller;
mod device;
mod layout;
mod link;
mod parameters;
mod processor;
mod read_ahead;

pub use device::{Array, Drive};
pub use parameters::{
    ArrayError, ArrayParameters, CacheParameters, ControllerParameters, LayoutParameters, ReadAheadParameters,
};
