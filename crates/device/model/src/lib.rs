//! Modelled storage devices and their [world] in virtual time. A model's behaviour comes from
//! mechanisms (seek curve, rotation, cache, queue) with the parameters of a drive, never from a
//! table of expected results. This crate must never read the system clock, draw randomness of its
//! own, or depend on the order of a hash map: equal calls give equal answers.

pub mod aging;
pub mod array;
pub mod disk;
pub mod flash;
pub mod library;
pub mod media;
mod timeline;
pub mod timing;
pub mod world;
