//! The product as a library: a [`probe()`] and a [`sweep()`] are calls that open what the user names, measure it, and return
//! the profile or the cells. It must never print, exit, parse arguments, ask, or read the system's clock: what there is to
//! tell meanwhile goes to a [`Progress`], a [`Cancel`] ends it from outside, and what was measured until then is kept.
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
//! A program that wants to say what will happen first, or to ask, takes it in two steps: [`Probe::open`] opens the target
//! and plans, and [`Probe::run`] measures. So do [`Sweep::open`] and [`Sweep::run`].

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
pub use session::{Prepared, Session};
pub use sweep::{Sweep, SweepError, sweep};
