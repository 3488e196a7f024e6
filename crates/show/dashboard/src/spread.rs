use serde::Serialize;
use utoipa::ToSchema;

/// A figure of several airports: its median and its range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, ToSchema)]
pub struct Spread {
    /// Airports whose figure is known.
    pub airports: u64,
    /// The least.
    pub low: f64,
    /// The one in the middle; of an even number the mean of the two in the middle.
    pub median: f64,
    /// The greatest.
    pub high: f64,
}

impl Spread {
    /// That of known figures; `None` without any.
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
    fn the_median_lies_in_the_middle() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([2.0]), Some(Spread { airports: 1, low: 2.0, median: 2.0, high: 2.0 }));
        let four = Spread::of([4.0, -1.0, 2.0, 3.0]).unwrap();
        assert_eq!((four.low, four.median, four.high), (-1.0, 2.5, 4.0));
        assert!((Spread::of([9.0, 1.0, 5.0]).unwrap().median - 5.0).abs() < f64::EPSILON);
    }
}
