//! Several drives as one device.
//!
//! A controller shares its processor and a link for each direction between its drives. It may have
//! a battery-backed write-back cache, and it may read ahead. RAID 0 or 10 is laid out by the
//! controllers' hardware, by the host's software over the controllers' volumes, or by both.
//!
//! ```text
//! request → software layout → controller (processor, links, cache) → hardware layout → drives
//! ```
//!
//! A drive is any [`Timing`](crate::timing::Timing).

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
