//! The dashboard over generated flights: a real server and its responses.

mod browser;
mod document;
mod figures;
mod guard;
mod hostile;
mod limits;
mod parameters;
mod schema;
mod site;
mod sums;
mod versions;
