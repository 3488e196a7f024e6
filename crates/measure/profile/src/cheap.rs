use crate::experiments::{MicroBenchmark, PatternCost};
use crate::{Derived, DeviceProfile, Interval, WritePatternCost};

/// Extent to which a kind of writes is cheap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cheap<T> {
    /// Cheap up to an extent.
    UpTo {
        /// Largest cheap extent.
        extent: Interval<T>,
        /// Cost of a write at that extent, in sequential writes.
        cost: Option<Interval<f64>>,
    },
    /// The bounds of the cost span both cheap and expensive.
    Unclear,
    /// Expensive even at the smallest extent tried.
    Nowhere,
}

/// Strides that appear cheap, in blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strides {
    /// Strides with a clear cost.
    pub clear: Vec<i64>,
    /// Strides with a cost that may also be expensive.
    pub unclear: Vec<i64>,
}

impl Derived {
    /// Area in which random writes are cheap; `None` if the costs of patterns are unknown.
    pub fn cheap_area_bytes(&self) -> Option<Cheap<u64>> {
        Some(cheap(self.focused_area_bytes, self.write_pattern_cost?.focused))
    }

    /// Number of cheap interleaved streams; `None` if the costs of patterns are unknown.
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

/// Largest cost of a cheap stride, in sequential writes (`StableBuffer` §3.1: 1–4 C) …
pub const CHEAP_ORDERED: f64 = 4.0;
/// … and the largest upper bound of a clear cost.
const DEAR_ORDERED: f64 = 2.0 * CHEAP_ORDERED;

/// Returns true if a stride of this cost is cheap; `None` if it appears cheap but may not be.
pub fn is_cheap_stride(cost: &Interval<f64>) -> Option<bool> {
    let seems_cheap = cost.value <= CHEAP_ORDERED;
    (!seems_cheap || cost.high <= DEAR_ORDERED).then_some(seems_cheap)
}

impl DeviceProfile {
    /// Cheap strides, clear and unclear.
    pub fn cheap_strides(&self) -> Strides {
        let unclear: Vec<i64> = self
            .stride_costs()
            .filter(|(_, cost)| is_cheap_stride(cost).is_none())
            .map(|(stride, _)| stride)
            .collect();
        let cheap = self.derived.cheap_strides_blocks.iter().copied();
        Strides { clear: cheap.filter(|stride| !unclear.contains(stride)).collect(), unclear }
    }

    /// Measured strides with the cost of a write, in sequential writes.
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
    fn an_area_of_unclear_cost_is_unclear_even_with_a_size() {
        assert_eq!(with(Some(8 << 20), 0.17, 2.78).cheap_area_bytes(), Some(Cheap::Unclear));
        assert_eq!(with(None, 1.4, 1.6).cheap_area_bytes(), Some(Cheap::Nowhere));
        let known = with(Some(8 << 20), 1.4, 1.6).cheap_area_bytes();
        assert!(matches!(known, Some(Cheap::UpTo { extent, cost: Some(_) }) if extent.value == 8 << 20));
        assert_eq!(with(None, 1.4, 1.6).cheap_streams(), Some(Cheap::Nowhere));
        assert_eq!(Derived::default().cheap_area_bytes(), None);
    }
}
