//! What rules need, read from a profile: this folder alone knows the profile's schema. Each function gives a figure with
//! the sentence that the advice prints, or says what the profile lacks and how it is had.

mod array_layout;
mod cached_writes;
mod commits;
mod conditions;
mod discards;
mod facts;
mod fill_level;
mod long_writes;
mod noise;
mod pages;
mod parallel_reads;
pub(crate) mod physics;
mod read_shape;
mod reads;
mod sequential_writes;
pub(crate) mod words;
mod write_cache;
mod writes;

use nandle_profile::DeviceProfile;

pub(crate) use array_layout::Array;
pub(crate) use commits::{PROBE_FILES, short_method_name};
pub(crate) use facts::{device_name, is_plain_path};
pub(crate) use read_shape::ReadShape;
pub(crate) use write_cache::Burst;
pub(crate) use writes::SMALLEST_WRITE;

/// No flash is programmed sooner; that of single-level cells takes about 220 us (data sheets of the X25-E's chips).
pub(crate) const PROGRAM_NS_MIN: f64 = 100e3;

/// A profile, asked for figures.
#[derive(Debug)]
pub(crate) struct Figures<'a> {
    pub(crate) profile: &'a DeviceProfile,
}

impl<'a> Figures<'a> {
    pub(crate) fn of(profile: &'a DeviceProfile) -> Self {
        Self { profile }
    }
}
