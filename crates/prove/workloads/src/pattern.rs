//! What a device saw: requests over time.

use serde::Serialize;

/// The most points of each kind that a pattern keeps.
pub const PATTERN_POINTS_MAX: usize = 2000;

/// One request to the temporary space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PatternPoint {
    /// When it was submitted, since the run began.
    pub at_ns: u64,
    /// Where it begins, from the beginning of the space.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

/// Requests to the temporary space: of each kind all, or every second, fourth … from the first on, so that at most
/// [`PATTERN_POINTS_MAX`] are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// Reads in all.
    pub read_requests: u64,
    /// Those that are here.
    pub reads: Vec<PatternPoint>,
    /// Writes in all.
    pub write_requests: u64,
    /// Those that are here.
    pub writes: Vec<PatternPoint>,
}

/// Keeps points evenly: every one at first, and every second, fourth … when there are too many.
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
            // With an even limit the point that meets it is one of the thinner sample, too.
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
    fn points_are_kept_evenly_and_never_too_many() {
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
