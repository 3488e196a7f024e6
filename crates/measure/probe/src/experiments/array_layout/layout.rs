use nandle_profile::experiments::LayoutScore;

/// Offset and latency of each read of a batch, in order of submission.
pub(super) type Batch = Vec<(u64, u64)>;

/// Round-robin distribution of chunks over members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) chunk_bytes: u64,
    pub(super) members: u32,
}

const CHUNK_BYTES_MAX: u64 = 16 << 20;
const MEMBERS_MAX: u32 = 16;
/// Smallest correlation that a layout must explain …
const CORRELATION_MIN: f64 = 0.1;
/// … and its smallest significance in standard errors. The best of two hundred layouts reaches
/// three by chance.
const ERRORS_MIN: f64 = 5.0;

impl Layout {
    /// Best layout, if it is significant.
    pub(super) fn seen(scores: &[LayoutScore], observations: u64) -> Option<Self> {
        let best = scores.first()?;
        let error = 1.0 / (observations as f64).sqrt();
        let explains = best.correlation > CORRELATION_MIN.max(ERRORS_MIN * error);
        explains.then_some(Self { chunk_bytes: best.chunk_bytes, members: best.members })
    }

    fn member(self, offset_bytes: u64) -> usize {
        usize::try_from(offset_bytes / self.chunk_bytes % u64::from(self.members)).unwrap_or(0)
    }

    /// Load on each read's member, from the other reads of the batch. Reads submitted earlier count
    /// twice: a read waits for all of them, but for later ones only if the member reorders.
    fn loads(self, batch: &Batch) -> Vec<f64> {
        let mut counts = vec![0_u32; self.members as usize];
        let mut before: Vec<u32> = Vec::with_capacity(batch.len());
        for (offset_bytes, _) in batch {
            let Some(count) = counts.get_mut(self.member(*offset_bytes)) else { continue };
            before.push(*count);
            *count += 1;
        }
        let on_member = |offset_bytes| counts.get(self.member(offset_bytes)).copied().unwrap_or(0);
        let loads = batch.iter().zip(before);
        loads.map(|((offset_bytes, _), before)| f64::from(before + on_member(*offset_bytes))).collect()
    }
}

/// Scores of all layouts, best first.
pub(super) fn scores(batches: &[Batch], block_bytes: u64, area_bytes: u64) -> Vec<LayoutScore> {
    let chunks = std::iter::successors(Some(block_bytes.next_power_of_two()), |bytes| Some(bytes * 2));
    let chunks = chunks.take_while(|bytes| *bytes <= CHUNK_BYTES_MAX && 2 * bytes <= area_bytes);
    let layouts =
        chunks.flat_map(|chunk_bytes| (2..=MEMBERS_MAX).map(move |members| Layout { chunk_bytes, members }));
    let latencies: Vec<f64> = batches.iter().flatten().map(|(_, latency_ns)| *latency_ns as f64).collect();
    let positions: Vec<usize> = batches.iter().flat_map(|batch| 0..batch.len()).collect();
    let latencies = beside_position(&ranks(&latencies), &positions);
    let score = |layout: Layout| {
        let loads: Vec<f64> = batches.iter().flat_map(|batch| layout.loads(batch)).collect();
        LayoutScore {
            chunk_bytes: layout.chunk_bytes,
            members: layout.members,
            correlation: correlation(&beside_position(&loads, &positions), &latencies),
        }
    };
    let mut scores: Vec<LayoutScore> = layouts.map(score).collect();
    scores.sort_by(|a, b| b.correlation.total_cmp(&a.correlation));
    scores
}

/// Values minus the mean of their position in the batch, since later reads wait longer on any
/// member.
fn beside_position(values: &[f64], positions: &[usize]) -> Vec<f64> {
    let count = positions.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0, 0.0); count];
    for (value, position) in values.iter().zip(positions) {
        if let Some((sum, number)) = sums.get_mut(*position) {
            (*sum, *number) = (*sum + value, *number + 1.0);
        }
    }
    let mean =
        |position: usize| sums.get(position).map_or(0.0, |(sum, number): &(f64, f64)| sum / number.max(1.0));
    values.iter().zip(positions).map(|(value, position)| value - mean(*position)).collect()
}

/// Rank of each value, so that a few very slow reads don't dominate.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let value = |index: &usize| values.get(*index).copied().unwrap_or(0.0);
    order.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let mut ranks = vec![0.0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        if let Some(place) = ranks.get_mut(index) {
            *place = rank as f64;
        }
    }
    ranks
}

fn correlation(xs: &[f64], ys: &[f64]) -> f64 {
    let count = xs.len().min(ys.len()).max(1) as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / count, ys.iter().sum::<f64>() / count);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        let (x, y) = (x - mean_x, y - mean_y);
        (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
    }
    if xx > 0.0 && yy > 0.0 { xy / (xx * yy).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::{below, generator};

    /// Batches on members that serve one read at a time.
    fn batches(truth: Layout, count: usize) -> Vec<Batch> {
        let mut generator = generator(9, 1);
        let mut batch = || {
            let mut free_ns = vec![0_u64; truth.members as usize];
            let mut read = |_| {
                let offset_bytes = below(&mut generator, 1 << 18) * 4096;
                let free = &mut free_ns[truth.member(offset_bytes)];
                *free += 50_000 + below(&mut generator, 20_000);
                (offset_bytes, *free)
            };
            (0..64).map(&mut read).collect()
        };
        (0..count).map(|_| batch()).collect()
    }

    #[test]
    fn the_true_layout_has_the_best_score() {
        for (chunk_bytes, members) in [(4096, 2), (65_536, 3), (1 << 20, 5), (16 << 20, 16), (131_072, 12)] {
            let truth = Layout { chunk_bytes, members };
            let scores = scores(&batches(truth, 100), 4096, 1 << 30);
            assert_eq!(Layout::seen(&scores, 6400), Some(truth), "{:?}", &scores[..3]);
        }
    }

    #[test]
    fn a_single_server_is_no_array() {
        let alone = Layout { chunk_bytes: 1 << 30, members: 1 };
        assert_eq!(Layout::seen(&scores(&batches(alone, 100), 4096, 1 << 30), 6400), None);
    }
}
