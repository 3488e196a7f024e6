use nandle_profile::experiments::{ReadAhead, StreamCost};

use crate::device::Device;
use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text::{self, Quantity};

fn findings<'a>(device: &Device<'a>) -> Option<&'a ReadAhead> {
    device.profile.experiments.read_ahead.as_ref().map(|conducted| &conducted.findings)
}

/// Least gain of a stream that counts as a gain, as in the probe.
const GAIN_UNSEEN: f64 = 1.2;

/// Gain of several sequential streams over random reads.
pub(super) fn streams(device: &Device) -> Option<Figure> {
    let found = findings(device)?;
    let point = |cost: &StreamCost| Point::new(f64::from(cost.streams), &cost.gain);
    let curve =
        Curve::joined("alternating streams", Look::Kind(0), found.streams.iter().map(point).collect());
    let axes = (
        XAxis::Count("Sequential streams"),
        YAxis::Factor(
            "Reads per second divided by \
        random reads",
        ),
    );
    let plot = Plot::joined("read-streams", "Streams of reads", axes, "", View::single(vec![curve]));
    let one = found.streams.iter().find(|cost| cost.streams == 1);
    let finding = match (&found.stream_count_max, one) {
        (Some(most), _) if most.high <= 1 => "A single sequential stream gains from the device’s \
            read-ahead."
            .to_owned(),
        (Some(most), _) => format!(
            "Concurrent sequential streams that gain from the device’s read-ahead: up to {}.",
            text::depth(most)
        ),
        (None, Some(one)) if one.gain.high <= GAIN_UNSEEN => {
            "Sequential reads at depth 1 are no faster than random reads: the device doesn’t read \
            ahead."
                .to_owned()
        }
        _ => "The number of sequential streams that gain from read-ahead is unclear: their speed \
            varied too much."
            .to_owned(),
    };
    let note =
        format!("Reads of {} at depth 1, from each stream in turn.", Quantity::size(found.block_bytes));
    Plot { finding, note, ..plot }.into_figure()
}

/// Latency by position within a run of reads; `None` without read-ahead.
pub(super) fn positions(device: &Device) -> Option<Figure> {
    let found = findings(device)?;
    let after = found.detected_after_requests?;
    let points = (1_u32..).zip(&found.latency_by_position_ns);
    let points = points.map(|(position, ns)| Point::bare(f64::from(position), *ns as f64)).collect();
    let curve = Curve::joined("median", Look::Kind(0), points);
    let axes = (XAxis::Count("Position in a sequential run"), YAxis::Latency);
    let plot = Plot::joined("read-ahead", "Read-ahead", axes, "", View::single(vec![curve]));
    let finding =
        format!("The device reads ahead after {} in a row.", text::plural(u64::from(after), "request"));
    let note = format!("Reads of {} at depth 1.", Quantity::size(found.block_bytes));
    Plot { finding, note, ..plot }.into_figure()
}
