//! The four patterns with the cache on and off (FlashyDB, C20).

use nandle_io::Nanos;
use nandle_profile::OperationKind;
use nandle_profile::experiments::CacheSetting;

use crate::experiments::Lab;
use crate::load::{ClosedLoop, Counting, LoadError, Opener, Refill, Stop, Work};
use crate::pattern::{Area, PatternSpec};

/// Smallest database page that is a multiple of any logical block.
const BLOCK_BYTES: u64 = 4096;
/// Limits of a cell in time and requests.
const CELL_TIME: Nanos = Nanos::from_millis(1000);
const CELL_REQUESTS: u64 = 20_000;

/// Measures the patterns, each on the device in its initial state. Returns nothing if the cache
/// can't be switched off.
///
/// # Errors
/// See [`ClosedLoop::run`].
pub(super) fn measure(lab: &mut Lab<'_>) -> Result<Vec<CacheSetting>, LoadError> {
    let (Some(without), with) = (lab.without_cache(), lab.open) else { return Ok(Vec::new()) };
    let mut settings = Vec::new();
    for (open, cache_on) in [(with, true), (without, false)] {
        for pattern in [PatternSpec::Sequential, PatternSpec::Random] {
            for operation in [OperationKind::Read, OperationKind::Write] {
                lab.report("the cache on and off");
                settings.push(cell(lab, open, cache_on, pattern, operation)?);
            }
        }
    }
    Ok(settings)
}

fn cell(
    lab: &mut Lab<'_>,
    open: &Opener<'_>,
    cache_on: bool,
    pattern: PatternSpec,
    operation: OperationKind,
) -> Result<CacheSetting, LoadError> {
    lab.reopen(open)?;
    let block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
    let area = Area::new(0, lab.circumstances.area_bytes, block_bytes)
        .ok_or_else(|| LoadError::Block { block_bytes, reason: "the area is smaller than that".into() })?;
    let seed = lab.seed;
    let load = ClosedLoop {
        queue_depth: 1,
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop { bytes: Some(CELL_REQUESTS * block_bytes), time: Some(CELL_TIME) },
    };
    let work = Work { pattern: pattern.start(area, 1, seed), block_bytes, operation, contents: None, seed };
    let measurement = lab.run(load, work)?;
    Ok(CacheSetting {
        cache_on,
        pattern: pattern.to_string(),
        operation,
        block_bytes,
        queue_depth: 1,
        bandwidth_bytes_per_s: measurement.bandwidth_bytes_per_s(),
        latency_ns: measurement.latency_ns.summary(),
    })
}
