use nandle_units::format_bytes;

use super::Figures;
use super::words::{bounded, number};
use crate::settings::{Confidence, Figure};

/// Striped array behind the device.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    /// Bytes on one member before the next member follows.
    pub(crate) chunk_bytes: u64,
    /// Members with distinct data.
    pub(crate) members: u32,
    /// Rate of reads from a single member divided by the rate of reads from all members.
    pub(crate) one_member: Figure,
    is_of_drives: bool,
}

impl Array {
    /// Bytes of one stripe across all members.
    pub(crate) fn stripe_bytes(&self) -> u64 {
        self.chunk_bytes * u64::from(self.members)
    }

    /// Returns true if the members are drives: the kernel reports a stripe, or the device is
    /// rotational. The channels of a flash drive look like members, too.
    pub(crate) fn is_of_drives(&self) -> bool {
        self.is_of_drives
    }

    /// Returns true if reads from a single member are slower at the upper bound, too.
    pub(crate) fn is_sure(&self) -> bool {
        self.one_member.value.high < 1.0
    }
}

impl Figures<'_> {
    /// Array that the latencies show; `None` if reads from a single member aren't slower.
    pub(crate) fn array(&self) -> Option<Array> {
        let found = &self.profile.experiments.array_layout.as_ref()?.findings;
        let (chunk_bytes, members) = (found.chunk_bytes?, found.members?);
        let share = found.one_member_share.filter(|_| chunk_bytes > 0 && members > 1)?;
        let says = format!(
            "addresses are striped over {members} members in chunks of {}: reads from one member \
            give {} of the rate of reads from all",
            format_bytes(chunk_bytes),
            bounded(&share, number)
        );
        let figure = Figure::new("one_member_by_all_reads_ratio", share, says);
        let array = Array { chunk_bytes, members, one_member: figure, is_of_drives: false };
        let stated = self.queue().ok().and_then(|queue| queue.optimal_io_bytes);
        let unsure = if array.is_sure() {
            "the channels of a single drive look the same"
        } else {
            "reads from one member may be no slower than reads from all"
        };
        // The kernel reports stripes of drives only, not of channels.
        let is_array = array.is_sure() && stated.is_some_and(|bytes| bytes > chunk_bytes);
        let array = Array { is_of_drives: array.is_sure() && (is_array || self.is_rotational()), ..array };
        let one_member = array.one_member.clone();
        Some(if is_array {
            array
        } else {
            Array { one_member: one_member.no_surer_than(Confidence::Low, unsure), ..array }
        })
    }
}
