use serde::Serialize;
use utoipa::ToSchema;

/// Median and range of a figure of several airports.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Spread {
    /// Airports with a known figure.
    pub airports: u64,
    /// Least value.
    pub low: f64,
    /// Median; for an even number the mean of the two middle values.
    pub median: f64,
    /// Greatest value.
    pub high: f64,
}

impl Spread {
    /// Spread of known figures; `None` without any.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut ascending: Vec<f64> = figures.into_iter().collect();
        ascending.sort_unstable_by(f64::total_cmp);
        let (low, high) = (*ascending.first()?, *ascending.last()?);
        let airports = ascending.len() as u64;
        let at = |place: usize| ascending.get(place).copied().unwrap_or(high);
        let middle = ascending.len() / 2;
        let median =
            if airports.is_multiple_of(2) { f64::midpoint(at(middle - 1), at(middle)) } else { at(middle) };
        Some(Self { airports, low, median, high })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_the_middle_value() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([2.0]), Some(Spread { airports: 1, low: 2.0, median: 2.0, high: 2.0 }));
        let four = Spread::of([4.0, -1.0, 2.0, 3.0]).unwrap();
        assert_eq!((four.low, four.median, four.high), (-1.0, 2.5, 4.0));
        assert!((Spread::of([9.0, 1.0, 5.0]).unwrap().median - 5.0).abs() < f64::EPSILON);
    }
}
