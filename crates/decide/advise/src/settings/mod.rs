//! Data types of advice.

mod advice;
mod commands;
mod confidence;
mod figure;
mod question;
mod setting;

pub(crate) use advice::Collector;
pub use advice::{Advice, Part};
pub(crate) use commands::completed;
pub use confidence::{Confidence, RuleSource};
pub use figure::{Figure, MissingFigure};
pub use question::{Question, Version, Workload};
pub use setting::{MissingSetting, Setting};
