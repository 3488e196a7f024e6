//! Reads the clusters of runs ahead.
//!
//! The last key of each run's current cluster forecasts which run needs its next cluster first
//! (Knuth, *The Art of Computer Programming* 3, §5.4.9, forecasting). Reads further ahead use
//! extrapolation: each cluster is assumed to span as many keys as the average cluster before it. A
//! wrong forecast only costs time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use nandle_io::BufferMut;
use nandle_io::runtime::Reply;

use super::Run;
use crate::budget::Grant;
use crate::rows::encoding::HEAD_BYTES_MAX;
use crate::rows::reader::RunReader;
use crate::space::cluster::Header;
use crate::space::{AfterReading, Space, Stream};
use crate::{Budget, SpillError};

pub(super) struct Feed {
    space: Space,
    _grants: [Grant; 2],
    after: AfterReading,
    spare: Vec<BufferMut>,
    sources: Vec<FeedSource>,
    /// Forecast of when each run with unread clusters needs another; one valid entry for each run.
    forecasts: BinaryHeap<Reverse<Forecast>>,
    pub(super) requests: u64,
}

struct FeedSource {
    left: Box<dyn Iterator<Item = Header>>,
    in_flight: VecDeque<(Header, Reply)>,
    /// Tags of the first and the latest cluster.
    tags: Option<(u64, u64)>,
    came: u64,
    last: Option<Header>,
    /// Version of the valid forecast; older entries are ignored.
    version: u32,
    is_at_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Forecast {
    tag: u64,
    source: usize,
    version: u32,
}

/// Memory for the reader and feed of a run, and for its outstanding reads.
const FIXED_BYTES: usize = size_of::<FeedSource>() + size_of::<RunReader>() + 256;

/// Memory of a run in a merge besides its cluster, in bytes.
pub(crate) fn run_overhead_bytes(run: &Run) -> usize {
    let lists: usize = run.streams.iter().map(Stream::list_bytes).sum();
    // Its key, and a row that crosses clusters.
    FIXED_BYTES + lists + 2 * run.row_bytes_max + HEAD_BYTES_MAX
}

impl Feed {
    /// Starts to read. Allocates a cluster for each run, and `read_ahead` more.
    pub(super) fn new(
        space: &Space,
        budget: &Budget,
        runs: Vec<Run>,
        read_ahead: usize,
        after: AfterReading,
    ) -> Result<Self, SpillError> {
        let cluster_bytes = space.cluster_bytes();
        let buffers = runs.len() + read_ahead;
        let overhead = budget.count("merging runs", runs.iter().map(run_overhead_bytes).sum())?;
        let (grant, free) = budget.buffers("merging runs", buffers, cluster_bytes)?;
        let sources = runs.into_iter().map(|run| FeedSource::new(run, space.salt())).collect();
        let mut feed = Self {
            space: space.clone(),
            _grants: [overhead, grant],
            after,
            spare: free,
            sources,
            forecasts: BinaryHeap::new(),
            requests: 0,
        };
        for source in 0..feed.sources.len() {
            feed.request(source);
        }
        Ok(feed)
    }

    fn source(&mut self, source: usize) -> &mut FeedSource {
        let Some(source) = self.sources.get_mut(source) else { unreachable!("{source} is a run") };
        source
    }

    /// Starts to read the next cluster of a run. Returns false if there is none.
    fn request(&mut self, source: usize) -> bool {
        let space = self.space.clone();
        let Some(header) = self.source(source).next_header() else { return false };
        let Some(buffer) = self.spare.pop() else {
            unreachable!("a run that needs a cluster has just given one back")
        };
        let reply = space.read(header.cluster, buffer);
        self.requests += 1;
        self.source(source).in_flight.push_back((header, reply));
        true
    }

    /// Waits for the next cluster of a run. Returns it with the number of bytes used. Recycles the
    /// buffer `exhausted`.
    pub(super) async fn next(
        &mut self,
        source: usize,
        exhausted: Option<BufferMut>,
    ) -> Result<(BufferMut, usize), SpillError> {
        self.spare.extend(exhausted);
        if self.source(source).in_flight.is_empty() {
            self.request(source);
        }
        let Some((header, reply)) = self.source(source).in_flight.pop_front() else {
            return Err(SpillError::Damaged {
                offset_bytes: 0,
                what: "a run has fewer rows than were written",
            });
        };
        let completion = reply.await;
        if self.after == AfterReading::Release {
            self.space.release(header.cluster);
        }
        completion.result?;
        let Some(buffer) = completion.operation.into_read_buffer() else {
            unreachable!("a completion has its request's buffer")
        };
        let (tag, used) = self.space.check(&header, &buffer)?;
        self.source(source).arrived(header, tag);
        self.forecast(source);
        self.read_ahead();
        Ok((buffer, used))
    }

    /// Recycles the buffer of a run that has ended.
    pub(super) fn give_back(&mut self, buffer: BufferMut) {
        self.spare.push(buffer);
        self.read_ahead();
    }

    fn read_ahead(&mut self) {
        while !self.spare.is_empty() {
            let Some(Reverse(Forecast { source, version, .. })) = self.forecasts.pop() else { return };
            if self.source(source).version == version && self.request(source) {
                self.forecast(source);
            }
        }
    }

    /// Forecasts when a run needs a cluster beyond those in flight.
    fn forecast(&mut self, source: usize) {
        let of = self.source(source);
        of.version += 1;
        let (version, Some(tag), false) = (of.version, of.forecast(), of.is_at_end) else { return };
        self.forecasts.push(Reverse(Forecast { tag, source, version }));
    }

    /// Offset of the current cluster of a run, in bytes.
    pub(super) fn last_offset_bytes(&self, source: usize) -> u64 {
        let last = self.sources.get(source).and_then(|source| source.last.as_ref());
        last.map_or(0, |header| self.space.offset_of(header.cluster))
    }
}

impl FeedSource {
    fn new(run: Run, salt: u64) -> Self {
        let left = run.streams.into_iter().flat_map(move |stream| stream.headers(salt));
        Self {
            left: Box::new(left),
            in_flight: VecDeque::new(),
            tags: None,
            came: 0,
            last: None,
            version: 0,
            is_at_end: false,
        }
    }

    fn next_header(&mut self) -> Option<Header> {
        let header = self.left.next();
        self.is_at_end = header.is_none();
        header
    }

    fn arrived(&mut self, header: Header, tag: u64) {
        let first = self.tags.map_or(tag, |(first, _)| first);
        self.tags = Some((first, tag));
        self.came += 1;
        self.last = Some(header);
    }

    /// Tag of the last key among the clusters that have arrived or are in flight.
    fn forecast(&self) -> Option<u64> {
        let (first, last) = self.tags?;
        let by_cluster = last.saturating_sub(first) / self.came.max(1);
        Some(last.saturating_add(by_cluster.saturating_mul(self.in_flight.len() as u64)))
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.after == AfterReading::Keep {
            return;
        }
        for source in &mut self.sources {
            let in_flight = source.in_flight.drain(..).map(|(header, _)| header);
            for header in in_flight.chain(source.left.by_ref()) {
                self.space.release(header.cluster);
            }
        }
    }
}
