//! Time of the arm to reach another cylinder.

use super::parameters::SeekCurve;
use super::units::microseconds_to_ns;

/// Seek curve.
#[derive(Debug)]
pub(super) enum Seek {
    /// Ascending in cylinders.
    Points(Vec<(u32, f64)>),
    /// `a √(d−1) + b (d−1) + c`, in microseconds.
    Formula { a: f64, b: f64, c: f64 },
}

impl Seek {
    /// Builds the curve. `cylinders` is the drive's number of cylinders, the base of the published
    /// average.
    pub(super) fn new(curve: &SeekCurve, cylinders: u32) -> Self {
        match curve {
            SeekCurve::Extracted { points } => Self::Points(points.clone()),
            SeekCurve::ThreePoint { track_to_track_us, average_us, full_stroke_us } => {
                let (least, average, most) = (*track_to_track_us, *average_us, *full_stroke_us);
                let cylinders = f64::from(cylinders);
                Self::Formula {
                    a: (-10.0 * least + 15.0 * average - 5.0 * most) / (3.0 * cylinders.sqrt()),
                    b: (7.0 * least - 15.0 * average + 8.0 * most) / (3.0 * cylinders),
                    c: least,
                }
            }
        }
    }

    /// Seek time over a distance; zero for distance zero.
    pub(super) fn time_ns(&self, distance_cylinders: u32) -> u64 {
        if distance_cylinders == 0 { 0 } else { microseconds_to_ns(self.time_us(distance_cylinders)) }
    }

    fn time_us(&self, distance: u32) -> f64 {
        match self {
            Self::Points(points) => interpolate(points, distance),
            Self::Formula { a, b, c } => {
                let beyond = f64::from(distance - 1);
                a * beyond.sqrt() + b * beyond + c
            }
        }
    }
}

fn interpolate(points: &[(u32, f64)], distance: u32) -> f64 {
    let above = points.partition_point(|&(cylinders, _)| cylinders < distance);
    let upper = points.get(above).or(points.last());
    let lower = above.checked_sub(1).and_then(|index| points.get(index)).or(upper);
    match (lower, upper) {
        (Some(&(low, low_us)), Some(&(high, high_us))) if high > low => {
            low_us + (high_us - low_us) * f64::from(distance - low) / f64::from(high - low)
        }
        (_, Some(&(_, us))) => us,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extracted_points_are_met_and_joined_by_lines() {
        let curve = SeekCurve::Extracted { points: vec![(1, 800.0), (10, 1_700.0), (1_000, 9_000.0)] };
        let seek = Seek::new(&curve, 2_000);
        let times: Vec<u64> = [0, 1, 2, 10, 1_000, 1_500].map(|distance| seek.time_ns(distance)).to_vec();
        assert_eq!(times, [0, 800_000, 900_000, 1_700_000, 9_000_000, 9_000_000]);
    }

    /// The formula's mean over all pairs of cylinders is the published average.
    #[test]
    fn three_published_figures_come_back_from_the_curve() {
        let (track_to_track_us, average_us, full_stroke_us) = (800.0, 8_500.0, 20_000.0);
        let curve = SeekCurve::ThreePoint { track_to_track_us, average_us, full_stroke_us };
        let cylinders = 100_000_u32;
        let seek = Seek::new(&curve, cylinders);
        let count = f64::from(cylinders);
        let mean: f64 = (1..cylinders)
            .map(|distance| 2.0 * (count - f64::from(distance)) / (count * count) * seek.time_us(distance))
            .sum();
        assert!((mean / average_us - 1.0).abs() < 0.01, "mean {mean}");
        assert!((seek.time_us(cylinders - 1) / full_stroke_us - 1.0).abs() < 0.01);
        assert_eq!(seek.time_ns(1), 800_000);
    }
}
