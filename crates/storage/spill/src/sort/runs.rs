//! The runs of a sort, as they are made and merged.

use std::ops::Range;
use std::sync::Arc;

use super::workspace::Workspace;

use crate::SpillError;
use crate::merge::{Merge, Rows, Run, Source, Tags, run_overhead_bytes};
use crate::rows::writer::RunWriter;
use crate::space::{Appender, Stream};

/// A run that has been written.
pub(super) struct WrittenRun {
    pub(super) appender: Appender,
    pub(super) run: Run,
    pub(super) read_requests: u64,
    /// The memory of the rows, if the only source was in memory.
    pub(super) memory: Option<Workspace>,
}

/// Writes rows as a new run, or appends them to a stream. If `drains`, waits until all writes are
/// complete.
pub(super) async fn write_run(
    mut appender: Appender,
    tags: Arc<Tags>,
    mut rows: Rows,
    stream: Option<Stream>,
    drains: bool,
) -> Result<WrittenRun, SpillError> {
    let stream = stream.unwrap_or_else(|| appender.begin_stream());
    let mut writer = RunWriter::new(&mut appender, stream, &tags);
    let mut run = Run::default();
    while let Some(row) = rows.next().await? {
        writer.write(row).await?;
        run.rows += 1;
        run.row_bytes_max = run.row_bytes_max.max(row.key.len() + row.payload.len());
    }
    run.streams.push(writer.finish().await);
    if drains {
        appender.drain().await?;
    }
    Ok(WrittenRun { appender, run, read_requests: rows.read_requests(), memory: rows.into_workspace() })
}

/// First and last key of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    pub(super) first: Vec<u8>,
    pub(super) last: Vec<u8>,
}

/// A run and the rows it covers.
#[derive(Debug)]
pub(super) struct PlacedRun {
    pub(super) run: Run,
    /// Stretches of the input that the run covers.
    pub(super) stretches: Range<u64>,
    /// None if no neighbour can extend the run, or if the keys are long.
    pub(super) edges: Option<Box<Edges>>,
}

/// Order in which two runs of consecutive rows can be joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Adjacency {
    /// It begins where the other run ends.
    Behind,
    /// It ends where the other run begins.
    InFront,
}

impl PlacedRun {
    /// An empty run at `stretch`.
    pub(super) fn empty(stretch: u64) -> Self {
        Self { run: Run::default(), stretches: stretch..stretch, edges: None }
    }

    /// Extends the covered rows by a stretch with these edges.
    pub(super) fn grow(&mut self, stretch: u64, edges: Option<Box<Edges>>) {
        debug_assert_eq!(self.stretches.end, stretch, "the next stretch");
        self.stretches.end = stretch + 1;
        match (&mut self.edges, edges) {
            (Some(before), Some(edges)) => before.last = edges.last,
            (before, edges) => *before = edges,
        }
    }

    /// Adds the rows of a run.
    pub(super) fn add(&mut self, mut run: Run) {
        self.run.streams.append(&mut run.streams);
        self.run.rows += run.rows;
        self.run.row_bytes_max = self.run.row_bytes_max.max(run.row_bytes_max);
    }

    /// Returns true if `next` covers the rows right behind this run's.
    fn is_followed_by(&self, next: &Self) -> bool {
        self.stretches.end == next.stretches.start
    }

    /// Returns how the next run can extend this one without reordering rows with equal keys.
    fn joins(&self, next: &Self) -> Option<Adjacency> {
        let (before, after) = (self.edges.as_ref()?, next.edges.as_ref()?);
        match () {
            () if !self.is_followed_by(next) => None,
            () if before.last <= after.first => Some(Adjacency::Behind),
            () if after.last < before.first => Some(Adjacency::InFront),
            () => None,
        }
    }

    /// Adds the next run to this one.
    fn join(&mut self, mut next: Self, joined: Adjacency) {
        self.stretches.end = next.stretches.end;
        if joined == Adjacency::InFront {
            std::mem::swap(&mut self.run, &mut next.run);
            std::mem::swap(&mut self.edges, &mut next.edges);
        }
        self.add(next.run);
        if let (Some(edges), Some(next)) = (&mut self.edges, next.edges) {
            edges.last = next.last;
        }
    }

    fn list_bytes(&self) -> usize {
        let streams: usize = self.run.streams.iter().map(Stream::list_bytes).sum();
        size_of::<Self>()
            + streams
            + self.edges.as_ref().map_or(0, |edges| size_of::<Edges>() + edges.first.len() + edges.last.len())
    }
}

