//! Runs as they are made and merged.

use std::rc::Rc;

use crate::SpillError;
use crate::merge::{Merge, Rows, Run, Source, Tags};
use crate::rows::writer::RunWriter;
use crate::space::{Appender, Stream};

/// How a new run lies to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    /// It overlaps with it.
    Apart,
    /// It begins where the other ends.
    Behind,
    /// It ends where the other begins.
    InFront,
}

/// A run that was written.
pub(super) struct WrittenRun {
    pub(super) appender: Appender,
    pub(super) run: Run,
    pub(super) read_requests: u64,
}

/// Writes rows as a run, or as the continuation of a stream.
pub(super) async fn write_run(
    mut appender: Appender,
    tags: Rc<Tags>,
    mut rows: Rows,
    stream: Option<Stream>,
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
    Ok(WrittenRun { appender, run, read_requests: rows.read_requests() })
}

/// The least and the greatest key of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Edges {
    pub(super) first: Vec<u8>,
    pub(super) last: Vec<u8>,
}

impl Edges {
    /// How a run with these edges lies to the one before it, if rows with equal keys are to keep their order.
    pub(super) fn after(&self, before: &Self) -> Joined {
        if before.last <= self.first {
            Joined::Behind
        } else if self.last < before.first {
            Joined::InFront
        } else {
            Joined::Apart
        }
    }
}

/// All runs of a sort, in the order in which their rows came.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) all: Vec<Run>,
    /// Of the last one.
    edges: Option<Edges>,
    /// How many there were before they were joined.
    pub(super) made: u64,
}

impl Runs {
    /// A run is to come; it may continue the last one, if its edges are known.
    pub(super) fn expect(&mut self, edges: Option<Edges>) -> Joined {
        let Some(edges) = edges else {
            self.close();
            return Joined::Apart;
        };
        let joined = self.edges.as_ref().map_or(Joined::Apart, |before| edges.after(before));
        match (joined, &mut self.edges) {
            (Joined::Behind, Some(before)) => before.last = edges.last,
            (Joined::InFront, Some(before)) => before.first = edges.first,
            _ => self.edges = Some(edges),
        }
        joined
    }

    /// It has come.
    pub(super) fn add(&mut self, run: Run, joined: Joined) {
        self.made += 1;
        let last = match joined {
            Joined::Apart => None,
            Joined::Behind | Joined::InFront => self.all.last_mut(),
        };
        let Some(last) = last else {
            self.all.push(run);
            return;
        };
        let at = if joined == Joined::Behind { last.streams.len() } else { 0 };
        last.streams.splice(at..at, run.streams);
        last.rows += run.rows;
        last.row_bytes_max = last.row_bytes_max.max(run.row_bytes_max);
    }

    /// Puts one in that others were merged to.
    pub(super) fn insert(&mut self, position: usize, run: Run) {
        self.all.insert(position, run);
    }

    /// Their lengths, in clusters.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.all.iter().map(Run::clusters).collect()
    }

    /// The stream that a run continues which is joined behind the last one.
    pub(super) fn take_last_stream(&mut self, joined: Joined) -> Option<Stream> {
        match joined {
            Joined::Behind => self.all.last_mut()?.streams.pop(),
            Joined::Apart | Joined::InFront => None,
        }
    }

    /// No run that is to come is joined to the last one.
    pub(super) fn close(&mut self) {
        self.edges = None;
    }

    /// Takes some out, to be merged.
    pub(super) fn take(&mut self, positions: &[usize]) -> Vec<Run> {
        let mut position = 0;
        self.all
            .extract_if(.., |_| {
                position += 1;
                positions.contains(&(position - 1))
            })
            .collect()
    }

    /// What their lists take in memory.
    pub(super) fn list_bytes(&self) -> usize {
        let streams = self.all.iter().flat_map(|run| &run.streams);
        let edges = self.edges.as_ref().map_or(0, |edges| edges.first.len() + edges.last.len());
        self.all.capacity() * size_of::<Run>() + streams.map(Stream::list_bytes).sum::<usize>() + edges
    }
}

/// A merge of all of these sources in memory.
pub(super) fn of_memory(rows: Vec<super::MemoryRows>) -> Merge {
    Merge::of_memory(rows.into_iter().map(|rows| Source::Memory(Box::new(rows))).collect())
}
