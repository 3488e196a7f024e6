//! Traces of Florida International University (Verma et al., *`SRCMap`*, FAST 2010; Koller,
//! Rangaswami, *I/O Deduplication*, FAST 2010). Columns: time, process number and name, sector,
//! sectors, operation, device (major, minor), checksum.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{Layout, NS, SECTOR, Separator, at};

pub(in crate::format) static FIU: Layout = Layout {
    columns: Columns {
        time: at(1, NS),
        offset: at(4, SECTOR),
        bytes: at(5, SECTOR),
        operation: 6,
        spelling: Spelling::Letter,
        device: [Some(7), Some(8)],
        latency: None,
    },
    header: None,
    separator: Separator::WhiteSpace,
    fields: [8, 9],
    begins_us: 0,
    has_decimals: Some(false),
    has_host: false,
};
