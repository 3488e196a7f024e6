//! Break-even between two devices: the same leaves, read with an increasing share of jumps.

use super::{DeviceColours, time_text};
use crate::figures::Figure;
use crate::plots::{Curve, Line, Look, Plot, Point, View, XAxis, YAxis};
use crate::text;

/// B-tree pages, read with an increasing share of jumps.
#[derive(Debug, Clone, Default)]
pub struct CubesTurning {
    /// Page size as text.
    pub page: String,
    /// Pages read at each share.
    pub pages: u64,
    /// Device names, and for each share of jumps (0 to 1) the time of a page in seconds.
    pub devices: Vec<(String, Vec<(f64, f64)>)>,
    /// Share from which the second device is slower than the first; `None` if there is none.
    pub turning_share: Option<f64>,
}

impl CubesTurning {
    fn view(&self, kinds: &DeviceColours<'_>) -> View {
        let curve = |(device, times): &(String, Vec<(f64, f64)>)| {
            // A share of 0 has no position on a logarithmic axis.
            let shown = times.iter().filter(|(share, _)| *share > 0.0);
            let points = shown
                .map(|(share, seconds)| Point { x: 100.0 * share, y: seconds * 1e9, bounds: None })
                .collect();
            Curve::joined(text::clean(device), Look::Kind(kinds.of_device(device)), points)
        };
        View { name: self.name(), curves: self.devices.iter().map(curve).collect() }
    }

    fn name(&self) -> String {
        format!("pages of {}", self.page)
    }

    fn finding(&self) -> String {
        let [(first, _), (second, _), ..] = self.devices.as_slice() else { return String::new() };
        let (first, second, name) = (text::clean(first), text::clean(second), self.name());
        if let Some(share) = self.turning_share {
            let share = text::significant(100.0 * share, 2);
            return format!(
                "With {name} {second} is faster up to {share} % of jumps, {first} \
                above that."
            );
        }
        let times = || self.devices.iter().map(|(_, times)| times);
        let end_times =
            |ends: Vec<&(f64, f64)>| ends.iter().map(|(_, seconds)| time_text(*seconds)).collect::<Vec<_>>();
        let least = end_times(times().filter_map(|times| times.first()).collect()).join(" and ");
        let most = end_times(times().filter_map(|times| times.last()).collect()).join(" and ");
        format!(
            "With {name} neither overtakes the other: a page takes {first} and {second} {least} \
            without jumps, {most} with the most."
        )
    }
}

/// Figure of the break-even; `None` without such reads.
pub(super) fn figure(all: &[CubesTurning], kinds: &DeviceColours<'_>) -> Option<Figure> {
    let pages = all.iter().map(|turning| turning.pages).max()?;
    let plot = Plot {
        id: "turning",
        title: "Time of a page by share of jumps",
        finding: all.iter().map(CubesTurning::finding).collect::<Vec<_>>().join(" "),
        note: format!(
            "The leaves of a cube's index, up to {}, one read after the other: in file order, cut \
            into ever more runs in random order. Device time only. The dashed line marks the \
            change.",
            text::plain(pages)
        ),
        line: Line::Joined,
        x: XAxis::Count("Leaves that don't follow the one before, %"),
        y: YAxis::Time("Time of a page"),
        marks: all.iter().filter_map(|turning| Some(100.0 * turning.turning_share?)).collect(),
        choice: "Pages",
        chosen: 0,
        views: all.iter().map(|turning| turning.view(kinds)).collect(),
    };
    plot.into_figure()
}
