//! Modelled storage devices, and the [world] in virtual time that they live in. A model's behaviour comes from mechanisms (seek curve, rotation, cache, queue) with
//! the parameters of a drive, never from a table of the results it should show. This crate must never read the
//! system clock, draw randomness of its own, or depend on the order of a hash map: the same calls give the same
//! answers.

pub mod aging;
pub mod array;
pub mod disk;
pub mod flash;
pub mod library;
pub mod media;
mod timeline;
pub mod timing;
pub mod world;
