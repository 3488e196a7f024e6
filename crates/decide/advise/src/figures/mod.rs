//! Figures that the rules need, read from a profile. Only this folder depends on the profile's
//! schema. Each function returns a figure with the sentence that the advice prints, or a missing
//! figure with the way to measure it.

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

/// Least time to program a flash page. Single-level cells take about 220 us (data sheets of the
/// X25-E's chips).
pub(crate) const PROGRAM_NS_MIN: f64 = 100e3;

/// Figures of one profile.
#[derive(Debug)]
pub(crate) struct Figures<'a> {
    pub(crate) profile: &'a DeviceProfile,
}

impl<'a> Figures<'a> {
    pub(crate) fn of(profile: &'a DeviceProfile) -> Self {
        Self { profile }
    }
}
