//! What rules need, read from a profile: this folder alone knows the profile's schema. Each function gives a figure with
//! the sentence that the advice prints, or says what the profile lacks and how it is had.

mod array_layout;
mod commits;
mod discards;
mod facts;
mod fill_level;
mod noise;
mod parallel_reads;
pub(crate) mod physics;
mod reads;
mod sequential_writes;
pub(crate) mod words;
mod write_cache;
mod writes;

use nandle_profile::DeviceProfile;

pub(crate) use array_layout::Array;
pub(crate) use commits::short_method_name;
pub(crate) use facts::device_name;

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
