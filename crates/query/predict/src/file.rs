//! JSON of `nandle predict --json`: one object; each key of a figure ends in its unit.
//!
//! `schema_version` is the first key. It rises when a key changes its meaning or disappears, but
//! not when a key is added.

use serde::{Deserialize, Serialize};

use crate::PlayedQuery;

/// Version of the prediction's JSON.
pub const PREDICTION_SCHEMA_VERSION: u32 = 1;

/// Predicted times of a recording's queries on several devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionFile {
    /// [`PREDICTION_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The recording as the user named it.
    pub recording: String,
    /// Queries in the recording.
    pub queries: u64,
    /// Files that they read.
    pub files: u64,
    /// Total length of the files.
    pub files_bytes: u64,
    /// Read strategy as the user named it.
    pub reads: String,
    /// Memory for all bytes read and not yet dropped.
    pub memory_bytes: u64,
    /// Factor applied to recorded processor times.
    pub cpu_scale: f64,
    /// Devices, in the order in which they were named.
    pub targets: Vec<TargetPrediction>,
}

/// Predicted times on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPrediction {
    /// The device as the user named it.
    pub target: String,
    /// True if time is virtual.
    pub is_modelled: bool,
    /// Remarks for the reader of the figures, each a sentence.
    pub remarks: Vec<String>,
    /// Total time of all queries in sequence; `null` if one of them couldn't be played.
    pub total_ns: Option<u64>,
    /// Queries, in the order of the recording.
    pub queries: Vec<QueryPrediction>,
}

/// Prediction of a query on a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryPrediction {
    /// Its number in the recording, from 1.
    pub number: u64,
    /// Its name; `null` in an anonymous recording.
    pub name: Option<String>,
    /// Its recorded duration; `null` if unknown.
    #[serde(default)]
    pub recorded_ns: Option<u64>,
    /// Its run; `null` if it couldn't be played.
    pub played: Option<PlayedQuery>,
    /// Reason why it couldn't be played.
    pub refusal: Option<String>,
}

impl QueryPrediction {
    /// Returns its name, or a label with its number.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("query {}", self.number))
    }

    /// Returns its predicted time.
    pub fn time_ns(&self) -> Option<u64> {
        self.played.as_ref().map(|played| played.time_ns)
    }
}

impl TargetPrediction {
    /// Sums a figure over the queries that were played.
    pub fn sum(&self, figure: impl Fn(&PlayedQuery) -> u64) -> u64 {
        let played = self.queries.iter().filter_map(|query| query.played.as_ref());
        played.fold(0, |sum, played| sum.saturating_add(figure(played)))
    }
}

impl PredictionFile {
    /// Returns the device with the least total time, if at least two devices played all queries.
    pub fn fastest(&self) -> Option<&TargetPrediction> {
        let complete = || self.targets.iter().filter(|target| target.total_ns.is_some());
        let several = complete().count() > 1;
        complete().min_by_key(|target| target.total_ns).filter(|_| several)
    }
}
