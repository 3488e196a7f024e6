use nandle_profile::GroupPenalty;

use super::per_device::per_device;
use super::{Curve, Line, Look, Plot, Point, View, XAxis, YAxis, distinct, fullest};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Bandwidth by group size, relative to group 1: a curve for each block size of one device, or for
/// each of several devices with one block size.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let keys = keys(devices);
    let views: Vec<_> = keys.iter().map(|key| view(devices, *key)).collect();
    let costliest = devices.iter().filter_map(worst).min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let costliest = costliest.and_then(|worst| keys.iter().position(|key| key.holds(worst)));
    Plot {
        id: "bandwidth-over-group-size",
        title: "Bandwidth over group size",
        finding: finding(devices),
        note: "Random reads of runs: a group of blocks in sequence, then a jump. 100 % is the \
            same block size and depth in groups of 1."
            .to_owned(),
        line: Line::Joined,
        x: XAxis::GroupSize,
        y: YAxis::Share("Bandwidth relative to group 1"),
        marks: Vec::new(),
        choice: if devices.len() == 1 { "Queue depth" } else { "Block size and queue depth" },
        chosen: costliest.unwrap_or_else(|| fullest(&views)),
        views,
    }
}

/// Fixed parameters of a view: the depth, and for several devices the block size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    depth: u32,
    block: Option<u64>,
}

impl Key {
    fn holds(self, penalty: &GroupPenalty) -> bool {
        self.depth == penalty.queue_depth && self.block.is_none_or(|block| block == penalty.block_bytes)
    }
}

fn keys(devices: &[Device]) -> Vec<Key> {
    let block = |penalty: &GroupPenalty| (devices.len() > 1).then_some(penalty.block_bytes);
    let key = |penalty: &GroupPenalty| Key { depth: penalty.queue_depth, block: block(penalty) };
    distinct(devices.iter().flat_map(penalties).map(key))
}

fn penalties<'a>(device: &Device<'a>) -> &'a [GroupPenalty] {
    &device.profile.derived.group_penalty
}

fn view(devices: &[Device], key: Key) -> View {
    let name = format!("depth {}", key.depth);
    match (devices, key.block) {
        ([device], _) => View { name, curves: curves_by_block(device, key.depth) },
        (_, block) => View {
            name: format!("{}, {name}", Quantity::size(block.unwrap_or(0))),
            curves: devices
                .iter()
                .map(|d| curve(d, key.depth, block.unwrap_or(0), d.label(), Look::Kind(d.index)))
                .collect(),
        },
    }
}

fn curves_by_block(device: &Device, depth: u32) -> Vec<Curve> {
    let all = distinct(penalties(device).iter().map(|penalty| penalty.block_bytes));
    let look = |index| Look::Step { index, of: all.len() };
    let curves = all
        .iter()
        .enumerate()
        .map(|(index, block)| curve(device, depth, *block, Quantity::size(*block).to_string(), look(index)));
    curves.filter(|curve| !curve.is_empty()).collect()
}

fn curve(device: &Device, depth: u32, block: u64, label: String, look: Look) -> Curve {
    let own = |penalty: &&GroupPenalty| penalty.queue_depth == depth && penalty.block_bytes == block;
    let point = |penalty: &GroupPenalty| Point::new(penalty.group_blocks as f64, &penalty.ratio);
    let measured: Vec<_> = penalties(device).iter().filter(own).map(point).collect();
    // Group 1 has ratio 1 by definition, so the line starts there without a measurement.
    let fitted = if measured.is_empty() { Vec::new() } else { vec![(1.0, 1.0)] };
    Curve::new(label, look, measured, fitted)
}

/// Greatest penalty beyond the noise.
fn worst<'a>(device: &Device<'a>) -> Option<&'a GroupPenalty> {
    let sure = penalties(device).iter().filter(|penalty| penalty.ratio.high < 1.0);
    sure.min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))
}

fn finding(devices: &[Device]) -> String {
    let known = |device: &Device| !penalties(device).is_empty();
    match devices {
        [device] if known(device) => worst(device)
            .map_or_else(|| "No group size has a cost beyond the noise.".to_owned(), finding_of_one),
        _ if !devices.iter().any(known) => "The cost of reading in groups was not determined.".to_owned(),
        _ => {
            let loss = |device: &Device| known(device).then(|| worst(device).map_or(0.0, lost_percent));
            let losses: Vec<_> = devices.iter().map(loss).collect();
            let say = |loss: f64| if loss > 0.0 { percent(loss) } else { "none".to_owned() };
            format!(
                "The greatest loss compared with group 1 is {}.",
                per_device(devices, &losses, "unknown", say)
            )
        }
    }
}

fn finding_of_one(worst: &GroupPenalty) -> String {
    format!(
        "The greatest cost: {} blocks in groups of {} at depth {} lose {} of the bandwidth of \
        group 1 ({}–{}).",
        Quantity::size(worst.block_bytes),
        worst.group_blocks,
        worst.queue_depth,
        percent(lost_percent(worst)),
        text::significant(100.0 * (1.0 - worst.ratio.high), 2),
        text::significant(100.0 * (1.0 - worst.ratio.low), 2),
    )
}

fn lost_percent(penalty: &GroupPenalty) -> f64 {
    100.0 * (1.0 - penalty.ratio.value)
}

fn percent(value: f64) -> String {
    format!("{} %", text::significant(value, 2))
}

#[cfg(test)]
mod tests {
    use nandle_profile::{DeviceProfile, Interval};

    use super::*;
    use crate::made_up;

    fn with_ratio(ratio: Interval<f64>) -> DeviceProfile {
        let mut profile = made_up::partial();
        let penalty = GroupPenalty { block_bytes: 32 << 10, queue_depth: 4, group_blocks: 4, ratio };
        profile.derived.group_penalty = vec![penalty];
        profile
    }

    #[test]
    fn loss_is_reported_only_beyond_the_noise() {
        let sure = with_ratio(Interval { value: 0.69, low: 0.65, high: 0.73 });
        let unsure = with_ratio(Interval { value: 0.95, low: 0.88, high: 1.02 });
        let of = |profile: &DeviceProfile| finding(&Device::all(std::slice::from_ref(profile)));
        assert_eq!(
            of(&sure),
            "The greatest cost: 32KiB blocks in groups of 4 at depth 4 lose 31 % of the bandwidth of group 1 (27–35)."
        );
        assert_eq!(of(&unsure), "No group size has a cost beyond the noise.");
        assert_eq!(of(&made_up::partial()), "The cost of reading in groups was not determined.");
        let mut all = Vec::from([sure]);
        all.extend([unsure]);
        all.extend([made_up::partial()]);
        assert_eq!(
            finding(&Device::all(&all)),
            "The greatest loss compared with group 1 is 31 % on A, none on B and unknown on C."
        );
    }
}
