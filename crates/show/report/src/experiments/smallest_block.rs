use nandle_profile::OperationKind;
use nandle_profile::experiments::{AlignmentCost, BlockRate};

use crate::device::Device;
use crate::figures::{Bar, Bars, Figure, Group};
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text::{self, Quantity};

/// Requests per second by request size.
pub(super) fn rates(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.smallest_block.as_ref()?.findings;
    let curve = |(index, (operation, name)): (usize, (OperationKind, &str))| {
        let rates = found.rates.iter().filter(|rate| rate.operation == operation);
        let points = rates.map(|rate: &BlockRate| Point::new(rate.block_bytes as f64, &rate.iops)).collect();
        Curve::joined(name, Look::Kind(index), points)
    };
    let both = [(OperationKind::Read, "random reads"), (OperationKind::Write, "random writes")];
    let curves: Vec<_> = both.into_iter().enumerate().map(curve).filter(|curve| !curve.is_empty()).collect();
    let axes = (XAxis::BlockSize, YAxis::Rate("Requests"));
    let plot = Plot::joined("smallest-block", "The smallest block", axes, "", View::single(curves));
    let depth = found.rates.first().map_or(1, |rate| rate.queue_depth);
    let mut text = Vec::new();
    if let Some(flat) = &found.read_flat_to_bytes {
        let smallest = found.rates.iter().map(|rate| rate.block_bytes).min();
        text.push(if smallest == Some(flat.value) {
            format!("Reads larger than {}, the smallest size measured, cost more (5 %).", text::size(flat))
        } else {
            format!("A read of {} costs no more than a smaller one (5 %).", text::size(flat))
        });
    }
    text.push(match &found.read_modify_write_below_bytes {
        Some(step) => {
            format!("Writes below {} cost more: the rest of the block is read first.", text::size(step))
        }
        None if found.rates.iter().any(|rate| rate.operation == OperationKind::Write) => {
            "At no size does a write cost more than a larger one.".to_owned()
        }
        None => "Writes were not measured.".to_owned(),
    });
    let note = format!("At depth {depth}, aligned to the block.");
    (!plot.views.is_empty()).then(|| Figure::Plot(Plot { finding: text.join(" "), note, ..plot }))
}

/// Cost of misaligned requests.
pub(super) fn alignments(device: &Device) -> Option<Figure> {
    let found = &device.profile.experiments.smallest_block.as_ref()?.findings;
    let worst =
        found.alignments.iter().max_by(|a, b| a.relative_cost.value.total_cmp(&b.relative_cost.value))?;
    let finding = if worst.relative_cost.low <= 1.05 {
        "Misaligned requests cost no more than aligned ones.".to_owned()
    } else {
        format!(
            "A {} of {} shifted by {} takes {} times as long as an aligned one.",
            worst.operation,
            Quantity::size(worst.block_bytes),
            Quantity::size(worst.shift_bytes),
            text::factor(&worst.relative_cost)
        )
    };
    let bar = |cost: &AlignmentCost| Bar {
        label: format!(
            "{} of {}, by {}",
            cost.operation,
            Quantity::size(cost.block_bytes),
            Quantity::size(cost.shift_bytes)
        ),
        value: cost.relative_cost.value,
        text: format!("× {}", text::factor(&cost.relative_cost)),
        kind: usize::from(cost.operation != OperationKind::Read),
    };
    Some(Figure::Bars(Bars {
        id: "alignment",
        title: "Alignment",
        finding,
        note: "Random requests with offsets shifted from multiples of their size.".to_owned(),
        quantity: "Time of a request divided by an aligned one, ×".to_owned(),
        groups: Group::single(found.alignments.iter().map(bar).collect()),
    }))
}
