//! Sorted sources become one.

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

/// How a sort will be merged, and what that takes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MergePlan {
    /// What one request reads.
    pub cluster_bytes: usize,
    /// Clusters that are there or on their way, beside one for each run.
    pub read_ahead: usize,
    /// Runs merged at once, at most.
    pub fan_in: usize,
    /// Bytes of runs that are read, in all merges.
    pub read_bytes: u64,
    /// Bytes that merges before the last one write.
    pub written_bytes: u64,
    /// What the device needs for both, in seconds.
    pub seconds: f64,
}

/// A sorted sequence of rows in a space.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// One behind the other.
    pub(crate) streams: Vec<Stream>,
    /// Of those that begin in the first cluster so many come before its own.
    pub(crate) skipped: u64,
    pub(crate) rows: u64,
    /// The longest row, which a merge may have to put together.
    pub(crate) row_bytes_max: usize,
}

impl Run {
    pub(crate) fn clusters(&self) -> u64 {
        self.streams.iter().map(|stream| u64::from(stream.clusters())).sum()
    }

    /// Of all its rows, where it isn't a part of another.
    pub(crate) fn totals(&self) -> Totals {
        self.streams.iter().fold(Totals::default(), |sum, stream| sum.plus(stream.totals))
    }
}

/// Merges sources in the order of their rows; rows with equal keys in the order of the sources.
pub(crate) struct Merge {
    sources: Vec<Source>,
    tree: Tree,
    feed: Option<Feed>,
    present: Option<usize>,
}

impl Merge {
    /// Of runs, whose clusters are given back as they are read, or not.
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

    /// Of what is in memory.
    pub(crate) fn of_memory(sources: Vec<Source>) -> Self {
        Self { tree: Tree::new(sources.len()), sources, feed: None, present: None }
    }

    /// Goes on to the next row; false: there is none.
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

    /// The present row.
    pub(crate) fn row(&self) -> Row<'_> {
        let source = self.present.and_then(|source| self.sources.get(source));
        let Some(source) = source else { unreachable!("there is a row after `advance` said so") };
        source.row()
    }

    /// Whether the present row's key is that of the row before.
    pub(crate) fn is_equal(&self) -> bool {
        self.present.is_some_and(|source| self.tree.code(source) == Code::EQUAL)
    }

    /// The memory of rows that were in one.
    pub(crate) fn into_workspace(self) -> Option<Workspace> {
        match <[Source; 1]>::try_from(self.sources) {
            Ok([Source::Memory(rows)]) => Some(rows.into_workspace()),
            _ => None,
        }
    }

    /// Requests that were made.
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
        // What it decoded so far of a row lies apart.
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
