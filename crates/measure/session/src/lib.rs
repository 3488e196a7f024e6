//! Nandle's measurements as a library. [`probe()`] and [`sweep()`] open a target, measure it, and
//! return the profile or the cells. This crate must never print, exit, parse arguments, prompt, or
//! read the system's clock. A [`Progress`] receives progress and remarks. A [`Cancel`] interrupts a
//! measurement; results so far are kept.
//!
//! ```
//! use std::time::SystemTime;
//!
//! use nandle_session::{ProbeOptions, Unobserved, probe};
//! use nandle_units::Nanos;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = ProbeOptions { budget: Nanos::from_secs(1), ..ProbeOptions::new(SystemTime::now()) };
//! let profile = probe(&"model:nvme-tlc".parse()?, &options, &mut Unobserved)?;
//! let most = profile.derived.random_read_iops_max.ok_or("random reads were not measured")?;
//! assert!(most.low <= most.value && most.value > 1e5);
//! # Ok(())
//! # }
//! ```
//!
//! A program that first reports its plan or prompts the user uses two steps: [`Probe::open`] opens
//! the target and plans, and [`Probe::run`] measures. [`Sweep::open`] and [`Sweep::run`] work
//! alike.

mod access;
mod error;
mod memory;
pub mod probe;
mod progress;
mod session;
pub mod sweep;

pub use access::Access;
pub use error::{KeepError, SessionError};
pub use memory::{Allowance, budget_bytes};
pub use nandle_probe::load::{Cancel, LoadError};
#[doc(hidden)]
pub use nandle_probe::search::Statistic;
pub use nandle_probe::{Observer, Unobserved};
pub use probe::{Probe, ProbeError, ProbeOptions, ProbePlan, probe};
pub use progress::{Progress, time_left};
pub use session::{PreparedArea, Session};
pub use sweep::{Sweep, SweepError, sweep};
