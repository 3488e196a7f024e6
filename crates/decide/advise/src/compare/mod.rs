//! Comparison of profiles: changes since an older profile of the same device ([`changes`]),
//! performance per price and per machine ([`size`]), and the best drive for each component of a
//! database ([`place`]).

mod change;
mod identity;
mod measure;
mod placement;
mod sizing;

pub use change::{Change, Outcome, changes};
pub use identity::{DeviceMatch, same_device};
pub use measure::{Better, Measure, Unit, measures};
pub use placement::{Placement, Tenant, place};
pub use sizing::{BreakEven, Sizing, SizingQuestion, size};
