//! Traces of virtual desktops (Lee et al., *Understanding Storage Traffic Characteristics on
//! Enterprise Virtual Desktop Infrastructure*, SYSTOR 2017).

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{BYTE, Layout, S, Separator, UNIX_US_MIN, at};

pub(in crate::format) static SYSTOR_17: Layout = Layout {
    columns: Columns {
        time: at(1, S),
        latency: Some(at(2, S)),
        operation: 3,
        spelling: Spelling::Letter,
        device: [Some(4), None],
        offset: at(5, BYTE),
        bytes: at(6, BYTE),
    },
    header: Some("Timestamp,Response,IOType,LUN,Offset,Size"),
    separator: Separator::Comma,
    fields: [6, 6],
    begins_us: UNIX_US_MIN,
    has_decimals: None,
    has_host: false,
};
