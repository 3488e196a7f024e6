//! Arrays in software: the one place that knows how members become one device. Everything else treats a target
//! as a list of leaves.

use nandle_io::{Device, Io};

use crate::Problem;
use crate::spec::{ArrayLevel, ArraySpec, TargetSpec};

/// Whether a target's members can be joined; asked before any of them is opened.
pub(crate) fn check(spec: &TargetSpec) -> Result<(), Problem> {
    match spec {
        TargetSpec::Array(_) => Err(Problem::ArraysUnavailable),
        _ => Ok(()),
    }
}

/// What an array of members of at least `member_bytes` can hold.
pub(crate) fn area_bytes(array: &ArraySpec, member_bytes: u64) -> u64 {
    let columns = match array.level {
        ArrayLevel::Raid0 => array.members_count(),
        ArrayLevel::Raid10 => array.members_count() / 2,
    };
    let chunks = member_bytes.checked_div(array.chunk_bytes).unwrap_or(0);
    columns.saturating_mul(chunks).saturating_mul(array.chunk_bytes)
}

/// Joins the members, which are devices of `io`, to one.
pub(crate) fn join(
    _array: &ArraySpec,
    _io: Box<dyn Io>,
    _members: &[Device],
) -> Result<(Box<dyn Io>, Device), Problem> {
    Err(Problem::ArraysUnavailable)
}
