//! The engine behind a server: sessions of many clients over the same tables, threads and memory. Clients only read, and speak the SQL of
//! PostgreSQL: `request` tells what they ask of the engine from what they ask of their session, `catalogue` answers what they ask about tables.

mod catalogue;
mod functions;
mod kept;
mod memory;
mod prepared;
mod request;
mod session;
mod view;

pub use functions::SERVER_SETTINGS;
pub use kept::KeptRows;
pub use prepared::{Prepared, Values};
pub use request::{Command, Request};
pub use session::{Session, Sessions};
pub use view::View;
