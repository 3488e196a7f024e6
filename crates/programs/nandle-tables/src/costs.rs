//! What reading costs where the data lie.

pub(crate) use nandle_terminal::profile::{FoundProfile, ProfileArgs, costs_of, flexible_block_bytes};
