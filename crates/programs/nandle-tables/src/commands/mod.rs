//! One folder for each command of the program.

pub(crate) mod scan;
pub(crate) mod table;
