//! Merges sorted sources.

mod cut;
mod feed;
mod order;
mod rows;
mod source;
mod tags;
mod tree;

pub(crate) use self::cut::{Cut, Cutter};
use self::feed::Feed;
pub(crate) use self::feed::run_overhead_bytes;
pub(crate) use self::order::{next_merge, predicted_bytes, shortest};
pub(crate) use self::rows::Rows;
pub(crate) use self::source::Source;
pub(crate) use self::tags::Tags;
use self::tree::Tree;
use crate::rows::Row;
use crate::rows::cluster_head::Totals;
use crate::rows::code::Code;
use crate::rows::reader::{RunReader, Step};
use crate::sort::Workspace;
use crate::space::{AfterReading, Space, Stream};
use crate::{Budget, SpillError};

/// Plan of the merges of a sort, with predicted costs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MergePlan {
    /// Length of a read, in bytes.
    pub cluster_bytes: usize,
    /// Clusters read ahead, in addition to one for each run.
    pub read_ahead: usize,
    /// Maximum number of runs in one merge.
    pub fan_in: usize,
    /// Bytes that all merges read.
    pub read_bytes: u64,
    /// Bytes written by the merges before the last one.
    pub written_bytes: u64,
    /// Predicted device time of all reads and writes, in seconds.
    pub seconds: f64,
}

/// A sorted sequence of rows on temporary space.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// Streams in key order.
    pub(crate) streams: Vec<Stream>,
    /// Rows that begin in the first cluster but precede this run.
    pub(crate) skipped: u64,
    pub(crate) rows: u64,
    /// Length of the longest row; a merge needs a buffer of this size.
    pub(crate) row_bytes_max: usize,
}

impl Run {
    pub(crate) fn clusters(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.clusters())).sum()
    }

    /// Totals of all rows. Not meaningful for a part of a run.
    pub(crate) fn totals(&self) -> Totals {
        self.streams.iter().fold(Totals::default(), |sum, stream| sum.plus(stream.totals))
    }
}

/// Merges sources in key order. Rows with equal keys follow the order of their sources.
pub(crate) struct Merge {
    sources: Vec<Source>,
    tree: Tree,
    feed: Option<Feed>,
    present: Option<usize>,
}

impl Merge {
    /// Creates a merge of runs; `after` tells if clusters are released as they are read.
    pub(crate) fn of_runs(
        space: &Space,
        budget: &Budget,
        runs: Vec<Run>,
        read_ahead: usize,
        after: AfterReading,
    ) -> Result<Self, SpillError> {
        let sources: Vec<Source> = runs
            .iter()
            .map(|run| Source::Run(RunReader::new(run.skipped, run.rows, run.row_bytes_max)))
            .collect();
        let feed = Feed::new(space, budget, runs, read_ahead, after)?;
        Ok(Self { tree: Tree::new(sources.len()), sources, feed: Some(feed), present: None })
    }

    /// Creates a merge of rows in memory.
    pub(crate) fn of_memory(sources: Vec<Source>) -> Self {
        Self { tree: Tree::new(sources.len()), sources, feed: None, present: None }
    }

    /// Advances to the next row. Returns false at the end.
    pub(crate) async fn advance(&mut self) -> Result<bool, SpillError> {
        match self.present {
            Some(source) => {
                let code = self.step(source).await?;
                self.tree.replay(source, code, &self.sources);
            }
            None => {
                for source in 0..self.sources.len() {
                    let code = self.step(source).await?;
                    self.tree.enter(source, code, &self.sources);
                }
            }
        }
        self.present = self.tree.winner();
        Ok(self.present.is_some_and(|source| self.tree.code(source) != Code::END))
    }

    /// The current row.
    pub(crate) fn row(&self) -> Row<'_> {
        let source = self.present.and_then(|source| self.sources.get(source));
        let Some(source) = source else { unreachable!("`advance` returned true") };
        source.row()
    }

    /// Returns true if the current row has the same key as the row before.
    pub(crate) fn is_equal(&self) -> bool {
        self.present.is_some_and(|source| self.tree.code(source) == Code::EQUAL)
    }

    /// Returns the memory of the rows, if the only source was in memory.
    pub(crate) fn into_workspace(self) -> Option<Workspace> {
        match <[Source; 1]>::try_from(self.sources) {
            Ok([Source::Memory(rows)]) => Some(rows.into_workspace()),
            _ => None,
        }
    }

    /// Read requests so far.
    pub(crate) fn read_requests(&self) -> u64 {
        self.feed.as_ref().map_or(0, |feed| feed.requests)
    }

    async fn step(&mut self, source: usize) -> Result<Code, SpillError> {
        loop {
            let Some(reader) = self.sources.get_mut(source) else { unreachable!("{source} is a source") };
            let run = match reader {
                Source::Memory(rows) => return Ok(rows.step()),
                Source::Run(run) => run,
            };
            let step = run.step().map_err(|what| self.damaged(source, what))?;
            match step {
                Step::Row(code) => return Ok(code),
                Step::End => return Ok(self.end(source)),
                Step::NeedsCluster => self.feed_source(source).await?,
            }
        }
    }

    async fn feed_source(&mut self, source: usize) -> Result<(), SpillError> {
        let (Some(Source::Run(run)), Some(feed)) = (self.sources.get_mut(source), &mut self.feed) else {
            unreachable!("runs have a feed")
        };
        // The reader keeps the decoded part of a row that crosses clusters.
        let exhausted = run.take_cluster();
        let (buffer, used) = feed.next(source, exhausted).await?;
        let given = run.give(buffer, used);
        given.map(drop).map_err(|what| self.damaged(source, what))
    }

    fn end(&mut self, source: usize) -> Code {
        if let (Some(Source::Run(run)), Some(feed)) = (self.sources.get_mut(source), &mut self.feed)
            && let Some(buffer) = run.take_cluster()
        {
            feed.give_back(buffer);
        }
        Code::END
    }

    fn damaged(&self, source: usize, what: &'static str) -> SpillError {
        let offset_bytes = self.feed.as_ref().map_or(0, |feed| feed.last_offset_bytes(source));
        SpillError::Damaged { offset_bytes, what }
    }
}
