//! Traces of the Storage Performance Council (*SPC-1 Trace File Format*). The first column is an
//! application storage unit; more columns may follow.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{BYTE, Layout, S, SECTOR, Separator, at};

pub(in crate::format) static SPC: Layout = Layout {
    columns: Columns {
        device: [Some(1), None],
        offset: at(2, SECTOR),
        bytes: at(3, BYTE),
        operation: 4,
        spelling: Spelling::Letter,
        time: at(5, S),
        latency: None,
    },
    header: None,
    separator: Separator::Comma,
    fields: [5, 32],
    begins_us: 0,
    has_decimals: None,
    has_host: false,
};
