//! Arrays in software: the one place that knows how members become one device. Everything else treats a target
//! as a list of leaves.

use nandle_io::{Arrays, Device, DeviceId};

use crate::Problem;
use crate::spec::{ArrayLevel, ArraySpec, TargetSpec};

/// Whether a target's members can be joined; asked before any of them is opened.
pub(crate) fn check(spec: &TargetSpec) -> Result<(), Problem> {
    match spec {
        TargetSpec::Repeat { count, .. } => Err(Problem::NotJoined { count: *count as usize }),
        TargetSpec::Path(_) | TargetSpec::Model(_) | TargetSpec::Array(_) => Ok(()),
    }
}

/// How large each member's test file is, so that the array's is as large as was asked for.
pub(crate) fn member_file_bytes(spec: &TargetSpec, test_file_bytes: u64) -> u64 {
    match spec {
        TargetSpec::Array(array) => {
            test_file_bytes.div_ceil(columns(array)).next_multiple_of(array.chunk_bytes)
        }
        _ => test_file_bytes,
    }
}

/// What an array of members of at least `member_bytes` can hold.
pub(crate) fn area_bytes(array: &ArraySpec, member_bytes: u64) -> u64 {
    let chunks = member_bytes.checked_div(array.chunk_bytes).unwrap_or(0);
    columns(array).saturating_mul(chunks).saturating_mul(array.chunk_bytes)
}

/// Members whose contents differ.
fn columns(array: &ArraySpec) -> u64 {
    let members = array.members_count();
    match array.level {
        ArrayLevel::Raid0 => members.max(1),
        ArrayLevel::Raid10 => (members / 2).max(1),
    }
}

/// Room that the members' world needs for `slots` requests to the array: a request may have a part for each member.
pub(crate) fn member_slots(array: &ArraySpec, slots: u32) -> u32 {
    slots.saturating_mul(u32::try_from(array.members_count()).unwrap_or(u32::MAX))
}

/// Joins the members, which are devices of the world that `arrays` is around. The array's capacity is its area.
pub(crate) fn join(array: &ArraySpec, arrays: &mut Arrays, members: &[Device]) -> Result<Device, Problem> {
    let ids: Vec<DeviceId> = members.iter().map(|member| member.id).collect();
    let joined = match array.level {
        ArrayLevel::Raid0 => arrays.raid0(&ids, array.chunk_bytes),
        ArrayLevel::Raid10 => arrays.raid10(&ids, array.chunk_bytes),
    };
    joined.map_err(|source| Problem::Array { source })
}
