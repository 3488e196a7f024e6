//! Requests to the temporary space over time.

use serde::Serialize;

/// Maximum number of points of each kind in a pattern.
pub const PATTERN_POINTS_MAX: usize = 2000;

/// A request to the temporary space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PatternPoint {
    /// Submission time since the start of the run, in nanoseconds.
    pub at_ns: u64,
    /// Offset from the start of the space, in bytes.
    pub offset_bytes: u64,
    /// Length, in bytes.
    pub length_bytes: u64,
}

/// Sampled requests to the temporary space. For each kind, every request is kept, or every second,
/// fourth … request, so that at most [`PATTERN_POINTS_MAX`] remain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// Number of reads.
    pub read_requests: u64,
    /// Sampled reads.
    pub reads: Vec<PatternPoint>,
    /// Number of writes.
    pub write_requests: u64,
    /// Sampled writes.
    pub writes: Vec<PatternPoint>,
}

/// Samples points at even intervals. Doubles the interval when there are too many.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    points: Vec<PatternPoint>,
    stride: u64,
    seen: u64,
}

impl Default for Sampler {
    fn default() -> Self {
        Self { points: Vec::new(), stride: 1, seen: 0 }
    }
}

impl Sampler {
    pub(crate) fn add(&mut self, point: PatternPoint) {
        if self.seen.is_multiple_of(self.stride) {
            if self.points.len() == PATTERN_POINTS_MAX {
                let mut number = 0;
                self.points.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            // The limit is even, so this point may belong to the thinned sample, too.
            if self.seen.is_multiple_of(self.stride) {
                self.points.push(point);
            }
        }
        self.seen += 1;
    }

    pub(crate) fn into_points(self) -> Vec<PatternPoint> {
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_sampled_evenly_within_the_limit() {
        for count in [0_u64, 1, 1999, 2000, 2001, 4001, 123_457] {
            let mut sampler = Sampler::default();
            for at_ns in 0..count {
                sampler.add(PatternPoint { at_ns, offset_bytes: 0, length_bytes: 1 });
            }
            let points = sampler.into_points();
            assert!(points.len() <= PATTERN_POINTS_MAX, "{count}: {}", points.len());
            assert!(points.len() as u64 >= count.min(PATTERN_POINTS_MAX as u64 / 2), "{count}");
            let steps = points.windows(2).map(|two| two[1].at_ns - two[0].at_ns);
            let step = points.get(1).map_or(1, |second| second.at_ns);
            assert!(steps.clone().all(|next| next == step), "{count}");
            assert!(points.first().is_none_or(|first| first.at_ns == 0));
        }
    }
}
