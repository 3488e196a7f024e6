use crate::Estimate;

/// Time as a function of length: straight lines between measured lengths.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curve {
    /// In ascending order of length.
    points: Vec<(f64, Estimate)>,
    /// True to extrapolate beyond the longest length; otherwise the last value holds there.
    goes_on: bool,
}

impl Curve {
    /// Curve of request times. Lengths come in any order, each once. Times never fall with length.
    pub(crate) fn new(points: impl IntoIterator<Item = (u64, Estimate)>) -> Self {
        let mut points = ascending(points);
        // Noise can make a longer request seem quicker. A shorter request could always be extended,
        // so each time is capped by that of the next longer one.
        for index in (1..points.len()).rev() {
            let (head, rest) = points.split_at_mut(index);
            if let (Some((_, shorter)), Some((_, longer))) = (head.last_mut(), rest.first()) {
                shorter.value = shorter.value.min(longer.value);
                shorter.low = shorter.low.min(longer.low);
                shorter.high = shorter.high.min(longer.high);
            }
        }
        Self { points, goes_on: true }
    }

    /// Curve of times on top of the requests' own, which may fall with length.
    pub(crate) fn of_extra(points: impl IntoIterator<Item = (u64, Estimate)>) -> Self {
        Self { points: ascending(points), goes_on: false }
    }

    /// Returns the time at this length. Below the shortest measured length, that length's time
    /// holds; beyond the longest, the line through the last two lengths is extended.
    pub(crate) fn at(&self, bytes: u64) -> Estimate {
        let bytes = bytes as f64;
        let next = self.points.partition_point(|(measured, _)| *measured < bytes);
        let Some((first, last)) = self.points.first().zip(self.points.last()) else {
            return Estimate::default();
        };
        if next == 0 {
            return first.1;
        }
        let (Some(before), Some(after)) = (self.points.get(next - 1), self.points.get(next)) else {
            return if self.goes_on { self.beyond(bytes, *last) } else { last.1 };
        };
        let share = (bytes - before.0) / (after.0 - before.0);
        let between = |low: f64, high: f64| low + (high - low) * share;
        Estimate {
            value: between(before.1.value, after.1.value),
            low: between(before.1.low, after.1.low),
            high: between(before.1.high, after.1.high),
        }
    }

    /// Extrapolates beyond the last length. The bounds keep their ratio to the value: extrapolated
    /// separately, they could cross.
    fn beyond(&self, bytes: f64, (last, seconds): (f64, Estimate)) -> Estimate {
        let before = self.points.len().checked_sub(2).and_then(|index| self.points.get(index));
        let Some((before, shorter)) = before.filter(|_| seconds.value > 0.0) else {
            // With a single length, assume that time is proportional to it.
            return seconds * (bytes / last);
        };
        let slope = (seconds.value - shorter.value) / (last - before);
        seconds * ((seconds.value + slope * (bytes - last)) / seconds.value)
    }
}

fn ascending(points: impl IntoIterator<Item = (u64, Estimate)>) -> Vec<(f64, Estimate)> {
    let mut points: Vec<_> = points.into_iter().map(|(bytes, seconds)| (bytes as f64, seconds)).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(curve: &Curve, expected: &[(u64, f64)]) {
        for (bytes, seconds) in expected {
            let found = curve.at(*bytes).value;
            assert!((found - seconds).abs() < 1e-12, "{bytes} bytes take {found}, not {seconds}");
        }
    }

    #[test]
    fn between_measured_lengths_it_is_straight() {
        let curve =
            Curve::new([(8, Estimate::exact(3.0)), (4, Estimate::exact(1.0)), (16, Estimate::exact(4.0))]);
        hold(&curve, &[(1, 1.0), (4, 1.0), (6, 2.0), (8, 3.0), (12, 3.5), (16, 4.0), (32, 6.0)]);
    }

    #[test]
    fn a_longer_request_never_takes_less() {
        let curve =
            Curve::new([(4, Estimate::exact(2.0)), (8, Estimate::exact(1.0)), (16, Estimate::exact(4.0))]);
        hold(&curve, &[(4, 1.0), (8, 1.0)]);
    }

    #[test]
    fn what_comes_on_top_may_be_less_for_longer_ones() {
        let points = [(4, Estimate::exact(2.0)), (16, Estimate::exact(0.0)), (8, Estimate::exact(1.0))];
        hold(&Curve::of_extra(points), &[(2, 2.0), (4, 2.0), (6, 1.5), (12, 0.5), (16, 0.0), (64, 0.0)]);
    }

    #[test]
    fn of_a_single_length_bytes_take_their_share() {
        let curve = Curve::new([(4, Estimate::exact(1.0))]);
        hold(&curve, &[(2, 1.0), (4, 1.0), (8, 2.0)]);
    }
}
