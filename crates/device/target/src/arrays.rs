//! Arrays in software: joins members to one device. All other code treats a target as a list of
//! leaves.

use nandle_io::{Arrays, Device, DeviceId};

use crate::Problem;
use crate::spec::{ArrayLevel, ArraySpec, TargetSpec};

/// Checks that a target's members can be joined, before any of them is opened.
pub(crate) fn check(spec: &TargetSpec) -> Result<(), Problem> {
    match spec {
        TargetSpec::Repeat { count, .. } => Err(Problem::NotJoined { count: *count as usize }),
        TargetSpec::Path(_) | TargetSpec::Model(_) | TargetSpec::Array(_) => Ok(()),
    }
}

/// Size of each member's test file for an array of the requested size.
pub(crate) fn member_file_bytes(spec: &TargetSpec, test_file_bytes: u64) -> u64 {
    match spec {
        TargetSpec::Array(array) => {
            test_file_bytes.div_ceil(columns(array)).next_multiple_of(array.chunk_bytes)
        }
        _ => test_file_bytes,
    }
}

/// Capacity of an array with members of at least `member_bytes`.
pub(crate) fn area_bytes(array: &ArraySpec, member_bytes: u64) -> u64 {
    let chunks = member_bytes.checked_div(array.chunk_bytes).unwrap_or(0);
    columns(array).saturating_mul(chunks).saturating_mul(array.chunk_bytes)
}

/// Number of members with different contents.
fn columns(array: &ArraySpec) -> u64 {
    let members = array.members_count();
    match array.level {
        ArrayLevel::Raid0 => members.max(1),
        ArrayLevel::Raid10 => (members / 2).max(1),
    }
}

/// Request slots of the members' world for `slots` requests to the array. One request may have a
/// part for each member.
pub(crate) fn member_slots(array: &ArraySpec, slots: u32) -> u32 {
    slots.saturating_mul(u32::try_from(array.members_count()).unwrap_or(u32::MAX))
}

/// Joins the members, which are devices of the world inside `arrays`. The array's capacity is its
/// area.
pub(crate) fn join(array: &ArraySpec, arrays: &mut Arrays, members: &[Device]) -> Result<Device, Problem> {
    let ids: Vec<DeviceId> = members.iter().map(|member| member.id).collect();
    let joined = match array.level {
        ArrayLevel::Raid0 => arrays.raid0(&ids, array.chunk_bytes),
        ArrayLevel::Raid10 => arrays.raid10(&ids, array.chunk_bytes),
    };
    joined.map_err(|source| Problem::Array { source })
}
