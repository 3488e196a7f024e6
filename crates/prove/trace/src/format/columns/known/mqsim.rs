//! Traces of the `MQSim` manual: arrival in ns, device, first sector, sectors, 0 for writes and 1
//! for reads.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{Layout, NS, SECTOR, Separator, at};

pub(in crate::format) static MQSIM: Layout = Layout {
    columns: Columns {
        time: at(1, NS),
        device: [Some(2), None],
        offset: at(3, SECTOR),
        bytes: at(4, SECTOR),
        operation: 5,
        spelling: Spelling::Numbers { read: 1 },
        latency: None,
    },
    header: None,
    separator: Separator::WhiteSpace,
    fields: [5, 5],
    begins_us: 0,
    has_decimals: Some(false),
    has_host: false,
};
