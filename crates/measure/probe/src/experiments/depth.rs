use nandle_io::Nanos;
use nandle_profile::OperationKind;

use super::Lab;
use super::rounds::area_from;
use crate::load::{ClosedLoop, Counting, LoadError, Refill, Stop, Work};
use crate::pattern::Random;

/// Requests that are timed: what the first finds is not what the next ones will find.
const TIMED: u64 = 3;

/// A queue of random requests that is as deep as it may be and still is filled and emptied in a time: a queue of 32 writes of
/// a memory card takes ten seconds, whatever a slice is meant to take.
///
/// # Errors
/// As for [`ClosedLoop::run`].
pub(super) fn depth_within(
    lab: &mut Lab<'_>,
    time: Nanos,
    operation: OperationKind,
    block_bytes: u64,
    depth_max: u32,
) -> Result<u32, LoadError> {
    let load = ClosedLoop {
        queue_depth: 1,
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop { bytes: Some(TIMED * block_bytes), time: Some(time) },
    };
    let (seed, area) = (lab.seed, area_from(lab, 0, block_bytes)?);
    let pattern = Box::new(Random::new(area, seed ^ 3));
    let timed = lab.run(load, Work { pattern, block_bytes, operation, contents: None, seed })?;
    let fit = time.0.saturating_mul(timed.requests) / timed.elapsed.0.max(1);
    Ok(u32::try_from(fit).unwrap_or(u32::MAX).clamp(1, depth_max))
}
