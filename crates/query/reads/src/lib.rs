//! From what a consumer of files needs to requests: [wants](Want) become a [plan](Plan) by what the device was measured to do, the plan is
//! carried out in a stated memory ([`Scan`], [`Pump`]), and its time is predicted. It knows no file format and no profile; it must never read the
//! system's clock, and never take more memory than it was told.

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
