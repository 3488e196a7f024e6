//! The dashboard, over generated flights: a server as users run it, and what it answers.

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
