//! What the programs share towards the person before them, so that they speak alike: what they print, their progress, what Ctrl-C does,
//! the arguments that all commands take, where a profile comes from, and figures in words. It must never know a
//! command, nor what a command measures or keeps.

pub mod args;
pub mod cpu;
mod definition;
mod failure;
pub mod interrupt;
mod kept_probe;
pub mod output;
pub mod profile;
pub mod progress;
pub mod reference;
pub mod result_file;
pub mod words;

pub use definition::CommandDefinition;
pub use failure::{Exit, Failure};
