//! From what a consumer of files needs to requests: [wants](Want) become a plan by what the device was measured to do, the plan is carried
//! out in a stated memory, and its time is predicted. It knows no file format and no profile; it must never read the system's clock, and
//! never take more memory than it was told.

mod costs;
mod error;
mod estimate;
pub mod recording;
mod want;

pub use costs::{RandomCost, ReadCosts};
pub use error::ReadsError;
pub use estimate::Estimate;
pub use want::{FileId, Want};