/// All idle runs of a sort, in the order of the rows they cover. Runs that are being written or
/// merged are not included.
#[derive(Debug, Default)]
pub(super) struct RunList {
    all: Vec<PlacedRun>,
    /// Number of runs written, before any were joined.
    pub(super) made: u64,
}

impl RunList {
    /// Takes out the run that can be extended by rows of `stretch` with these edges, if there is
    /// one.
    pub(super) fn take_continued(&mut self, stretch: u64, edges: Option<&Edges>) -> Option<PlacedRun> {
        let first = &edges?.first;
        let at = self.all.iter().position(|placed| {
            placed.stretches.end == stretch && placed.edges.as_ref().is_some_and(|edges| edges.last <= *first)
        })?;
        Some(self.all.remove(at))
    }

    /// Adds a run, and joins it to its neighbours where one extends the other.
    pub(super) fn insert(&mut self, placed: PlacedRun) {
        if self.all.len() == self.all.capacity() {
            // Grow slowly: the memory for lists is small.
            self.all.reserve_exact(8 + self.all.len() / 8);
        }
        let at = self.all.partition_point(|other| other.stretches.start < placed.stretches.start);
        self.all.insert(at, placed);
        self.join_next(at);
        let before = at.saturating_sub(1);
        if before < at {
            self.join_next(before);
        }
        self.drop_edges(before..at + 2);
    }

    fn join_next(&mut self, at: usize) {
        let [.., one, next] = self.all.get_mut(..at + 2).unwrap_or_default() else { return };
        let Some(joined) = one.joins(next) else { return };
        let next = self.all.remove(at + 1);
        if let Some(one) = self.all.get_mut(at) {
            one.join(next, joined);
        }
    }

    /// Drops the edges of runs with both neighbours present: they can't be extended any more.
    fn drop_edges(&mut self, around: Range<usize>) {
        for at in around {
            let before = at.checked_sub(1).and_then(|before| self.all.get(before));
            let (Some(run), after) = (self.all.get(at), self.all.get(at + 1)) else { return };
            let is_first =
                run.stretches.start == 0 || before.is_some_and(|before| before.is_followed_by(run));
            if is_first
                && after.is_some_and(|after| run.is_followed_by(after))
                && let Some(run) = self.all.get_mut(at)
            {
                run.edges = None;
            }
        }
    }

    /// Lengths of the runs, in clusters. If `in_order`, only of those before the first gap in the
    /// covered rows.
    pub(super) fn lengths(&self, in_order: bool) -> Vec<u64> {
        let gap = self.all.array_windows().position(|[one, next]| !one.is_followed_by(next));
        let count = gap.filter(|_| in_order).map_or(self.all.len(), |gap| gap + 1);
        self.all.iter().take(count).map(|placed| placed.run.clusters()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Takes out runs to be merged. Returns them and the stretches they cover.
    pub(super) fn take(&mut self, positions: &[usize]) -> (Vec<Run>, Range<u64>) {
        let mut position = 0;
        let taken: Vec<PlacedRun> = self
            .all
            .extract_if(.., |_| {
                position += 1;
                positions.contains(&(position - 1))
            })
            .collect();
        self.all.shrink_to_fit();
        let start = taken.first().map_or(0, |first| first.stretches.start);
        let end = taken.last().map_or(0, |last| last.stretches.end);
        (taken.into_iter().map(|placed| placed.run).collect(), start..end)
    }

    /// Takes out all runs.
    pub(super) fn take_all(&mut self) -> Vec<Run> {
        std::mem::take(&mut self.all).into_iter().map(|placed| placed.run).collect()
    }

    /// Returns the largest merge overhead of any run, and the length of the longest row, in bytes.
    pub(super) fn by_run_bytes_max(&self) -> (usize, usize) {
        let runs = || self.all.iter().map(|placed| &placed.run);
        let overhead = runs().map(run_overhead_bytes).max().unwrap_or_default();
        (overhead, runs().map(|run| run.row_bytes_max).max().unwrap_or_default())
    }

    /// Memory of the lists, in bytes.
    pub(super) fn list_bytes(&self) -> usize {
        let spare = self.all.capacity() - self.all.len();
        spare * size_of::<PlacedRun>() + self.all.iter().map(PlacedRun::list_bytes).sum::<usize>()
    }
}

/// Creates a merge of rows in memory.
pub(super) fn of_memory(rows: Vec<super::MemoryRows>) -> Merge {
    Merge::of_memory(rows.into_iter().map(|rows| Source::Memory(Box::new(rows))).collect())
}
