//! The file of a recording, `*.needs.zst`.
//!
//! One frame of zstd with a checksum, a window of at most 8 MiB, and nothing before or after it. It
//! contains lines of JSON in UTF-8, each ended by `\n`, so that `zstdcat FILE | jq` shows them. A
//! line is an object with one key, which names its kind:
//!
//! ```text
//! {"nandle_needs":{"version":1}}                                          first, once
//! {"file":{"name":"data/1.parquet","length_bytes":1048576,"groups":{"listed":[[4,9000],[9000,70000]]}}}   a file; the first is number 0
//! {"query":{"name":"C41","text":"count(*) by origin"}}                    a query begins
//! {"step":{"wants":[[0,4096,8192],[0,65536,8192]],"cpu_after_ns":51000}}  its next step
//! {"done":{"spilled_bytes":0,"spill_read_bytes":0,"result_rows":17}}      the query ends
//! {"end":{"counts":{"files":1,"queries":1,"steps":1,"wants":2},"crc32c":305419896}}   last, once
//! ```
//!
//! - A want is `[file, offset_bytes, length_bytes]`: a file named by an earlier line, and at least
//!   one byte, all within the file.
//! - `groups` lists the parts of a file that belong together: `"unknown"`, `{"every_bytes":65536}`
//!   from its beginning on, or a list of `[begin_bytes, end_bytes]`, ascending, disjoint, non-empty
//!   and within the file.
//! - `name` and `text` are `null` in an anonymous recording; `text` also if none was given.
//! - `file` lines may stand anywhere before the end, `step` lines only between `query` and `done`.
//! - `crc32c` covers every byte before the last line. Nothing follows that line.
//! - Processor time is that of one thread on the recording machine: the sum over parallel threads.
//!
//! A reader rejects other versions, unknown keys, damaged frames or lines, a missing end, and
//! anything beyond the limits of [`rules`](super::rules). A writer obeys the same rules.

use serde::{Deserialize, Serialize};

use super::RecordingCounts;
use crate::Groups;

/// Version of the format that is written. Earlier ones are read as well. Version 2 added the
/// duration of a query.
pub const RECORDING_VERSION: u32 = 2;
/// Suffix of a recording's file name.
pub const RECORDING_FILE_SUFFIX: &str = ".needs.zst";

/// Compression level of the writer: a scattered want takes six bytes, a contiguous one almost none.
pub(super) const ZSTD_LEVEL: i32 = 6;
/// Largest zstd window of readers and the writer, as a power of two.
pub(super) const WINDOW_LOG_MAX: u32 = 23;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Line {
    NandleNeeds(Header),
    File(FileLine),
    Query(QueryLine),
    Step(StepLine),
    Done(DoneLine),
    End(EndLine),
}

/// Common beginning of all versions; later ones may have more keys.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) version: u32,
    #[serde(flatten)]
    pub(super) unknown: serde_json::Map<String, serde_json::Value>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileLine {
    pub(super) name: Option<String>,
    pub(super) length_bytes: u64,
    pub(super) groups: GroupsLine,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum GroupsLine {
    Unknown,
    EveryBytes(u64),
    /// Start and end of each group.
    Listed(Vec<(u64, u64)>),
}

impl From<&Groups> for GroupsLine {
    fn from(groups: &Groups) -> Self {
        match groups {
            Groups::Unknown => Self::Unknown,
            Groups::Every(bytes) => Self::EveryBytes(*bytes),
            Groups::Listed(listed) => {
                Self::Listed(listed.iter().map(|group| (group.start, group.end)).collect())
            }
        }
    }
}

impl From<GroupsLine> for Groups {
    fn from(line: GroupsLine) -> Self {
        match line {
            GroupsLine::Unknown => Self::Unknown,
            GroupsLine::EveryBytes(bytes) => Self::Every(bytes),
            GroupsLine::Listed(listed) => {
                Self::Listed(listed.into_iter().map(|(start, end)| start..end).collect())
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueryLine {
    pub(super) name: Option<String>,
    pub(super) text: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepLine {
    /// File, offset and length.
    pub(super) wants: Vec<(u32, u64, u64)>,
    pub(super) cpu_after_ns: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DoneLine {
    pub(super) spilled_bytes: u64,
    pub(super) spill_read_bytes: u64,
    pub(super) result_rows: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) took_ns: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndLine {
    pub(super) counts: RecordingCounts,
    pub(super) crc32c: u32,
}
