use nandle_profile::{MeasuredCell, is_near_full};

use super::curve::thin_out;
use super::per_device::per_device;
use super::{Curve, Line, Look, Plot, View, XAxis, YAxis, distinct, fullest};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Bandwidth of random reads by block size: a curve for each depth of one device, or for each of
/// several devices at one depth.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let (views, finding) = match devices {
        [device] => (single_device(device), finding_of_one(device)),
        _ => several_devices(devices),
    };
    Plot {
        id: "bandwidth-over-block-size",
        title: "Bandwidth over block size",
        finding,
        note: "Random reads of single blocks. A larger block costs more bytes per request; past \
            the knee it gains no bandwidth."
            .to_owned(),
        line: Line::Fitted,
        x: XAxis::BlockSize,
        y: YAxis::Bandwidth,
        marks: Vec::new(),
        choice: "Queue depth",
        chosen: fullest(&views),
        views,
    }
}

fn single_device(device: &Device) -> Vec<View> {
    let depths = depths(std::slice::from_ref(device));
    let look = |index| Look::Step { index, of: depths.len() };
    let curve = |(index, depth): (usize, &u32)| {
        Curve::over_block(device, *depth, format!("depth {depth}"), look(index))
    };
    let mut curves: Vec<_> = depths.iter().enumerate().map(curve).collect();
    thin_out(&mut curves, 8);
    if curves.is_empty() { Vec::new() } else { vec![View { name: "all depths".to_owned(), curves }] }
}

fn several_devices(devices: &[Device]) -> (Vec<View>, String) {
    let view = |depth: &u32| View {
        name: format!("depth {depth}"),
        curves: devices
            .iter()
            .map(|device| Curve::over_block(device, *depth, device.label(), Look::Kind(device.index)))
            .collect(),
    };
    let views: Vec<_> = depths(devices).iter().map(view).collect();
    let finding = views.get(fullest(&views)).map(|view| finding_of_several(devices, view));
    (views, finding.unwrap_or_else(|| MISSING.to_owned()))
}

const MISSING: &str = "No random reads were measured.";

fn depths(devices: &[Device]) -> Vec<u32> {
    distinct(devices.iter().flat_map(Device::random_reads).map(|measured| measured.cell.queue_depth))
}

fn finding_of_one(device: &Device) -> String {
    let bandwidth = |measured: &&MeasuredCell| measured.steady_bandwidth_bytes_per_s.value;
    let Some(best) = device.random_reads().max_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b))) else {
        return MISSING.to_owned();
    };
    let peak = peak(device, best);
    let efficient = device.profile.derived.efficient_block_bytes.as_ref();
    let near = efficient.map(|block| {
        format!("{} is the smallest block within 10 % of its best.", Quantity::size(block.value))
    });
    let curve = Curve::over_block(device, best.cell.queue_depth, String::new(), Look::Kind(0));
    let ends = [curve.line.first(), curve.line.last()].into_iter().flatten();
    let ends = ends.filter_map(|end| beside_the_peak(*end, bandwidth(&best)));
    [Some(peak), near].into_iter().flatten().chain(ends).collect::<Vec<_>>().join(" ")
}

/// Explains a peak above the best plateau, which is the bandwidth on the page. The greatest of many
/// noisy points exceeds the plateau by chance.
fn peak(device: &Device, best: &MeasuredCell) -> String {
    let point = Quantity::bandwidth(best.steady_bandwidth_bytes_per_s.value);
    let (block, depth) = (Quantity::size(best.cell.block_bytes), best.cell.queue_depth);
    let plateau = device.profile.derived.random_bandwidth_bytes_per_s_max;
    match plateau.filter(|plateau| Quantity::bandwidth(plateau.value) != point) {
        None => format!("Random reads peak at {point}, with {block} blocks at depth {depth}."),
        Some(plateau) => format!(
            "Random reads reach {}; the highest point here, {point} with {block} blocks at depth \
            {depth}, differs by the scatter of single points.",
            Quantity::bandwidth(plateau.value)
        ),
    }
}

