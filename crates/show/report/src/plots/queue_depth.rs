use nandle_profile::DepthForBlock;

use super::curve::thin_out;
use super::per_device::per_device;
use super::{Curve, Line, Look, Plot, View, XAxis, YAxis, distinct};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Bandwidth of random reads by queue depth: a curve for each block size of one device, or for each
/// of several devices with one block size.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let (views, finding) = match devices {
        [device] => (single_device(device), finding_of_one(device)),
        _ => several_devices(devices),
    };
    Plot {
        id: "bandwidth-over-queue-depth",
        title: "Bandwidth over queue depth",
        finding,
        note: "Random reads of single blocks. A deeper queue needs more concurrency in the \
            database; past the knee it only adds waiting time."
            .to_owned(),
        line: Line::Fitted,
        x: XAxis::QueueDepth,
        y: YAxis::Bandwidth,
        marks: Vec::new(),
        choice: "Block size",
        chosen: 0,
        views,
    }
}

fn single_device(device: &Device) -> Vec<View> {
    let blocks = blocks(std::slice::from_ref(device));
    let look = |index| Look::Step { index, of: blocks.len() };
    let curve = |(index, block): (usize, &u64)| {
        Curve::over_depth(device, *block, Quantity::size(*block).to_string(), look(index))
    };
    let mut curves: Vec<_> = blocks.iter().enumerate().map(curve).collect();
    thin_out(&mut curves, 8);
    if curves.is_empty() { Vec::new() } else { vec![View { name: "all block sizes".to_owned(), curves }] }
}

fn several_devices(devices: &[Device]) -> (Vec<View>, String) {
    let view = |block: &u64| View {
        name: Quantity::size(*block).to_string(),
        curves: devices
            .iter()
            .map(|device| Curve::over_depth(device, *block, device.label(), Look::Kind(device.index)))
            .collect(),
    };
    let views: Vec<_> = blocks(devices).iter().map(view).collect();
    let finding = views.first().map_or_else(|| MISSING.to_owned(), |view| finding_of_several(devices, view));
    (views, finding)
}

const MISSING: &str = "No random reads were measured.";

fn blocks(devices: &[Device]) -> Vec<u64> {
    distinct(devices.iter().flat_map(Device::random_reads).map(|measured| measured.cell.block_bytes))
}

fn finding_of_one(device: &Device) -> String {
    let knees = &device.profile.derived.saturating_queue_depth;
    let least = knees.iter().min_by_key(|knee| knee.block_bytes);
    let greatest = knees.iter().max_by_key(|knee| knee.block_bytes);
    match (least, greatest) {
        (Some(least), Some(greatest)) if least.block_bytes < greatest.block_bytes => {
            format!("{} {}", knee(least), knee(greatest))
        }
        (Some(only), _) => knee(only),
        _ if device.random_reads().next().is_none() => MISSING.to_owned(),
        _ => "The saturating depth could not be determined from these cells.".to_owned(),
    }
}

fn knee(knee: &DepthForBlock) -> String {
    let (block, depth) = (Quantity::size(knee.block_bytes), knee.queue_depth);
    let plateau = text::bandwidth(&knee.plateau_bytes_per_s);
    if knee.plateau_reached {
        format!(
            "{block} blocks are within 10 % of their plateau, {plateau}, from depth {} on.",
            text::depth(&depth)
        )
    } else {
        format!(
            "{block} blocks still gained bandwidth at the greatest measured depth, so depth {} is \
            a lower bound.",
            depth.value
        )
    }
}

fn finding_of_several(devices: &[Device], view: &View) -> String {
    let peak = |curve: &Curve| curve.line.iter().map(|(_, y)| *y).reduce(f64::max);
    let at_one = |curve: &Curve| curve.at(1.0);
    let bandwidth = |value| Quantity::bandwidth(value).to_string();
    let peaks: Vec<_> = view.curves.iter().map(peak).collect();
    let ones: Vec<_> = view.curves.iter().map(at_one).collect();
    let best = format!(
        "With {} blocks the best bandwidth is {}",
        view.name,
        per_device(devices, &peaks, "unknown", bandwidth)
    );
    if ones.iter().any(Option::is_some) {
        format!("{best}; at depth 1 it is {}.", per_device(devices, &ones, "unknown", bandwidth))
    } else {
        best + "."
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;
    use crate::made_up;

    #[test]
    fn knee_without_a_plateau_is_a_lower_bound() {
        let mut of = DepthForBlock {
            block_bytes: 4096,
            queue_depth: Interval { value: 64, low: 32, high: 128 },
            plateau_bytes_per_s: Interval::exact(1e9),
            plateau_reached: true,
        };
        let text = knee(&of).replace('\u{a0}', " ");
        assert_eq!(
            text,
            "4KiB blocks are within 10 % of their plateau, 1.00 GB/s, from depth 64 (32–128) on."
        );
        of.plateau_reached = false;
        assert!(knee(&of).ends_with("so depth 64 is a lower bound."));
    }

    #[test]
    fn devices_are_compared_at_their_best_and_at_depth_1() {
        let fast = made_up::with_random_reads(&[(4096, 1, 50e6), (4096, 64, 2e9)]);
        let slow = made_up::with_random_reads(&[(4096, 1, 9e6), (4096, 64, 1e8)]);
        assert_eq!(
            plot(&Device::all(&[fast, slow])).finding.replace('\u{a0}', " "),
            "With 4KiB blocks the best bandwidth is 2.00 GB/s on A and 100 MB/s on B; at depth 1 it is 50.0 MB/s on \
             A and 9.00 MB/s on B."
        );
    }
}
