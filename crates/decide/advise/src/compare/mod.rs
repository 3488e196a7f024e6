//! Profiles beside each other: what changed since an older one of the same device ([`changes`]), what drives give for
//! their price and a machine ([`size`]), and which drive suits which part of a database ([`place`]).

mod change;
mod identity;
mod measure;
mod placement;
mod sizing;

pub use change::{Change, Verdict, changes};
pub use identity::{Sameness, same_device};
pub use measure::{Better, Measure, Unit, measures};
pub use placement::{Placement, Tenant, place};
pub use sizing::{BreakEven, Sizing, SizingQuestion, size};
