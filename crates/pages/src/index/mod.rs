//! Indexes over sets of numbers that are kept up to date with each change, so that nothing is ever scanned again.

mod runs;

pub(crate) use runs::{Run, Runs};
