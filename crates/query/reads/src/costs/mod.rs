//! Costs of reading from a device: curves that the caller fills with measurements.

mod batches;
mod check;
mod curve;
mod economics;
mod prices;
mod pricing;
mod sequences;

pub(crate) use batches::Batches;
pub(crate) use curve::Curve;
pub(crate) use prices::Prices;
pub use pricing::Pricing;
pub(crate) use sequences::Sequences;

use serde::{Deserialize, Serialize};

use crate::Estimate;

/// Cost of requests of one size at one queue depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RequestCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// Requests outstanding, at least one.
    pub depth: u32,
    /// Elapsed time per completed request. At depth 1 this is the latency.
    pub seconds: Estimate,
}

/// Cost of random requests of one size that are sent at once to an idle device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// Number of requests, at least one.
    pub requests: u32,
    /// Time until the last request completes. The bounds are those of one further such batch.
    pub seconds: Estimate,
}

/// Extra cost of a sequence of `requests` contiguous requests, followed by a jump.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SequenceCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// Requests in the sequence, at least two.
    pub requests: u64,
    /// Time on a busy device beyond that of the same number of random requests; zero or more.
    /// Devices spend it on read-ahead that isn't used.
    pub seconds: Estimate,
}

/// Measured read costs of a device. Nothing is assumed: figures that weren't measured are missing,
/// and planning fails without those it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadCosts {
    /// Offsets and lengths of requests are multiples of this.
    pub logical_block_bytes: u64,
    /// Longest request that reaches the device unsplit: the lesser of the limits of its interface
    /// and of the system.
    pub largest_request_bytes: u64,
    /// Random requests by size and depth, in any order; at least one size.
    pub random: Vec<RequestCost>,
    /// Contiguous requests by size and depth. If empty, they cost as much as random ones.
    pub sequential: Vec<RequestCost>,
    /// Batches on the idle device. If empty, the time to fill and drain a queue is estimated from
    /// the requests.
    pub batches: Vec<BatchCost>,
    /// Sequences. If empty, a sequence costs nothing beyond its requests.
    pub sequences: Vec<SequenceCost>,
    /// Relative error of derived prices, at the 90th percentile. Predictions widen their bounds by
    /// it, because actual requests differ from the measured ones in length, order and time.
    pub price_error: f64,
}

/// A depth suffices for a size if its time per request is at most this multiple of the best
/// measured one.
const NEAR_PLATEAU: f64 = 1.03;

/// Returns the measured sizes in ascending order.
pub(crate) fn sizes(costs: &[RequestCost]) -> Vec<u64> {
    let mut sizes: Vec<u64> = costs.iter().map(|cost| cost.request_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// Returns the least depth, at most `depth_max`, that keeps the device busy with requests of a
/// measured size, and their cost. If all measured depths are greater, returns the least of them.
pub(crate) fn busy(costs: &[RequestCost], request_bytes: u64, depth_max: u32) -> Option<RequestCost> {
    let mut of_size: Vec<_> =
        costs.iter().filter(|cost| cost.request_bytes == request_bytes).copied().collect();
    of_size.sort_unstable_by_key(|cost| cost.depth);
    let shallow = of_size.partition_point(|cost| cost.depth <= depth_max);
    if let Some((shallower, deeper)) =
        shallow.checked_sub(1).and_then(|last| of_size.get(last)).zip(of_size.get(shallow))
    {
        let between = between(shallower, deeper, depth_max);
        of_size.insert(shallow, between);
    }
    let allowed = || of_size.iter().filter(|cost| cost.depth <= depth_max);
    let best = allowed().map(|cost| cost.seconds.value).min_by(f64::total_cmp);
    let is_enough = |cost: &&RequestCost| best.is_some_and(|best| cost.seconds.value <= best * NEAR_PLATEAU);
    allowed().find(is_enough).or(of_size.first()).copied()
}

/// Interpolates between two measured depths; requests per second grow linearly.
fn between(shallower: &RequestCost, deeper: &RequestCost, depth: u32) -> RequestCost {
    let share = f64::from(depth - shallower.depth) / f64::from(deeper.depth - shallower.depth);
    let seconds = |shallower: f64, deeper: f64| 1.0 / ((1.0 - share) / shallower + share / deeper);
    let seconds = Estimate {
        value: seconds(shallower.seconds.value, deeper.seconds.value),
        low: seconds(shallower.seconds.low, deeper.seconds.low),
        high: seconds(shallower.seconds.high, deeper.seconds.high),
    };
    RequestCost { depth, seconds, ..*shallower }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn costs(seconds: impl Fn(u64, u32) -> f64, sequential: f64) -> ReadCosts {
        let random =
            (12..=18).flat_map(|power| [1_u32, 2, 4, 8, 16, 32].map(|depth| (1_u64 << power, depth)));
        let random = random.map(|(request_bytes, depth)| {
            let seconds = Estimate::exact(seconds(request_bytes, depth));
            RequestCost { request_bytes, depth, seconds }
        });
        ReadCosts {
            logical_block_bytes: 512,
            largest_request_bytes: 256 << 10,
            random: random.collect(),
            sequential: (12..=18)
                .map(|power| RequestCost {
                    request_bytes: 1 << power,
                    depth: 8,
                    seconds: Estimate::exact((1_u64 << power) as f64 / sequential),
                })
                .collect(),
            batches: Vec::new(),
            sequences: Vec::new(),
            price_error: 0.0,
        }
    }

    /// 8 ms per jump, then 100 MB/s.
    pub(crate) fn disk() -> ReadCosts {
        costs(|bytes, _| 8e-3 + bytes as f64 / 1e8, 1e8)
    }

    /// 80 us per request, up to 32 at once and 2 GB/s.
    pub(crate) fn flash() -> ReadCosts {
        costs(|bytes, depth| ((80e-6 + bytes as f64 / 2e9) / f64::from(depth)).max(bytes as f64 / 2e9), 2e9)
    }

    #[test]
    fn the_least_depth_near_the_plateau_is_enough() {
        assert_eq!(busy(&disk().random, 4096, 32).unwrap().depth, 1);
        assert_eq!(busy(&flash().random, 4096, 32).unwrap().depth, 32);
        assert_eq!(busy(&flash().random, 256 << 10, 32).unwrap().depth, 2);
        assert_eq!(busy(&flash().random, 4096, 5).unwrap().depth, 5);
        let seconds = busy(&flash().random, 4096, 5).unwrap().seconds.value;
        assert!((seconds - (80e-6 + 4096.0 / 2e9) / 5.0).abs() < 1e-9, "{seconds}");
        assert!(busy(&flash().random, 5000, 5).is_none());
    }
}
