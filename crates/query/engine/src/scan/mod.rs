//! Scans by plan: what the engine's Parquet source would read is found out beforehand, planned, and on its way when it asks.
//!
//! A row group is what the source asks for at once, so each one that is left after pruning becomes a file of its own for it (a [`Piece`]).
//! Pieces are dealt out to the engine's partitions; of each partition the pieces' bytes are planned together, in order, so that reads go on across
//! row groups and files while one is decoded.

mod columns;
mod decoding;
mod explain;
mod filter_statistics;
mod floats;
mod kept_filters;
mod long_lists;
mod parts;
mod pieces;
mod planned;
mod processor;
mod pruner;
mod pruning;
mod pushed_filters;
mod readers;
mod reads;
mod rehearsal;
mod row_filter;
mod rule;
mod share;
mod steps;
mod stoppers;
mod worth;

pub(crate) use explain::{Taken, Told, bounded, processor_time};
pub(crate) use kept_filters::KeepFilters;
pub(crate) use planned::{PlannedScan, scan_of};
pub(crate) use processor::Rates;
pub(crate) use pushed_filters::PushFilters;
pub(crate) use rule::{PlanReads, predicted_seconds};
