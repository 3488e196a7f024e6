//! Formatting of quantities, intervals, dates and user-supplied names.

mod interval;
mod long_writing;
mod name;
mod quantity;
mod sentence;

pub(crate) use interval::{bandwidth, bounds, count, depth, factor, iops, plain, size, time, time_ns};
pub(crate) use long_writing::writing_duration;
pub(crate) use name::{clean, short};
pub(crate) use quantity::{Quantity, block_runs, grouped, significant};
pub(crate) use sentence::{bind, calendar, join, number_word, plural, quantile, sentence, units};
