//! Block traces of Microsoft Research, Cambridge (Narayanan, Donnelly, Rowstron, *Write
//! Off-Loading*, FAST 2008). Each disk of a host is a device; times are ticks since 1601.

use super::super::Columns;
use super::super::spelling::Spelling;
use super::{BYTE, Layout, Separator, TICK, at};

pub(in crate::format) static MSR: Layout = Layout {
    columns: Columns {
        time: at(1, TICK),
        device: [Some(2), Some(3)],
        operation: 4,
        spelling: Spelling::ReadWrite,
        offset: at(5, BYTE),
        bytes: at(6, BYTE),
        latency: Some(at(7, TICK)),
    },
    header: Some("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime"),
    separator: Separator::Comma,
    fields: [6, 7],
    begins_us: 0,
    has_decimals: Some(false),
    has_host: true,
};
