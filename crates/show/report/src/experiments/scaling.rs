use nandle_profile::experiments::ScalingCell;

use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, distinct};
use crate::text::{self, Quantity};

/// Reads per second by number of submitting threads.
pub(super) fn plot(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.scaling.as_ref()?.findings;
    let depths = distinct(found.cells.iter().map(|cell| cell.queue_depth_per_thread));
    let curve = |(index, depth): (usize, &u32)| {
        let cells = found.cells.iter().filter(|cell| cell.queue_depth_per_thread == *depth);
        let points =
            cells.map(|cell: &ScalingCell| Point::new(f64::from(cell.threads), &cell.iops)).collect();
        Curve::joined(format!("depth {depth} each"), Look::Kind(index), points)
    };
    let curves = depths.iter().enumerate().map(curve).collect();
    let axes = (XAxis::Count("Submitting threads"), YAxis::Rate("Reads of all threads"));
    let plot = Plot::joined("scaling", "More threads", axes, "", View::single(curves));
    let rate = |cell: &&ScalingCell| cell.iops.value;
    let best = found.cells.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
    let one = found.cells.iter().filter(|cell| cell.threads == 1).max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let finding = match one {
        Some(one) if best.iops.low > one.iops.high => format!(
            "{} read {} times as fast as one at its best.",
            text::plural(u64::from(best.threads), "thread"),
            text::significant(best.iops.value / one.iops.value, 2)
        ),
        _ => "One submitting thread is enough: more are no faster.".to_owned(),
    };
    let note =
        format!("Random reads of {}; each thread has its own queue.", Quantity::size(found.block_bytes));
    Plot { finding, note, ..plot }.into_figure()
}
