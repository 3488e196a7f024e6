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
    /// It is dear even at the least extent that was tried.
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

impl DeviceProfile {
    /// The cheap strides, parted by whether their measured cost is clear.
    pub fn cheap_strides(&self) -> Strides {
        let is_clear = |stride: &i64| {
            let measured = self.stride_costs().find(|(measured, _)| measured == stride);
            measured.is_none_or(|(_, cost)| WritePatternCost::is_clear(&cost))
        };
        let (clear, unclear) = self.derived.cheap_strides_blocks.iter().partition(|stride| is_clear(stride));
        Strides { clear, unclear }
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
    fn an_area_whose_cost_is_unclear_is_unclear_even_if_it_has_a_size() {
        assert_eq!(with(Some(8 << 20), 0.17, 2.78).cheap_area_bytes(), Some(Cheap::Unclear));
        assert_eq!(with(None, 1.4, 1.6).cheap_area_bytes(), Some(Cheap::Nowhere));
        let known = with(Some(8 << 20), 1.4, 1.6).cheap_area_bytes();
        assert!(matches!(known, Some(Cheap::UpTo { extent, cost: Some(_) }) if extent.value == 8 << 20));
        assert_eq!(with(None, 1.4, 1.6).cheap_streams(), Some(Cheap::Nowhere));
        assert_eq!(Derived::default().cheap_area_bytes(), None);
    }
}
