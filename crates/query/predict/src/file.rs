//! A prediction as `nandle predict --json` writes it: one JSON object, in which every key of a figure ends in its unit.
//!
//! `schema_version` is the first key. It rises when a key changes its meaning or disappears; a key may be added without that.

use serde::{Deserialize, Serialize};

use crate::PlayedQuery;

/// Version of the prediction's JSON.
pub const PREDICTION_SCHEMA_VERSION: u32 = 1;

/// How long the queries of a recording take on each of several devices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionFile {
    /// [`PREDICTION_SCHEMA_VERSION`] of the program that wrote it.
    pub schema_version: u32,
    /// The recording as the user named it.
    pub recording: String,
    /// Queries in it.
    pub queries: u64,
    /// Files that they read.
    pub files: u64,
    /// Length of all files.
    pub files_bytes: u64,
    /// How wants became requests, as the user names it.
    pub reads: String,
    /// Memory for everything that is read and not yet dropped.
    pub memory_bytes: u64,
    /// What recorded processor times were multiplied by.
    pub cpu_scale: f64,
    /// The devices, in the order in which they were named.
    pub targets: Vec<TargetPrediction>,
}

/// The queries on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetPrediction {
    /// The device as the user named it.
    pub target: String,
    /// Whether time is virtual.
    pub is_modelled: bool,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
    /// All queries, one after the other; `null` when one of them couldn't be played.
    pub total_ns: Option<u64>,
    /// The queries, in the order of the recording.
    pub queries: Vec<QueryPrediction>,
}

/// A query on a device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryPrediction {
    /// Its place in the recording, from 1 on.
    pub number: u64,
    /// Its name; `null` in an anonymous recording.
    pub name: Option<String>,
    /// What it took where it was recorded; `null` if the recording doesn't say it.
    #[serde(default)]
    pub recorded_ns: Option<u64>,
    /// What it took; `null` when it couldn't be played.
    pub played: Option<PlayedQuery>,
    /// Why it couldn't be played.
    pub refusal: Option<String>,
}

impl QueryPrediction {
    /// What it is called where it is shown.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("query {}", self.number))
    }

    /// What it took.
    pub fn time_ns(&self) -> Option<u64> {
        self.played.as_ref().map(|played| played.time_ns)
    }
}

impl TargetPrediction {
    /// The sum of a figure over the queries that were played.
    pub fn sum(&self, figure: impl Fn(&PlayedQuery) -> u64) -> u64 {
        let played = self.queries.iter().filter_map(|query| query.played.as_ref());
        played.fold(0, |sum, played| sum.saturating_add(figure(played)))
    }
}

impl PredictionFile {
    /// The device on which all queries take least, if all could be played on more than one.
    pub fn fastest(&self) -> Option<&TargetPrediction> {
        let complete = || self.targets.iter().filter(|target| target.total_ns.is_some());
        let several = complete().count() > 1;
        complete().min_by_key(|target| target.total_ns).filter(|_| several)
    }
}
