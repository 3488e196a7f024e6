//! What an answer carries beside its figures: which rows it is of, and what it cost.

use serde::Serialize;
use utoipa::ToSchema;

/// An answer, with the version of the table that it is of and what its queries took.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Answer<T> {
    /// Version of the table's rows: a snapshot, or a number made of its files' lengths and times.
    pub version: String,
    /// The figures.
    pub figures: T,
    /// The queries that they come from.
    pub queries: Vec<QueryCost>,
}

/// What a query took when it ran. Later answers from the same rows are given from memory.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct QueryCost {
    /// The statement.
    pub sql: String,
    /// The statement that the server made the table by which `sql` asks: sums of the flights. `null` where `sql` asks the flights themselves.
    pub sums_sql: Option<String>,
    /// From when there was a place for it to its last row.
    pub wall_ns: u64,
    /// Time during which requests to the device were outstanding.
    pub device_ns: u64,
    /// Time that all threads together computed.
    pub computing_ns: u64,
    /// Bytes that were read from the device.
    pub read_bytes: u64,
    /// Requests to the device.
    pub requests: u64,
    /// Requests that no plan foresaw.
    pub unplanned_requests: u64,
    /// Bytes of temporary files.
    pub spilled_bytes: u64,
    /// What was predicted of its scans.
    pub predicted: PredictedQuery,
    /// What the same query would take on other devices, by their models.
    pub elsewhere: Vec<Device>,
}

/// What was predicted of a query's scans.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PredictedQuery {
    /// Bytes that would be read.
    pub read_bytes: u64,
    /// Requests that would be sent.
    pub requests: u64,
    /// From the first request to the last row; what is computed with the rows isn't predicted. `null` where it isn't known.
    pub scans_ns: Option<u64>,
    /// Its lower bound.
    pub scans_low_ns: Option<u64>,
    /// Its upper bound.
    pub scans_high_ns: Option<u64>,
    /// Why it isn't known.
    pub refusal: Option<String>,
}

/// A query on another device.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Device {
    /// The modelled device, as `nandle models` calls it.
    pub device: String,
    /// How long the query takes there, with what is computed shared out among as many threads as here; `null` where it couldn't be played.
    pub time_ns: Option<u64>,
    /// Whether it is known what reads cost there. It is found out while the server runs already; the same question is answered with a time then.
    pub is_measured: bool,
    /// Why it couldn't be played.
    pub refusal: Option<String>,
}

/// How far measuring what reads cost on other devices is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DevicesStatus {
    /// The devices.
    pub devices: Vec<DeviceStatus>,
}

/// How far measuring a device's model is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DeviceStatus {
    /// The modelled device, as `nandle models` calls it.
    pub device: String,
    /// Whether it is measured.
    pub state: Measuring,
    /// Why it couldn't be measured.
    pub refusal: Option<String>,
}

/// Whether a device is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measuring {
    /// Not yet.
    Running,
    /// It is.
    Done,
    /// It can't be.
    Failed,
}

/// Whether questions about whole months are answered from sums of the flights; without them the flights themselves are asked, which takes longer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SumsStatus {
    /// Version of the table's rows.
    pub version: String,
    /// Whether there are sums.
    pub state: SumsState,
    /// The statement whose rows they are.
    pub sql: String,
    /// How long making them took; `null` until they are ready.
    pub making_ns: Option<u64>,
    /// How many rows they are; `null` until they are ready.
    pub rows: Option<u64>,
    /// Bytes of their file; `null` until they are ready.
    pub file_bytes: Option<u64>,
    /// Why they couldn't be made.
    pub refusal: Option<String>,
}

/// Whether there are sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SumsState {
    /// They are being made.
    Making,
    /// There are.
    Ready,
    /// They couldn't be made.
    Failed,
}
