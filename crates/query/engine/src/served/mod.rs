//! Engine of a server: sessions of many clients over the same tables, threads and memory. Clients
//! only read, in the SQL of PostgreSQL. `request` separates statements for the engine from those
//! for the session; `catalogue` answers queries about tables.

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
