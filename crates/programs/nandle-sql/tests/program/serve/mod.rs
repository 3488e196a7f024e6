//! The server with real clients: Debian's `psql` and Python's `psycopg`.

mod drivers;
mod ends;
mod limits;
mod psql;
mod server;
mod statements;

pub(crate) use server::{Server, is_skipped};
