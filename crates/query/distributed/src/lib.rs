//! Queries on several machines. Where a query is planned ([`Cluster`]) its scans are dealt out to workers by the time that each is predicted to take
//! for them; a worker ([`WorkerServer`]) has the same data in its own place and plans its part of the reads by its own device's profile. It alone knows
//! `datafusion-distributed`, which cuts plans into stages and moves rows, and `tonic`; it must never print, and knows no file but by the engine.
//!
//! How it fits together: `cluster` extends an engine's session by a planner that distributes, and watches the workers of each query; `worker` admits
//! requests, checks that a plan is of the data that it has, and computes; `connection` is how either reaches a worker.

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
