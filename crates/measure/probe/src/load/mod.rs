//! Load drivers. They take addresses from a pattern, submit requests to a device, and record the
//! results.
//!
//! [`ClosedLoop`] keeps a number of requests outstanding, as a scan or a pool of sessions does.
//! [`OpenLoop`] sends requests on a schedule, as users do, and measures latency from the scheduled
//! time. Both run on a [`Lane`]: one thread's world, device and memory.

mod closed_loop;
mod contents;
mod error;
mod lane;
mod latencies;
mod open_loop;
mod operations;
mod outstanding;
mod record;
mod run_all;
mod stop;
mod streams;
mod threads;
mod window;

#[cfg(test)]
mod tests;

pub use closed_loop::{ClosedLoop, Counting, Refill};
pub use contents::Contents;
pub use error::LoadError;
pub use lane::{Lane, LaneOptions};
pub use latencies::Latencies;
pub use open_loop::{Arrivals, OpenLoop, ScheduleLag};
pub use operations::{READ_POOL_BYTES, Work};
pub use record::Measurement;
pub use stop::{Cancel, Stop};
pub use streams::{OpenStream, StreamMeasurement, run_streams};
pub use threads::{Opener, run_on_threads};
