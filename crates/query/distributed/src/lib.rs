//! Queries on several machines. The planning side ([`Cluster`]) divides scans among workers by
//! predicted time. Each worker ([`WorkerServer`]) has a copy of the data and plans its reads by the
//! profile of its own device. Only this crate uses `datafusion-distributed`, which cuts plans into
//! stages and moves rows, and `tonic`. It must never print, and accesses files only through the
//! engine.
//!
//! Modules: `cluster` extends an engine's session by a distributing planner and watches the workers
//! of each query; `worker` admits requests, checks that a plan matches its data, and computes;
//! `connection` is used by both to reach workers.

mod cluster;
mod connection;
mod error;
mod joins;
mod secret;
mod wire;
mod worker;

pub use cluster::{Cluster, ClusterOptions, HeldRows};
pub use connection::ServerKeys;
pub use error::WorkerError;
pub use secret::{Secret, SecretError};
pub use url::Url;
pub use worker::{WorkerOptions, WorkerServer};
