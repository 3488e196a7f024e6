//! Cuts runs at a key, so that the rows before and behind it can be merged independently.
//!
//! A binary search over the first keys of clusters finds the cluster in each run. The [cluster
//! head](crate::rows::cluster_head) holds the number of rows and bytes before the cluster. Rows
//! inside the cluster are counted one by one.

use std::ops::Range;

use nandle_io::BufferMut;

use super::{Run, run_overhead_bytes};
use crate::budget::Grant;
use crate::rows::cluster_head::{ClusterHead, Totals};
use crate::rows::reader::{RunReader, Step};
use crate::space::Space;
use crate::space::cluster::HEADER_BYTES;
use crate::{Budget, SpillError};

const PURPOSE: &str = "dividing the result";
/// Bytes of a sampled key that are kept, behind the prefix that most keys share. A truncated key is
/// as good a cut as any.
const SAMPLE_BYTES_MAX: usize = 64;

/// Position in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Cut {
    /// First cluster to read for the rows behind the cut.
    from: u32,
    /// Rows that begin in that cluster and lie before the cut.
    skipped: u64,
    /// End of the clusters to read for the rows before the cut.
    to: u32,
    /// Totals of all rows before the cut.
    pub(crate) before: Totals,
}

impl Cut {
    /// Cut behind all rows of the run.
    pub(crate) fn end(run: &Run) -> Self {
        let clusters = u32::try_from(run.clusters()).unwrap_or(u32::MAX);
        Self { from: clusters, skipped: 0, to: clusters, before: run.totals() }
    }

    /// Returns the part of the run between this cut and a later one.
    pub(crate) fn part(self, next: Self, run: &Run) -> Run {
        let streams = pieces(run, self.from..next.to);
        let rows = next.before.minus(self.before).rows;
        Run { streams, skipped: self.skipped, rows, row_bytes_max: run.row_bytes_max }
    }
}

fn pieces(run: &Run, clusters: Range<u32>) -> Vec<crate::space::Stream> {
    let mut start = 0;
    let piece = |stream: &crate::space::Stream| {
        let (from, to) = (clusters.start.saturating_sub(start), clusters.end.saturating_sub(start));
        start += stream.clusters();
        (from < to.min(stream.clusters())).then(|| stream.part(from..to.min(stream.clusters())))
    };
    run.streams.iter().filter_map(piece).collect()
}

