//! Planned reads. [Wants](Want) become a [plan](Plan) of requests by the measured costs of the
//! device. The plan runs within a stated amount of memory ([`Scan`], [`Pump`]), and its time is
//! predicted. The crate is independent of file formats and device profiles; it must never read the
//! system's clock or exceed its memory.

mod costs;
mod error;
mod estimate;
mod outstanding;
mod owners;
mod plan;
mod predict;
mod pump;
pub mod recording;
mod scan;
mod want;
mod words;

pub use costs::{BatchCost, Pricing, ReadCosts, RequestCost, SequenceCost};
pub use error::ReadsError;
pub use estimate::Estimate;
pub use outstanding::Outstanding;
pub use owners::{OwnedStep, Owner, Progress, StepStream, Steps, Stopper, UrgentRead};
pub use plan::{Groups, Plan, PlanFile, PlanOptions, PlannedRead, PlannedWindow, Strategy};
pub use predict::{HostCosts, Prediction};
pub use pump::{Check, KeptMemory, Mismatch, Pump, ReadCounts, ReadFile, ScanMemory, Step, WantBytes};
pub use scan::Scan;
pub use want::{FileId, Want};
pub use words::StrategyError;
