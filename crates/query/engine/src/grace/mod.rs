//! Grace hash joins, which spill rows to temporary files (Kitsuregawa, Tanaka and Moto-oka,
//! Application of hash to data base machine and its architecture, 1983). A side that fits in memory
//! isn't partitioned (`DeWitt` and others, Implementation techniques for main memory database
//! systems, 1984).
//!
//! ```text
//! left ──► fits? ──► hash join with the whole right side
//!            │ no
//!            ▼
//!          buckets by the hash of the key, in temporary files ┐
//! right ─► buckets by the same hash ──────────────────────────┴─► join each pair of buckets like
//!                                                                 two sides, with another hash
//! ```
//!
//! `DataFusion` computes the joins themselves.

mod buckets;
mod compact;
mod exec;
mod figures;
mod granted;
mod joins;
mod pairs;
mod rule;
mod side;
mod stored;

pub use self::exec::GraceHashJoin;
pub(crate) use self::rule::{JOINS_DECIDED, Rule, with_grace_joins};
