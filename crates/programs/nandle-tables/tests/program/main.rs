//! End-to-end tests of the program on small generated tables.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests are part of them")]

mod common;
mod cubes;
mod damage;
mod definition;
mod full_disk;
mod killed;
mod load;
mod odd_input;
mod processes;
mod reference;
mod scan;
mod trouble;
