//! The program as users run it.
#![allow(clippy::unwrap_used, reason = "helpers of tests are part of them")]

mod definition;
mod place;
mod queries;
mod reference;
mod serve;
