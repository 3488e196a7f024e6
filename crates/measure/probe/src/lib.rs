//! Address [patterns](pattern), [load drivers](load), the exhaustive [sweep], and the [search] that
//! builds a device profile within a time budget. This crate reaches devices only through
//! [`nandle_io::Io`]. It must never open, name or remove a file, read the system's clock, or print.

mod error_model;
pub mod experiments;
pub mod fill;
pub mod load;
mod observer;
pub mod pattern;
pub mod search;
pub mod sweep;
#[cfg(test)]
mod virtual_world;

pub use observer::{Observer, Unobserved};
