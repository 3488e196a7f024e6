//! Time of the temporary data by cluster size.

use nandle_workloads::{ClusterCell, ClusterRow, Operator, PlaceFile};

use crate::figures::Figure;
use crate::plots::{Curve, Look, Plot, Point, View, XAxis, YAxis};
use crate::text::{self, Quantity};

const CLUSTER: XAxis = XAxis::Size("Cluster, the size of one read");

type Side = fn(&ClusterRow) -> Option<ClusterCell>;
const SIDES: [Side; 2] = [|row| row.from, |row| row.to];

pub(super) fn figures(file: &PlaceFile) -> Vec<Figure> {
    [times(file), fans(file)].into_iter().flatten().collect()
}

fn curves(file: &PlaceFile, value: impl Fn(ClusterCell) -> u64) -> Vec<View> {
    let names = [&file.from, &file.to];
    let curve = |(kind, (side, name)): (usize, (Side, &&String))| {
        let points = file
            .clusters
            .iter()
            .filter_map(|row| Some(Point::bare(row.wanted_cluster_bytes? as f64, value(side(row)?) as f64)));
        Curve::joined(text::clean(name), Look::Kind(kind), points.collect())
    };
    View::single(SIDES.into_iter().zip(&names).enumerate().map(curve).collect())
}

fn times(file: &PlaceFile) -> Option<Figure> {
    let name = match file.operator {
        Operator::Sort => "Merging",
        Operator::Join => "Partitioning and joining",
    };
    let axes = (CLUSTER, YAxis::Time(name));
    let plot =
        Plot::joined("cluster-times", "Time", axes, "", curves(file, |cell| cell.compared_ns(file.operator)));
    let best = |name: &str, cell: Option<ClusterCell>| {
        let cell = cell?;
        let time = text::time_ns(cell.compared_ns(file.operator));
        Some(format!("On {} {} is best: {time}.", text::clean(name), Quantity::size(cell.cluster_bytes)))
    };
    let finding = [best(&file.from, file.best_from()), best(&file.to, file.best_to())];
    let finding = finding.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let note = "Only temporary data: input and output take no time.".to_owned();
    Plot { finding, note, ..plot }.into_figure()
}

fn fans(file: &PlaceFile) -> Option<Figure> {
    let (title, name) = match file.operator {
        Operator::Sort => ("Fan-in", "Greatest number of runs merged at once"),
        Operator::Join => ("Fan-out", "Partitions per side"),
    };
    let axes = (CLUSTER, YAxis::Number(name));
    let plot = Plot::joined("cluster-fans", title, axes, "", curves(file, |cell| cell.fan_in));
    let again = |side: Side| file.clusters.iter().filter_map(side).map(|cell| cell.rewrites).max();
    let (from, to) = (again(|row| row.from)?, again(|row| row.to)?);
    let what = match file.operator {
        Operator::Sort => "merges precede the last one",
        Operator::Join => "pairs of partitions are divided again",
    };
    let finding = format!(
        "Up to {} {what} on {}, up to {} on {}.",
        text::plain(from),
        text::clean(&file.from),
        text::plain(to),
        text::clean(&file.to)
    );
    let note = "The longer clusters are, the fewer fit into memory.".to_owned();
    Plot { finding, note, ..plot }.into_figure()
}
