//! Alibaba's block traces (Li et al., *An In-Depth Analysis of Cloud Block Storage Workloads*,
//! IISWC 2020). The first column is a volume.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{BYTE, Layout, Separator, UNIX_US_MIN, US, at};

pub(in crate::format) static ALIBABA: Layout = Layout {
    columns: Columns {
        device: [Some(1), None],
        operation: 2,
        spelling: Spelling::Letter,
        offset: at(3, BYTE),
        bytes: at(4, BYTE),
        time: at(5, US),
        latency: None,
    },
    header: Some("device_id,opcode,offset,length,timestamp"),
    separator: Separator::Comma,
    fields: [5, 5],
    begins_us: UNIX_US_MIN,
    has_decimals: Some(false),
    has_host: false,
};
