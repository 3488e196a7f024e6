use nandle_profile::experiments::SyncRead;

use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis, distinct};
use crate::text::{self, Quantity};

/// Bandwidth of blocking and asynchronous reads by block size, for each number outstanding.
pub(super) fn plot(device: &Device) -> Option<Figure> {
    let reads = &device.profile.experiments.sync_reads.as_ref()?.findings.reads;
    let view = |outstanding: u32| {
        let of = || reads.iter().filter(move |read| read.outstanding == outstanding);
        let at = |read: &SyncRead| read.block_bytes as f64;
        let blocking = of().filter_map(|read| Some(Point::new(at(read), read.sync_bytes_per_s.as_ref()?)));
        let asynchronous = of().map(|read| Point::new(at(read), &read.async_bytes_per_s));
        View {
            name: outstanding.to_string(),
            curves: vec![
                Curve::joined("blocking threads", Look::Kind(0), blocking.collect()),
                Curve::joined("one asynchronous thread", Look::Kind(1), asynchronous.collect()),
            ],
        }
    };
    let counts = distinct(reads.iter().map(|read| read.outstanding));
    let axes = (XAxis::BlockSize, YAxis::Bandwidth);
    let views = counts.into_iter().map(view).collect();
    let plot = Plot::joined("sync-reads", "Blocking and asynchronous reads", axes, "Outstanding", views);
    let chosen = plot.views.len().saturating_sub(1);
    let note = "Blocking threads with one read each, compared with one thread that keeps as many \
        reads outstanding."
        .to_owned();
    (!plot.views.is_empty()).then(|| Figure::Plot(Plot { finding: finding(reads), note, chosen, ..plot }))
}

fn finding(reads: &[SyncRead]) -> String {
    let compared = reads.iter().filter_map(|read| Some((read, read.sync_bytes_per_s?)));
    let gain =
        |(read, sync): &(&SyncRead, nandle_profile::Interval<f64>)| read.async_bytes_per_s.value / sync.value;
    let threads_tried = reads.iter().any(|read| read.sync_bytes_per_s.is_some() && read.outstanding > 1);
    if let (true, Some(best)) = (threads_tried, compared.max_by(|a, b| gain(a).total_cmp(&gain(b)))) {
        return format!(
            "Asynchronous reads gain most over blocking ones with {} and {} outstanding: {} times \
            their bandwidth.",
            Quantity::size(best.0.block_bytes),
            best.0.outstanding,
            text::significant(gain(&best), 2)
        );
    }
    blocking_loss(reads).unwrap_or_else(|| "No size was read both ways.".to_owned())
}

/// Loss of a single blocking thread, if no concurrent threads were measured.
fn blocking_loss(reads: &[SyncRead]) -> Option<String> {
    let least = reads.iter().map(|read| read.block_bytes).min()?;
    let of_least = || reads.iter().filter(|read| read.block_bytes == least);
    let blocking = of_least().find_map(|read| read.sync_bytes_per_s.filter(|_| read.outstanding == 1))?;
    let best = of_least().max_by(|a, b| a.async_bytes_per_s.value.total_cmp(&b.async_bytes_per_s.value))?;
    Some(format!(
        "One blocking thread reads {} in {} blocks; with {} outstanding the device reads {} times \
        that.",
        Quantity::bandwidth(blocking.value),
        Quantity::size(least),
        best.outstanding,
        text::significant(best.async_bytes_per_s.value / blocking.value, 2)
    ))
}
