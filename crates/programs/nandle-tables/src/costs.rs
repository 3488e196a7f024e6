//! Read costs of the data's place.

pub(crate) use nandle_terminal::profile::{FoundProfile, ProfileArgs, costs_of, flexible_block_bytes};
