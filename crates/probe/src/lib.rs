//! Address [patterns](pattern), [load drivers](load), experiments, and the search that makes a device profile of
//! them. It knows a device only through [`nandle_io::Io`]; it must never open, name or remove a file, read the
//! system's clock, or print.

pub mod load;
pub mod pattern;
