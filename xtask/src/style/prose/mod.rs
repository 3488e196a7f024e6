//! Rules of plain English for comments. Each is a file with the samples that keep and break it.

mod comments;
mod openings;
mod phrases;
mod width;

pub(super) use openings::RULE as OPENINGS;
pub(super) use phrases::RULE as PHRASES;
pub(super) use width::RULE as WIDTH;
