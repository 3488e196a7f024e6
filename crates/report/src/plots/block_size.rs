use super::curve::thin_out;
use super::each::each;
use super::{Curve, Line, Look, Plot, View, XAxis, YAxis, distinct, fullest};
use crate::device::Device;
use crate::text::{self, Quantity};

/// Bandwidth of random reading over the block size: a curve for each depth of one device, or for each of
/// several devices at one depth.
pub(super) fn plot(devices: &[Device]) -> Plot {
    let (views, finding) = match devices {
        [device] => (one(device), finding_of_one(device)),
        _ => several(devices),
    };
    Plot {
        id: "bandwidth-over-block-size",
        title: "Bandwidth over block size",
        finding,
        note: "Random reading, one block at a time. A larger block costs the reader more bytes for each \
               request; past the knee it no longer buys bandwidth."
            .to_owned(),
        line: Line::Fitted,
        x: XAxis::BlockSize,
        y: YAxis::Bandwidth,
        choice: "Queue depth",
        chosen: fullest(&views),
        views,
    }
}

fn one(device: &Device) -> Vec<View> {
    let depths = depths(std::slice::from_ref(device));
    let look = |index| Look::Step { index, of: depths.len() };
    let curve = |(index, depth): (usize, &u32)| {
        Curve::over_block(device, *depth, format!("depth {depth}"), look(index))
    };
    let mut curves: Vec<_> = depths.iter().enumerate().map(curve).collect();
    thin_out(&mut curves, 8);
    if curves.is_empty() { Vec::new() } else { vec![View { name: "all depths".to_owned(), curves }] }
}

fn several(devices: &[Device]) -> (Vec<View>, String) {
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

const MISSING: &str = "No random reading was measured.";

fn depths(devices: &[Device]) -> Vec<u32> {
    distinct(devices.iter().flat_map(Device::random_reads).map(|measured| measured.cell.queue_depth))
}

fn finding_of_one(device: &Device) -> String {
    let bandwidth = |measured: &&nandle_profile::MeasuredCell| measured.steady_bandwidth_bytes_per_s.value;
    let Some(best) = device.random_reads().max_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b))) else {
        return MISSING.to_owned();
    };
    let (depth, peak) = (best.cell.queue_depth, bandwidth(&best));
    let mut finding = format!(
        "Random reading peaks at {}, with {} blocks at depth {depth}.",
        Quantity::bandwidth(peak),
        Quantity::size(best.cell.block_bytes),
    );
    if let Some(block) = &device.profile.derived.efficient_block_bytes {
        finding += &format!(" From {} blocks on it is within 10 % of its best.", Quantity::size(block.value));
    }
    let curve = Curve::over_block(device, depth, String::new(), Look::Kind(0));
    if let Some(smallest) = curve.measured.first().filter(|point| point.x < best.cell.block_bytes as f64) {
        let share = text::significant(100.0 * smallest.y / peak, 2);
        let block = Quantity::size(super::whole(smallest.x));
        finding += &format!(" {block} blocks get {share} % of the peak at that depth.");
    }
    finding
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
        let words = each(devices, &values, "unknown", |value| Quantity::bandwidth(value).to_string());
        format!("{} blocks get {words}", Quantity::size(block))
    };
    let large = if large > small { format!("; {}", phrase(*large)) } else { String::new() };
    format!("At {}, {}{large}.", view.name, phrase(*small))
}
