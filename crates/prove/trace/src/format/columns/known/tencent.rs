//! Tencent's block traces (Zhang et al., *OSCA*, USENIX ATC 2020). The last column is a volume.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{Layout, S, SECTOR, Separator, UNIX_US_MIN, at};

pub(in crate::format) static TENCENT: Layout = Layout {
    columns: Columns {
        time: at(1, S),
        offset: at(2, SECTOR),
        bytes: at(3, SECTOR),
        operation: 4,
        spelling: Spelling::Numbers { read: 0 },
        device: [Some(5), None],
        latency: None,
    },
    header: Some("Timestamp,Offset,Size,IOType,VolumeID"),
    separator: Separator::Comma,
    fields: [5, 5],
    begins_us: UNIX_US_MIN,
    has_decimals: Some(false),
    has_host: false,
};
