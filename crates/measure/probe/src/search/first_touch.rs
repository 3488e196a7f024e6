//! First touch against re-read. A block that was just written, or never read, may be in a cache in
//! front of the device, or may come from further away than on later reads. A guest can't evict the
//! host's caches, so both figures are reported.

use nandle_io::Nanos;
use nandle_profile::{FirstTouch, Interval, OperationKind};

use super::estimate::median;
use super::slices::ReadArea;
use crate::load::{Cancel, ClosedLoop, Counting, Lane, LoadError, Refill, Stop, Work};
use crate::pattern::{Area, Ordered};

/// Bytes of one request: large enough for throughput, small enough for random reads.
const BLOCK_BYTES: u64 = 128 << 10;
const QUEUE_DEPTH: u32 = 8;
/// Pieces of the file, each read twice.
const PIECES: u64 = 32;
/// Blocks in a piece.
const PIECE_BLOCKS: u64 = 64;
/// Stride of the blocks within a piece, which defeats read-ahead.
const STRIDE_BLOCKS: i64 = 37;
/// Standard errors on either side of a 95 % interval.
const DEVIATIONS: f64 = 1.96;

/// Reads pieces spread over the file, each twice in succession, until `until`. Returns `None` if
/// the file is too small, a block exceeds the limit of outstanding bytes, or fewer than four pieces
/// were read.
pub(super) fn first_touch(
    lane: &mut Lane,
    read: ReadArea,
    until: Nanos,
    cancel: &Cancel,
) -> Result<Option<FirstTouch>, LoadError> {
    let piece_bytes = PIECE_BLOCKS * BLOCK_BYTES;
    let places = read.area_bytes / piece_bytes;
    if places < PIECES || !BLOCK_BYTES.is_multiple_of(lane.device().shape.logical_block_bytes) {
        return Ok(None);
    }
    let Some(queue_depth) = read.depth_of(BLOCK_BYTES, QUEUE_DEPTH) else { return Ok(None) };
    let mut pieces = Vec::new();
    for piece in 0..PIECES {
        if lane.io().now() >= until {
            break;
        }
        let start_bytes = places * piece / PIECES * piece_bytes;
        let first = read_piece(lane, read, start_bytes, queue_depth, cancel)?;
        let again = read_piece(lane, read, start_bytes, queue_depth, cancel)?;
        pieces.push((first, again));
    }
    Ok(conclude(&pieces, queue_depth))
}

/// Bandwidth of reading each block of a piece once.
fn read_piece(
    lane: &mut Lane,
    read: ReadArea,
    start_bytes: u64,
    queue_depth: u32,
    cancel: &Cancel,
) -> Result<f64, LoadError> {
    let area = Area { start_bytes, blocks: PIECE_BLOCKS, block_bytes: BLOCK_BYTES };
    let work = Work {
        pattern: Box::new(Ordered::new(area, STRIDE_BLOCKS)),
        block_bytes: BLOCK_BYTES,
        operation: OperationKind::Read,
        contents: read.contents,
        seed: read.seed,
    };
    let run = ClosedLoop {
        queue_depth,
        refill: Refill::Exact,
        counting: Counting::Whole,
        stop: Stop::after_bytes(PIECE_BLOCKS * BLOCK_BYTES),
    };
    Ok(run.run(lane, work, cancel)?.bandwidth_bytes_per_s())
}

fn conclude(pieces: &[(f64, f64)], queue_depth: u32) -> Option<FirstTouch> {
    if pieces.len() < 4 {
        return None;
    }
    let count = pieces.len() as f64;
    let logs: Vec<f64> =
        pieces.iter().map(|(first, again)| (first / again.max(1.0)).max(1e-9).ln()).collect();
    let middle = median(logs.iter().copied());
    let variance = logs.iter().map(|log| (log - middle).powi(2)).sum::<f64>() / (count - 1.0);
    // The standard error of a median is about 1.25 times that of a mean.
    let error = 1.2533 * (variance / count).sqrt();
    let ratio = |deviations: f64| (middle + deviations * error).exp();
    Some(FirstTouch {
        block_bytes: BLOCK_BYTES,
        queue_depth,
        first_bandwidth_bytes_per_s: median(pieces.iter().map(|(first, _)| *first)),
        again_bandwidth_bytes_per_s: median(pieces.iter().map(|(_, again)| *again)),
        ratio: Interval { value: ratio(0.0), low: ratio(-DEVIATIONS), high: ratio(DEVIATIONS) },
    })
}
