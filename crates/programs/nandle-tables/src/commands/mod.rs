//! One folder for each command of the program.

pub(crate) mod cubes;
pub(crate) mod scan;
pub(crate) mod table;
