use nandle_profile::{Interval, MeasuredCell};

use crate::device::Device;

/// Curve of a plot: measured points and a line through them.
pub(crate) struct Curve {
    pub(crate) label: String,
    pub(crate) look: Look,
    /// True if the curve is drawn at first. The reader can show every curve.
    pub(crate) shown: bool,
    pub(crate) measured: Vec<Point>,
    /// Points of the line in ascending order, including the measured ones.
    pub(crate) line: Vec<(f64, f64)>,
}

/// Measured point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Bounds of the interval, if it has one.
    pub(crate) bounds: Option<(f64, f64)>,
}

/// Colour, dash and marker of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Step of a quantity; colours run from dark to light.
    Step { index: usize, of: usize },
    /// Unordered item.
    Kind(usize),
}

impl Look {
    /// Greatest number of steps: the block sizes of the probe's grid.
    const STEPS: usize = 12;
    const KINDS: usize = 8;

    /// Name of the colour in the style sheet.
    pub(crate) fn colour(self) -> String {
        match self {
            Self::Step { index, of } => {
                format!("step-{}", index * (Self::STEPS - 1) / of.max(2).saturating_sub(1))
            }
            Self::Kind(index) => format!("kind-{}", index % Self::KINDS),
        }
    }

    /// Index of the marker. The drawing takes it modulo the number of markers.
    pub(crate) fn marker(self) -> usize {
        match self {
            Self::Step { index, .. } | Self::Kind(index) => index,
        }
    }

    /// Index of the dash. Steps are many and ordered, so their lines are solid.
    pub(crate) fn dash(self) -> usize {
        match self {
            Self::Step { .. } => 0,
            Self::Kind(index) => index,
        }
    }
}

impl Point {
    /// Point without an interval.
    pub(crate) fn bare(x: f64, y: f64) -> Self {
        Self { x, y, bounds: None }
    }

    pub(crate) fn new(x: f64, interval: &Interval<f64>) -> Self {
        Self { x, y: interval.value, bounds: Some((interval.low, interval.high)) }
    }

    fn bandwidth(x: f64, measured: &MeasuredCell) -> Self {
        Self::new(x, &measured.steady_bandwidth_bytes_per_s)
    }
}

impl Curve {
    /// Curve through the measured points and the fitted ones between them.
    pub(crate) fn new(label: String, look: Look, mut measured: Vec<Point>, fitted: Vec<(f64, f64)>) -> Self {
        measured.retain(|point| point.x.is_finite() && point.y.is_finite());
        measured.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut line: Vec<_> = measured.iter().map(|point| (point.x, point.y)).collect();
        line.extend(fitted.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite()));
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        line.dedup_by(|later, earlier| (later.0 - earlier.0).abs() < f64::EPSILON);
        Self { label, look, shown: true, measured, line }
    }

    /// Curve through the measured points only.
    pub(crate) fn joined(label: impl Into<String>, look: Look, measured: Vec<Point>) -> Self {
        Self::new(label.into(), look, measured, Vec::new())
    }

    /// Random reads at a depth by block size.
    pub(crate) fn over_block(device: &Device, depth: u32, label: String, look: Look) -> Self {
        let cells = device.random_reads().filter(|measured| measured.cell.queue_depth == depth);
        let fitted = device.profile.fitted_cells.iter().filter(|fitted| fitted.queue_depth == depth);
        Self::new(
            label,
            look,
            cells.map(|measured| Point::bandwidth(measured.cell.block_bytes as f64, measured)).collect(),
            fitted.map(|fitted| (fitted.block_bytes as f64, fitted.bandwidth_bytes_per_s.value)).collect(),
        )
    }

    /// Random reads of a block size by queue depth.
    pub(crate) fn over_depth(device: &Device, block_bytes: u64, label: String, look: Look) -> Self {
        let cells = device.random_reads().filter(|measured| measured.cell.block_bytes == block_bytes);
        let fitted = device.profile.fitted_cells.iter().filter(|fitted| fitted.block_bytes == block_bytes);
        Self::new(
            label,
            look,
            cells.map(|measured| Point::bandwidth(f64::from(measured.cell.queue_depth), measured)).collect(),
            fitted
                .map(|fitted| (f64::from(fitted.queue_depth), fitted.bandwidth_bytes_per_s.value))
                .collect(),
        )
    }

    /// Sequential reads at a depth by block size.
    pub(crate) fn sequential(device: &Device, depth: u32, label: String, look: Look) -> Self {
        let cells = device.reads("sequential").filter(|measured| measured.cell.queue_depth == depth);
        let points = cells.map(|measured| Point::bandwidth(measured.cell.block_bytes as f64, measured));
        Self::new(label, look, points.collect(), Vec::new())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Value of the line at `x`, measured or fitted.
    pub(crate) fn at(&self, x: f64) -> Option<f64> {
        self.line.iter().find(|(at, _)| (at - x).abs() < 0.5).map(|(_, y)| *y)
    }

    /// Measured point at `x`.
    pub(crate) fn measured_at(&self, x: f64) -> Option<&Point> {
        self.measured.iter().find(|point| (point.x - x).abs() < 0.5)
    }

    /// All values and upper bounds.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let bounds = self.measured.iter().filter_map(|point| point.bounds).map(|(_, high)| high);
        self.line.iter().map(|(_, y)| *y).chain(bounds).filter(|value| value.is_finite())
    }
}

/// Hides all but `most` curves at first. The shown ones are evenly spread and include the first and
/// the last.
pub(crate) fn thin_out(curves: &mut [Curve], most: usize) {
    let gaps = curves.len().saturating_sub(1);
    let step = gaps.div_ceil(most.saturating_sub(1).max(1)).max(1);
    for (index, curve) in curves.iter_mut().enumerate() {
        curve.shown = (gaps - index).is_multiple_of(step) || index == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)], fitted: &[(f64, f64)]) -> Curve {
        let measured = points.iter().map(|(x, y)| Point { x: *x, y: *y, bounds: None }).collect();
        Curve::new("a".into(), Look::Kind(0), measured, fitted.to_vec())
    }

    #[test]
    fn line_has_measured_and_fitted_points_in_order() {
        let curve = curve(&[(4.0, 40.0), (1.0, 10.0)], &[(2.0, 20.0), (4.0, 44.0), (8.0, f64::NAN)]);
        assert_eq!(curve.line, [(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)]);
        assert_eq!(curve.at(2.0), Some(20.0));
        assert_eq!(curve.measured_at(2.0), None);
    }

    #[test]
    fn thinning_keeps_both_ends() {
        let mut curves: Vec<_> = (0..11).map(|_| curve(&[], &[])).collect();
        thin_out(&mut curves, 6);
        let shown: Vec<_> = (0..11).filter(|index| curves[*index].shown).collect();
        assert_eq!(shown, [0, 2, 4, 6, 8, 10]);
        thin_out(&mut curves[..3], 6);
        assert!(curves[..3].iter().all(|curve| curve.shown));
    }

    #[test]
    fn steps_spread_over_the_colours() {
        assert_eq!(Look::Step { index: 0, of: 3 }.colour(), "step-0");
        assert_eq!(Look::Step { index: 2, of: 3 }.colour(), "step-11");
        for of in 1..=12 {
            let colours: std::collections::HashSet<_> =
                (0..of).map(|index| Look::Step { index, of }.colour()).collect();
            assert_eq!(colours.len(), of, "no two curves look alike");
        }
        assert_eq!(Look::Step { index: 0, of: 1 }.colour(), "step-0");
    }
}
