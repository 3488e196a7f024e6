//! Plots: views, finding and data. The page's script only draws them.

mod block_size;
mod curve;
mod drift;
mod groups;
mod json;
mod latency;
mod per_device;
mod queue_depth;
mod sequential;

pub(crate) use curve::{Curve, Look, Point};
pub(crate) use drift::{DRIFT, is_even};
pub(crate) use per_device::per_device;

use crate::device::Device;
use crate::text::Quantity;

/// Plot with its views. One view is drawn at a time, chosen by the reader.
pub(crate) struct Plot {
    /// Anchor of the plot on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Finding computed from the data.
    pub(crate) finding: String,
    /// Instruction for reading the plot.
    pub(crate) note: String,
    /// Line between the measured points.
    pub(crate) line: Line,
    pub(crate) x: XAxis,
    pub(crate) y: YAxis,
    /// Events on the x axis that the note explains, drawn as dashed vertical lines.
    pub(crate) marks: Vec<f64>,
    /// Name of the parameter that selects a view.
    pub(crate) choice: &'static str,
    /// Index of the view that is drawn first.
    pub(crate) chosen: usize,
    /// Views; empty if nothing was measured, which the finding reports.
    pub(crate) views: Vec<View>,
}

/// Curves that are drawn together.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) curves: Vec<Curve>,
}

/// Line between measured points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// Curve fitted to all cells, plus the residuals of the measured cells.
    Fitted,
    /// Straight lines between neighbours.
    Joined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum XAxis {
    BlockSize,
    QueueDepth,
    GroupSize,
    Elapsed,
    /// Bytes, named by the label; logarithmic.
    Size(&'static str),
    /// Count, named by the label; logarithmic.
    Count(&'static str),
    /// Seconds since an event that the label names.
    Seconds(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YAxis {
    Bandwidth,
    /// Share, named by the label.
    Share(&'static str),
    Latency,
    /// Ratio, named by the label.
    Factor(&'static str),
    /// Events per second, named by the label.
    Rate(&'static str),
    /// Number, named by the label.
    Number(&'static str),
    /// Time, named by the label.
    Time(&'static str),
}

impl XAxis {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::BlockSize => "Block size",
            Self::QueueDepth => "Queue depth, requests",
            Self::GroupSize => "Group size, blocks",
            Self::Elapsed => "Time since the probe began, s",
            Self::Size(label) | Self::Count(label) | Self::Seconds(label) => label,
        }
    }

    pub(crate) fn tick(self, x: f64) -> String {
        match self {
            Self::BlockSize | Self::Size(_) => Quantity::size(whole(x)).to_string(),
            Self::Count(_) if x.fract() > 0.0 => crate::text::significant(x, 3),
            Self::QueueDepth | Self::GroupSize | Self::Count(_) => crate::text::plain(whole(x)).to_string(),
            Self::Elapsed | Self::Seconds(_) => format!("{x:.1}"),
        }
    }

    /// Returns true if positions are seconds on a linear axis.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Self::Elapsed | Self::Seconds(_))
    }
}

impl YAxis {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "Bandwidth",
            Self::Share(name)
            | Self::Factor(name)
            | Self::Rate(name)
            | Self::Number(name)
            | Self::Time(name) => name,
            Self::Latency => "Latency",
        }
    }

    /// Divisor of the values and the resulting unit, if the greatest value is `greatest`.
    pub(crate) fn scale(self, greatest: f64) -> (f64, &'static str) {
        match self {
            Self::Bandwidth if greatest >= 2e9 => (1e9, "GB/s"),
            Self::Bandwidth => (1e6, "MB/s"),
            Self::Share(_) => (0.01, "%"),
            Self::Factor(_) => (1.0, "×"),
            Self::Rate(_) if greatest >= 2e5 => (1e3, "thousand/s"),
            Self::Rate(_) => (1.0, "/s"),
            Self::Number(_) => (1.0, "number"),
            Self::Time(_) if greatest >= 1e9 => (1e9, "s"),
            Self::Time(_) | Self::Latency if greatest >= 5e6 => (1e6, "ms"),
            Self::Time(_) | Self::Latency => (1e3, "µs"),
        }
    }
}

impl Plot {
    /// Plot with lines between measured points. The caller adds finding and note.
    pub(crate) fn joined(
        id: &'static str,
        title: &'static str,
        (x, y): (XAxis, YAxis),
        choice: &'static str,
        views: Vec<View>,
    ) -> Self {
        let views: Vec<_> =
            views.into_iter().filter(|view| view.curves.iter().any(|curve| !curve.is_empty())).collect();
        let (finding, note) = (String::new(), String::new());
        let (line, marks) = (Line::Joined, Vec::new());
        Self { id, title, finding, note, line, x, y, marks, choice, chosen: 0, views }
    }

    /// Greatest value or bound of all views, so that all views share a unit.
    fn greatest(&self) -> f64 {
        let curves = self.views.iter().flat_map(|view| &view.curves);
        curves.flat_map(Curve::values).fold(0.0, f64::max)
    }

    /// Returns true for latencies, and for other quantities if a linear axis would flatten the
    /// small values.
    pub(crate) fn is_logarithmic(&self) -> bool {
        const FLAT: f64 = 16.0;
        match self.y {
            YAxis::Latency => true,
            YAxis::Share(_) | YAxis::Number(_) => false,
            YAxis::Bandwidth | YAxis::Factor(_) | YAxis::Rate(_) | YAxis::Time(_) => {
                let curves = self.views.iter().flat_map(|view| &view.curves);
                let line = curves.flat_map(|curve| &curve.line).map(|(_, y)| *y);
                let least = line.filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
                !self.x.is_time() && self.greatest() > FLAT * least
            }
        }
    }

    pub(crate) fn scale(&self) -> (f64, &'static str) {
        self.y.scale(self.greatest())
    }
}

impl View {
    /// Single view of a plot.
    pub(crate) fn single(curves: Vec<Curve>) -> Vec<Self> {
        vec![Self { name: "all".to_owned(), curves }]
    }
}

/// Plots of reads in reading order.
pub(crate) fn all(devices: &[Device]) -> Vec<Plot> {
    vec![
        block_size::plot(devices),
        queue_depth::plot(devices),
        sequential::plot(devices),
        groups::plot(devices),
        latency::over_depth(devices),
        latency::over_block(devices),
        drift::plot(devices),
    ]
}

/// Index of the view to draw first: the last, which is the deepest, with enough measured points on
/// each drawn curve. Otherwise the view with the most points.
fn fullest(views: &[View]) -> usize {
    const ENOUGH: usize = 3;
    let points = |curve: &Curve| curve.measured.len();
    let key = |view: &View| {
        let least = view.curves.iter().map(points).filter(|points| *points > 0).min().unwrap_or(0);
        let all: usize = view.curves.iter().map(points).sum();
        if least >= ENOUGH { (ENOUGH, 0) } else { (least, all) }
    };
    views.iter().enumerate().max_by_key(|(_, view)| key(view)).map_or(0, |(index, _)| index)
}

/// Distinct values in ascending order.
pub(crate) fn distinct<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "axis positions come from whole numbers below 2^53"
)]
fn whole(x: f64) -> u64 {
    x as u64
}
