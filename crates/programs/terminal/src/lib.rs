//! User interface shared by all programs: output, progress, Ctrl-C, common arguments, choice of a
//! profile, and formatted figures. This crate must never depend on a command, or on anything that a
//! command measures or stores.

pub mod args;
pub mod cpu;
mod definition;
mod failure;
pub mod interrupt;
pub mod output;
mod probe_cache;
pub mod profile;
pub mod progress;
pub mod reference;
pub mod result_file;
pub mod words;

pub use definition::CommandDefinition;
pub use failure::{Exit, Failure};
