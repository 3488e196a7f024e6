//! What reading costs on a device: curves that the caller fills from what was measured.

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

/// Requests of one size, so many of them outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RequestCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// Requests outstanding, at least one.
    pub depth: u32,
    /// Time by requests completed in it. At depth 1 that is a request's latency, deeper it is less.
    pub seconds: Estimate,
}

/// Random requests of one size that find the device idle and are all sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BatchCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// How many, at least one.
    pub requests: u32,
    /// Until the last of them has come. The bounds are those of one more such batch.
    pub seconds: Estimate,
}

/// So many requests in a sequence, of which each continues the one before, and then a jump.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SequenceCost {
    /// Length of a request.
    pub request_bytes: u64,
    /// Requests in a sequence, at least two.
    pub requests: u64,
    /// What the sequence takes beyond as many requests to places of their own, while the device is kept busy; zero or more. It is what a device reads
    /// ahead and isn't asked for.
    pub seconds: Estimate,
}

/// What a device was measured to do when it reads. Nothing in it is assumed: what wasn't measured is missing, and what can't be planned
/// without it is an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadCosts {
    /// Offsets and lengths of requests are multiples of this.
    pub logical_block_bytes: u64,
    /// The longest request that the device takes whole: the least of what its interface allows and of what the system splits.
    pub largest_request_bytes: u64,
    /// Random requests by size and depth, in any order: at least one size.
    pub random: Vec<RequestCost>,
    /// Requests of which each continues the one before, by size and depth; where there are none such a request costs what a random one
    /// does.
    pub sequential: Vec<RequestCost>,
    /// Batches on the idle device; where there are none, what a queue takes to fill and to empty is estimated from the requests.
    pub batches: Vec<BatchCost>,
    /// Sequences; where there are none, they cost nothing beyond their requests.
    pub sequences: Vec<SequenceCost>,
    /// How far off a price is that follows from others or is paid at another time, as a share of it: nine in ten are no farther. Requests have lengths,
    /// an order and a time that weren't measured, so that predictions have it in their bounds.
    pub price_error: f64,
}

/// A depth is enough for a size if its requests take at most so many times as long as at the best depth that was measured.
const NEAR_PLATEAU: f64 = 1.03;

/// The sizes that were measured, ascending.
pub(crate) fn sizes(costs: &[RequestCost]) -> Vec<u64> {
    let mut sizes: Vec<u64> = costs.iter().map(|cost| cost.request_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The least depth, and at most `depth_max`, that keeps the device busy with requests of a size that was measured, and what a request takes
/// then. Where only greater depths were measured it is the least of those.
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

/// A depth between two measured ones: requests in a second grow in a straight line.
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

    /// 8 ms for each jump, then 100 MB/s.
    pub(crate) fn disk() -> ReadCosts {
        costs(|bytes, _| 8e-3 + bytes as f64 / 1e8, 1e8)
    }

    /// 80 us for a request, up to 32 at once, and up to 2 GB/s.
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
