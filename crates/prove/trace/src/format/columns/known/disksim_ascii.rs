//! "ASCII" traces of the `DiskSim` manual: arrival in ms, device, block, blocks, flags.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{Layout, MS, SECTOR, Separator, at};

pub(in crate::format) static DISKSIM_ASCII: Layout = Layout {
    columns: Columns {
        time: at(1, MS),
        device: [Some(2), None],
        offset: at(3, SECTOR),
        bytes: at(4, SECTOR),
        operation: 5,
        spelling: Spelling::Flags,
        latency: None,
    },
    header: None,
    separator: Separator::WhiteSpace,
    fields: [5, 5],
    begins_us: 0,
    has_decimals: None,
    has_host: false,
};
