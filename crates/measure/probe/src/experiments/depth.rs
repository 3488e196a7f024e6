use nandle_io::Nanos;
use nandle_profile::OperationKind;

use super::Lab;
use super::rounds::area_from;
use crate::load::{ClosedLoop, Counting, LoadError, Refill, Stop, Work};
use crate::pattern::Random;

/// Number of timed requests. A single one may not be typical.
const TIMED: u64 = 3;

/// Largest queue depth at which random requests fill and drain the queue within `time`. A memory
/// card takes ten seconds for a queue of 32 writes, far longer than a slice.
///
/// # Errors
/// See [`ClosedLoop::run`].
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
