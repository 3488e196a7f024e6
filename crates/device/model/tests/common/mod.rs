//! Helpers shared by the tests of the claims.
#![allow(dead_code, reason = "every test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "test code")]

pub(crate) mod arrays;
pub(crate) mod book;
pub(crate) mod driver;
pub(crate) mod open_loop;
pub(crate) mod patterns;
pub(crate) mod traces;
