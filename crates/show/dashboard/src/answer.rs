//! Answer with the version of its rows and the cost of its queries.

use serde::Serialize;
use utoipa::ToSchema;

/// Answer with the version of the table and the cost of its queries.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Answer<T> {
    /// Version of the table's rows: a snapshot, or a number derived from the lengths and times of
    /// its files.
    pub version: String,
    /// Figures.
    pub figures: T,
    /// Queries behind the figures.
    pub queries: Vec<QueryCost>,
}

/// Cost of a query when it ran. Later answers from the same rows come from the cache.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct QueryCost {
    /// SQL statement.
    pub sql: String,
    /// Statement that created the table of sums which `sql` reads; `null` if `sql` reads the
    /// flights.
    pub sums_sql: Option<String>,
    /// Time from admission to the last row, in nanoseconds.
    pub wall_ns: u64,
    /// Time with outstanding requests to the device, in nanoseconds.
    pub device_ns: u64,
    /// Total computing time of all threads, in nanoseconds.
    pub computing_ns: u64,
    /// Bytes read from the device.
    pub read_bytes: u64,
    /// Requests to the device.
    pub requests: u64,
    /// Requests that the plan didn't predict.
    pub unplanned_requests: u64,
    /// Bytes of temporary files.
    pub spilled_bytes: u64,
    /// Prediction for the scans.
    pub predicted: PredictedQuery,
    /// Times of the query on other devices.
    pub elsewhere: Vec<Device>,
}

/// Prediction for the scans of a query.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PredictedQuery {
    /// Bytes to be read.
    pub read_bytes: u64,
    /// Requests to be sent.
    pub requests: u64,
    /// Time from the first request to the last row, in nanoseconds, without computing. `null` if
    /// unknown.
    pub scans_ns: Option<u64>,
    /// Lower bound of `scans_ns`.
    pub scans_low_ns: Option<u64>,
    /// Upper bound of `scans_ns`.
    pub scans_high_ns: Option<u64>,
    /// Reason for an unknown prediction.
    pub refusal: Option<String>,
}

/// Query on another device.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Device {
    /// Modelled device, by its name in `nandle models`.
    pub device: String,
    /// Time of the query in nanoseconds, computed with the same number of threads; `null` if it
    /// couldn't be played.
    pub time_ns: Option<u64>,
    /// True if the read costs of the device are measured. Measuring continues while the server
    /// runs; repeat the question for a time.
    pub is_measured: bool,
    /// Reason for a missing time.
    pub refusal: Option<String>,
}

/// Progress of measuring the read costs of other devices.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DevicesStatus {
    /// State of each device.
    pub devices: Vec<DeviceStatus>,
}

/// Progress of measuring a device model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DeviceStatus {
    /// Modelled device, by its name in `nandle models`.
    pub device: String,
    /// State of the measurement.
    pub state: MeasurementState,
    /// Reason for a failed measurement.
    pub refusal: Option<String>,
}

/// State of a device's measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasurementState {
    /// Running or waiting.
    Running,
    /// Finished.
    Done,
    /// Failed.
    Failed,
}

/// State of the sums, which answer questions about whole months. Without them the flights are read,
/// which takes longer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SumsStatus {
    /// Version of the table's rows.
    pub version: String,
    /// State of the sums.
    pub state: SumsState,
    /// Statement that computes the sums.
    pub sql: String,
    /// Time to compute the sums, in nanoseconds; `null` until they are ready.
    pub making_ns: Option<u64>,
    /// Rows of the sums; `null` until they are ready.
    pub rows: Option<u64>,
    /// Bytes of their file; `null` until they are ready.
    pub file_bytes: Option<u64>,
    /// Reason for a failure.
    pub refusal: Option<String>,
}

/// State of the sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SumsState {
    /// Being computed.
    Making,
    /// Ready.
    Ready,
    /// Failed.
    Failed,
}
