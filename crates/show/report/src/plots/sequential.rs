use nandle_profile::{Derived, is_near_full};

use super::{Curve, Line, Look, Plot, Point, View, XAxis, YAxis, distinct, fullest, whole};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Random and sequential bandwidth by block size: both bandwidths of one device, or their ratio on
/// each of several devices.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let single = devices.len() == 1;
    let by_depth = depths(devices).into_iter().filter_map(|depth| Some((depth, view(devices, depth)?)));
    let (depths, views): (Vec<_>, Vec<_>) = by_depth.unzip();
    let chosen = fullest(&views);
    Plot {
        id: "random-against-sequential",
        title: "Random and sequential reads",
        finding: depths.get(chosen).map_or_else(|| MISSING.to_owned(), |depth| finding(devices, *depth)),
        note: if single {
            "Where the two curves meet, sequential order gains nothing: an index scan costs no \
            more per byte than a full scan."
                .to_owned()
        } else {
            "Random bandwidth divided by sequential bandwidth of the same device. The whiskers \
            combine the worst of both intervals, so they are wider than 95 %."
                .to_owned()
        },
        line: if single { Line::Fitted } else { Line::Joined },
        x: XAxis::BlockSize,
        y: if single {
            YAxis::Bandwidth
        } else {
            YAxis::Share(
                "Random bandwidth divided by \
            sequential",
            )
        },
        marks: Vec::new(),
        choice: "Queue depth",
        chosen,
        views,
    }
}

const MISSING: &str = "Random and sequential reads were not both measured at any depth.";

fn depths(devices: &[Device]) -> Vec<u32> {
    distinct(devices.iter().flat_map(|d| d.reads("sequential")).map(|measured| measured.cell.queue_depth))
}

fn view(devices: &[Device], depth: u32) -> Option<View> {
    let curves: Vec<_> = match devices {
        [device] => vec![
            Curve::over_block(device, depth, "random".to_owned(), Look::Kind(0)),
            Curve::sequential(device, depth, "sequential".to_owned(), Look::Kind(1)),
        ],
        _ => devices.iter().map(|device| ratio(device, depth)).collect(),
    };
    let drawn = curves.iter().filter(|curve| !curve.is_empty()).count();
    let enough = drawn >= if devices.len() == 1 { 2 } else { 1 };
    enough.then(|| View { name: format!("depth {depth}"), curves })
}

/// Ratio of random to sequential bandwidth at the block sizes with both measurements.
fn ratio(device: &Device, depth: u32) -> Curve {
    let look = Look::Kind(device.index);
    let random = Curve::over_block(device, depth, String::new(), look);
    let sequential = Curve::sequential(device, depth, String::new(), look);
    let pair = |random: &Point| Some(divided(random, sequential.measured_at(random.x)?));
    Curve::new(device.label(), look, random.measured.iter().filter_map(pair).collect(), Vec::new())
}

fn divided(random: &Point, sequential: &Point) -> Point {
    let bounds = random.bounds.zip(sequential.bounds);
    Point {
        x: random.x,
        y: random.y / sequential.y,
        bounds: bounds.map(|(random, sequential)| (random.0 / sequential.1, random.1 / sequential.0)),
    }
}

fn finding(devices: &[Device], depth: u32) -> String {
    let ratios: Vec<_> = devices.iter().map(|device| ratio(device, depth)).collect();
    if let ([device], [ratio]) = (devices, ratios.as_slice()) {
        return finding_of_one(depth, ratio) + &near_full_too(&device.profile.derived, depth);
    }
    let range = |ratio: &Curve| match equal_blocks(ratio) {
        _ if ratio.is_empty() => "unknown".to_owned(),
        None => "none of the measured ones".to_owned(),
        Some(blocks) => blocks.to_string(),
    };
    let of_each: Vec<_> = devices
        .iter()
        .zip(&ratios)
        .map(|(device, ratio)| format!("{} on {}", range(ratio), device.letter()))
        .collect();
    format!(
        "At depth {depth}, the block sizes at which random reads are within 10 % of sequential \
        reads are {}.",
        text::join(&of_each),
    )
}

fn finding_of_one(depth: u32, ratio: &Curve) -> String {
    let Some(first) = ratio.measured.first() else {
        return format!("At depth {depth}, no block size was measured both at random and in sequence.");
    };
    let smallest = Quantity::size(whole(first.x));
    let share = text::significant(100.0 * first.y, 2);
    match equal_blocks(ratio) {
        Some(Blocks { from, to: None }) if from <= first.x => format!(
            "At depth {depth}, random reads are within 10 % of sequential reads, or faster, at \
            every block size from {smallest} on."
        ),
        Some(blocks) => format!(
            "At depth {depth}, random reads are within 10 % of sequential reads with blocks of \
            {blocks}; with {smallest} blocks they reach {share} %."
        ),
        None => format!(
            "At depth {depth}, random reads stay more than 10 % below sequential reads at every \
            measured block size; with {smallest} blocks they reach {share} %."
        ),
    }
}

