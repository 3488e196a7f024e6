//! Planned scans: the reads of the engine's Parquet source are determined in advance, planned, and
//! in flight before the source requests them.
//!
//! The source reads a row group at once, so each row group that remains after pruning is passed to
//! it as a separate file (a [`Piece`]). Pieces are distributed among the engine's partitions. The
//! reads of a partition are planned together, in order, so that they continue across row groups and
//! files during decoding.

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