/// Reads the clusters that cutting needs.
pub(crate) struct Cutter<'a> {
    space: &'a Space,
    _grants: [Grant; 2],
    /// None while a reader holds the buffer.
    buffer: Option<BufferMut>,
    sample_bytes_max: usize,
    pub(crate) requests: u64,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(
        space: &'a Space,
        budget: &Budget,
        runs: &[Run],
        (samples, common_bytes): (usize, usize),
    ) -> Result<Self, SpillError> {
        let sample_bytes_max = common_bytes + SAMPLE_BYTES_MAX;
        let by_run_bytes = runs.iter().map(run_overhead_bytes).max().unwrap_or_default();
        let grant = budget.count(PURPOSE, by_run_bytes + samples * sample_bytes_max)?;
        let (buffer_grant, buffer) = budget.buffer(PURPOSE, space.cluster_bytes())?;
        Ok(Self {
            space,
            _grants: [grant, buffer_grant],
            buffer: Some(buffer),
            sample_bytes_max,
            requests: 0,
        })
    }

    /// Returns about `count` sampled keys in order. Each run contributes in proportion to its
    /// clusters.
    pub(crate) async fn samples(&mut self, runs: &[Run], count: usize) -> Result<Vec<Vec<u8>>, SpillError> {
        let clusters: u64 = runs.iter().map(Run::clusters).sum();
        let every = (clusters / count as u64).max(1);
        let mut samples = Vec::with_capacity(count);
        let mut next = every / 2;
        for run in runs {
            while next < run.clusters() {
                let at = u32::try_from(next).unwrap_or(u32::MAX);
                let most = self.sample_bytes_max;
                let sample = |key: &[u8]| key.get(..most).unwrap_or(key).to_vec();
                samples.extend(self.first_key(run, at, sample).await?);
                next += every;
            }
            next -= run.clusters();
        }
        samples.sort();
        Ok(samples)
    }

    /// Finds the first row with `key` or a greater key, at or behind another cut.
    pub(crate) async fn cut(&mut self, run: &Run, key: &[u8], behind: Cut) -> Result<Cut, SpillError> {
        let (mut low, mut high) = (behind.from, u32::try_from(run.clusters()).unwrap_or(u32::MAX));
        // Invariant: the last cluster with a smaller first key is below `high`, and not below `low`
        // if one was found.
        let mut is_found = false;
        while low < high {
            let middle = low + (high - low) / 2;
            let is_less = self.first_key(run, middle, |first| first < key).await?;
            if is_less == Some(true) {
                (low, is_found) = (middle + 1, true);
            } else {
                high = middle;
            }
        }
        if is_found { self.count_in(run, low - 1, key).await } else { Ok(behind) }
    }

    /// Counts the rows of a cluster that come before the key.
    async fn count_in(&mut self, run: &Run, from: u32, key: &[u8]) -> Result<Cut, SpillError> {
        let mut reader = RunReader::new(0, u64::MAX, run.row_bytes_max);
        let mut at = from;
        let head = self.give(run, at, &mut reader).await?;
        let start = totals_before(run, from).plus(head.before);
        let rows_left = run.totals().rows - start.rows;
        let mut skipped = Totals::default();
        while skipped.rows < rows_left {
            match reader.step().map_err(|what| self.damaged(run, at, what))? {
                Step::Row(_) if reader.key() >= key => break,
                Step::Row(_) => skipped.add(reader.key().len(), reader.row().payload.len()),
                Step::NeedsCluster => {
                    self.buffer = reader.take_cluster();
                    at += 1;
                    self.give(run, at, &mut reader).await?;
                }
                Step::End => unreachable!("the reader has no row limit"),
            }
        }
        self.buffer = reader.take_cluster();
        Ok(Cut { from, skipped: skipped.rows, to: at + 1, before: start.plus(skipped) })
    }

    /// Applies `ask` to the key of the first row that begins in cluster `at` or later. Returns none
    /// if no row begins there.
    async fn first_key<T>(
        &mut self,
        run: &Run,
        mut at: u32,
        ask: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, SpillError> {
        let mut reader = RunReader::new(0, u64::MAX, run.row_bytes_max);
        let mut has_begun = false;
        while u64::from(at) < run.clusters() {
            let (buffer, used, head) = self.read(run, at).await?;
            if !has_begun && head.first_row.is_none() {
                self.buffer = Some(buffer);
                at += 1;
                continue;
            }
            has_begun = true;
            _ = reader.give(buffer, used).map_err(|what| self.damaged(run, at, what))?;
            let step = reader.step().map_err(|what| self.damaged(run, at, what))?;
            self.buffer = reader.take_cluster();
            if matches!(step, Step::Row(_)) {
                return Ok(Some(ask(reader.key())));
            }
            at += 1;
        }
        Ok(None)
    }

    async fn give(&mut self, run: &Run, at: u32, reader: &mut RunReader) -> Result<ClusterHead, SpillError> {
        let (buffer, used, head) = self.read(run, at).await?;
        _ = reader.give(buffer, used).map_err(|what| self.damaged(run, at, what))?;
        Ok(head)
    }

    async fn read(&mut self, run: &Run, at: u32) -> Result<(BufferMut, usize, ClusterHead), SpillError> {
        let header =
            pieces(run, at..at + 1).first().and_then(|piece| piece.headers(self.space.salt()).next());
        let Some(header) = header else {
            return Err(self.damaged(run, at, "a run has fewer clusters than its rows need"));
        };
        let Some(buffer) = self.buffer.take() else { unreachable!("a reader gives its cluster back") };
        self.requests += 1;
        let completion = self.space.read(header.cluster, buffer).await;
        completion.result?;
        let Some(buffer) = completion.operation.into_read_buffer() else {
            unreachable!("a completion has its request's buffer")
        };
        let (_, used) = self.space.check(&header, &buffer)?;
        let body = buffer.get(HEADER_BYTES..HEADER_BYTES + used).unwrap_or_default();
        let head = ClusterHead::decode(body).map_err(|what| self.damaged(run, at, what))?;
        Ok((buffer, used, head))
    }

    fn damaged(&self, run: &Run, at: u32, what: &'static str) -> SpillError {
        let header =
            pieces(run, at..at + 1).first().and_then(|piece| piece.headers(self.space.salt()).next());
        let offset_bytes = header.map_or(0, |header| self.space.offset_of(header.cluster));
        SpillError::Damaged { offset_bytes, what }
    }
}

/// Totals of the streams in front of the stream that holds the cluster.
fn totals_before(run: &Run, cluster: u32) -> Totals {
    let mut start = 0;
    let mut before = Totals::default();
    for stream in &run.streams {
        start += stream.clusters();
        if cluster < start {
            break;
        }
        before = before.plus(stream.totals);
    }
    before
}
