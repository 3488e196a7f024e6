//! Rules that several products share: pure functions from figures to values.

mod commits;
mod concurrency;
mod pages;
mod sizes;
mod writes;

pub(crate) use commits::{best_commit_method, commit_delay_us};
pub(crate) use concurrency::{depth_with_default, per_session};
pub(crate) use pages::{CACHED_SHARE, page_cost};
pub(crate) use sizes::power_of_two_within;
pub(crate) use writes::{background_write_rate, random_is_expensive, written_back_bytes};