/// Bandwidth at an end of the curve, if it is below the peak.
fn beside_the_peak((block, bandwidth): (f64, f64), peak: f64) -> Option<String> {
    let share = text::significant(100.0 * bandwidth / peak, 2);
    let short = !is_near_full(bandwidth, peak);
    short.then(|| {
        format!("At that depth {} blocks reach {share} % of the peak.", Quantity::size(super::whole(block)))
    })
}

fn finding_of_several(devices: &[Device], view: &View) -> String {
    let known = |x: &u64| view.curves.iter().filter(|curve| curve.at(*x as f64).is_some()).count() > 1;
    let all = view.curves.iter().flat_map(|curve| &curve.line).map(|(x, _)| super::whole(*x));
    let sizes: Vec<_> = distinct(all).into_iter().filter(known).collect();
    let (Some(small), Some(large)) = (sizes.first(), sizes.last()) else {
        return format!("At {}, no block size was measured on two of the devices.", view.name);
    };
    let phrase = |block: u64| {
        let values: Vec<_> = view.curves.iter().map(|curve| curve.at(block as f64)).collect();
        let words = per_device(devices, &values, "unknown", |value| Quantity::bandwidth(value).to_string());
        format!("{} blocks reach {words}", Quantity::size(block))
    };
    let large = if large > small { format!("; {}", phrase(*large)) } else { String::new() };
    format!("At {}, {}{large}.", view.name, phrase(*small))
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;
    use crate::made_up;

    const CELLS: [(u64, u32, f64); 4] =
        [(4096, 1, 50e6), (4096, 32, 400e6), (65_536, 32, 1e9), (4 << 20, 32, 830e6)];

    fn finding(profiles: &[nandle_profile::DeviceProfile]) -> String {
        plot(&Device::all(profiles)).finding.replace('\u{a0}', " ")
    }

    #[test]
    fn finding_names_the_peak_and_both_lower_ends() {
        let mut profile = made_up::with_random_reads(&CELLS);
        profile.derived.efficient_block_bytes = Some(Interval::exact(65_536));
        assert_eq!(
            finding(&[profile]),
            "Random reads peak at 1.00 GB/s, with 64KiB blocks at depth 32. 64KiB is the smallest block \
             within 10 % of its best. At that depth 4KiB blocks reach 40 % of the peak. At that depth 4MiB \
             blocks reach 83 % of the peak."
        );
    }

    #[test]
    fn peak_above_the_best_plateau_is_explained() {
        let mut profile = made_up::with_random_reads(&CELLS);
        profile.derived.random_bandwidth_bytes_per_s_max =
            Some(Interval { value: 9.9e8, low: 9e8, high: 1.1e9 });
        let text = finding(&[profile]);
        assert!(
            text.starts_with(
                "Random reads reach 990 MB/s; the highest point here, 1.00 GB/s with 64KiB blocks"
            ),
            "{text}"
        );
    }

    #[test]
    fn devices_are_compared_at_shared_ends() {
        let slow: Vec<_> = CELLS.iter().map(|(block, depth, b)| (*block, *depth, b / 4.0)).collect();
        let profiles = [&CELLS[..], &slow[..3], &[]].map(made_up::with_random_reads);
        assert_eq!(
            finding(&profiles),
            "At depth 32, 4KiB blocks reach 400 MB/s on A, 100 MB/s on B and unknown on C; 64KiB blocks reach \
             1.00 GB/s on A, 250 MB/s on B and unknown on C."
        );
    }

    #[test]
    fn missing_measurements_are_reported() {
        assert_eq!(finding(&[made_up::partial()]), MISSING);
        assert_eq!(finding(&[made_up::partial(), made_up::partial()]), MISSING);
    }
}