/// Part of the range that the key figures cover. They require near-full bandwidth as well as
/// equality.
fn near_full_too(derived: &Derived, depth: u32) -> String {
    let regions = derived.random_equals_sequential.iter();
    let held = regions.filter(|region| region.group_blocks == 1 && region.queue_depth_min <= depth);
    let blocks: Vec<u64> = held.map(|region| region.block_bytes).collect();
    if blocks.is_empty() {
        return String::new();
    }
    let runs = text::block_runs(blocks);
    format!(
        " At this depth and deeper, both are also near the device’s best bandwidth with blocks of \
        {runs}."
    )
}

/// Range of block sizes up to another size or to the largest measured one.
#[derive(Debug, PartialEq)]
struct Blocks {
    from: f64,
    to: Option<f64>,
}

impl std::fmt::Display for Blocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let from = Quantity::size(whole(self.from));
        match self.to {
            None => write!(f, "{from} and more"),
            Some(to) if to <= self.from => write!(f, "{from}"),
            Some(to) => write!(f, "{from} to {}", Quantity::size(whole(to))),
        }
    }
}

/// Longest run of measured blocks with a ratio near 1; of equally long runs the one with larger
/// blocks.
fn equal_blocks(ratio: &Curve) -> Option<Blocks> {
    let runs = ratio.measured.split(|point| !is_near_full(point.y, 1.0)).filter(|run| !run.is_empty());
    let run = runs.max_by_key(|run| run.len())?;
    let (from, to) = (run.first()?.x, run.last()?.x);
    let largest = ratio.measured.last()?.x;
    Some(Blocks { from, to: (to < largest).then_some(to) })
}

#[cfg(test)]
mod tests {
    use nandle_profile::{DeviceProfile, EqualRegion, Interval};

    use super::*;
    use crate::made_up;

    fn ratios(values: &[f64]) -> Curve {
        let point =
            |(index, y): (usize, &f64)| Point { x: f64::from(1 << (12 + index)), y: *y, bounds: None };
        Curve::new(String::new(), Look::Kind(0), values.iter().enumerate().map(point).collect(), Vec::new())
    }

    #[test]
    fn equal_blocks_are_the_longest_run() {
        let blocks = |from, to| Some(Blocks { from, to });
        assert_eq!(equal_blocks(&ratios(&[0.5, 0.95, 0.8, 0.92, 1.0])), blocks(32_768.0, None));
        assert_eq!(equal_blocks(&ratios(&[0.95, 1.2])), blocks(4096.0, None));
        assert_eq!(equal_blocks(&ratios(&[0.5, 0.95, 0.92, 0.4])), blocks(8192.0, Some(16_384.0)));
        assert_eq!(equal_blocks(&ratios(&[0.5, 0.4])), None);
        assert_eq!(equal_blocks(&ratios(&[])), None);
        assert_eq!(Blocks { from: 8192.0, to: Some(16_384.0) }.to_string(), "8KiB to 16KiB");
    }

    #[test]
    fn unmeasured_differs_from_not_met() {
        let read = |pattern: &str, bandwidth| made_up::cell(pattern, 4096, 4, bandwidth);
        let of = |cells| DeviceProfile { cells, ..made_up::partial() };
        let equal = of(vec![read("random", 1e9), read("sequential", 1e9)]);
        let below = of(vec![read("random", 1e9), read("sequential", 2e9)]);
        let mut all = Vec::from([equal]);
        all.extend([below]);
        all.extend([made_up::partial()]);
        assert_eq!(
            plot(&Device::all(&all)).finding,
            "At depth 4, the block sizes at which random reads are within 10 % of sequential reads are 4KiB and more on \
             A, none of the measured ones on B and unknown on C."
        );
    }

    #[test]
    fn finding_agrees_with_the_blocks_of_the_key_figures() {
        let region = |block_bytes, queue_depth_min| EqualRegion {
            block_bytes,
            group_blocks: 1,
            queue_depth_min,
            ratio: Interval::exact(1.0),
        };
        let random_equals_sequential = vec![region(2 << 20, 4), region(4 << 20, 4), region(1 << 20, 32)];
        let derived = Derived { random_equals_sequential, ..Derived::default() };
        assert!(near_full_too(&derived, 4).ends_with("with blocks of 2MiB to 4MiB."));
        assert!(near_full_too(&derived, 32).ends_with("with blocks of 1MiB to 4MiB."));
        assert_eq!(near_full_too(&derived, 1), "");
    }

    #[test]
    fn finding_names_the_block_where_both_meet() {
        let curve = ratios(&[0.5, 0.95]);
        assert_eq!(
            finding_of_one(4, &curve),
            "At depth 4, random reads are within 10 % of sequential reads with blocks of 8KiB and more; \
             with 4KiB blocks they reach 50 %."
        );
        let never = ratios(&[0.5, 0.6]);
        assert!(finding_of_one(4, &never).contains("stay more than 10 % below"));
        let falls = ratios(&[0.5, 0.95, 0.6]);
        assert!(finding_of_one(4, &falls).contains("with blocks of 8KiB; with 4KiB"));
        let always = ratios(&[1.1, 1.0]);
        assert!(finding_of_one(4, &always).contains("at every block size from 4KiB on"));
    }
}
