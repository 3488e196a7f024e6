use crate::experiments::{MicroBenchmark, PatternCost};
use crate::{Derived, DeviceProfile, Interval, WritePatternCost};

/// What is known of a way of writing that may be cheap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cheap<T> {
    /// It is cheap up to some extent.
    UpTo {
        /// How far.
        extent: Interval<T>,
        /// What a write then costs, by a sequential one.
        cost: Option<Interval<f64>>,
    },
    /// The cost's bounds leave open whether it is cheap.
    Unclear,
    /// It is expensive even at the least extent that was tried.
    Nowhere,
}

/// Strides at which writing was found to be cheap, in blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strides {
    /// Those whose cost is clear.
    pub clear: Vec<i64>,
    /// Those whose cost's bounds leave open whether it is cheap.
    pub unclear: Vec<i64>,
}

impl Derived {
    /// The area in which random writes are cheap; `None` where no costs of patterns are known.
    pub fn cheap_area_bytes(&self) -> Option<Cheap<u64>> {
        Some(cheap(self.focused_area_bytes, self.write_pattern_cost?.focused))
    }

    /// How many interleaved streams are cheap; `None` where no costs of patterns are known.
    pub fn cheap_streams(&self) -> Option<Cheap<u32>> {
        Some(cheap(self.partition_count_max, self.write_pattern_cost?.partitioned))
    }
}

fn cheap<T>(extent: Option<Interval<T>>, cost: Option<Interval<f64>>) -> Cheap<T> {
    if cost.is_some_and(|cost| !WritePatternCost::is_clear(&cost)) {
        return Cheap::Unclear;
    }
    extent.map_or(Cheap::Nowhere, |extent| Cheap::UpTo { extent, cost })
}

/// A write at a stride is cheap up to so many sequential ones (`StableBuffer` §3.1: 1–4 C) …
pub const CHEAP_ORDERED: f64 = 4.0;
/// … and unclear, if it may cost more than so many.
const DEAR_ORDERED: f64 = 2.0 * CHEAP_ORDERED;

/// Whether a write at a stride with this cost is cheap; `None` where it seems so, and may well not be.
pub fn is_cheap_stride(cost: &Interval<f64>) -> Option<bool> {
    let seems_cheap = cost.value <= CHEAP_ORDERED;
    (!seems_cheap || cost.high <= DEAR_ORDERED).then_some(seems_cheap)
}

impl DeviceProfile {
    /// The cheap strides, and those that seem so.
    pub fn cheap_strides(&self) -> Strides {
        let unclear: Vec<i64> = self
            .stride_costs()
            .filter(|(_, cost)| is_cheap_stride(cost).is_none())
            .map(|(stride, _)| stride)
            .collect();
        let cheap = self.derived.cheap_strides_blocks.iter().copied();
        Strides { clear: cheap.filter(|stride| !unclear.contains(stride)).collect(), unclear }
    }

    /// Each stride that was tried, and what a write then costs by a sequential one.
    pub fn stride_costs(&self) -> impl Iterator<Item = (i64, Interval<f64>)> + '_ {
        let stride = |row: &PatternCost| row.pattern.strip_prefix("ordered:")?.parse().ok();
        let conducted = self.experiments.write_patterns.iter();
        let rows = conducted.flat_map(|conducted| &conducted.findings.patterns);
        rows.filter(|row| row.micro_benchmark == MicroBenchmark::Order)
            .filter_map(move |row| Some((stride(row)?, row.relative_cost?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(area: Option<u64>, low: f64, high: f64) -> Derived {
        let cost = Interval { value: 1.5, low, high };
        Derived {
            focused_area_bytes: area.map(Interval::exact),
            write_pattern_cost: Some(WritePatternCost {
                block_bytes: 32 << 10,
                sequential_ns: Interval::exact(1e6),
                random: Interval::exact(20.0),
                focused: Some(cost),
                partitioned: None,
                ordered: None,
            }),
            ..Derived::default()
        }
    }

    #[test]
    fn a_stride_that_may_be_expensive_is_unclear() {
        let cost = |low, value, high| is_cheap_stride(&Interval { value, low, high });
        assert_eq!(cost(0.9, 1.0, 1.1), Some(true));
        assert_eq!(cost(0.0, 2.5, 5.0), Some(true));
        assert_eq!(cost(0.0, 0.8, 9.0), None);
        assert_eq!(cost(0.0, 6.0, 20.0), Some(false));
    }

    #[test]
    fn an_area_whose_cost_is_unclear_is_unclear_even_if_it_has_a_size() {
        assert_eq!(with(Some(8 << 20), 0.17, 2.78).cheap_area_bytes(), Some(Cheap::Unclear));
        assert_eq!(with(None, 1.4, 1.6).cheap_area_bytes(), Some(Cheap::Nowhere));
        let known = with(Some(8 << 20), 1.4, 1.6).cheap_area_bytes();
        assert!(matches!(known, Some(Cheap::UpTo { extent, cost: Some(_) }) if extent.value == 8 << 20));
        assert_eq!(with(None, 1.4, 1.6).cheap_streams(), Some(Cheap::Nowhere));
        assert_eq!(Derived::default().cheap_area_bytes(), None);
    }
}
