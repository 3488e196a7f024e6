//! Streams in constant memory, read from the end to the beginning.
//!
//! The tag of each cluster holds the number of the cluster `reach` positions before it. A chain
//! therefore stores only its last `reach` cluster numbers, however long it grows. Up to `reach`
//! reads can be outstanding, because each cluster that arrives reveals one more.

use std::collections::VecDeque;

use nandle_io::BufferMut;
use nandle_io::runtime::Reply;

use super::Space;
use super::cluster::Header;
use crate::SpillError;

/// Link of the first `reach` clusters.
const NONE: u64 = u64::MAX;

/// A sequence of clusters appended to a space.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    number: u32,
    clusters: u32,
    reach: usize,
    /// Numbers of the last clusters, at most `reach`, oldest first.
    last: VecDeque<u64>,
}

impl Chain {
    pub(super) fn new(number: u32, reach: usize) -> Self {
        debug_assert!(reach > 0, "a chain links its clusters");
        Self { number, clusters: 0, reach, last: VecDeque::with_capacity(reach) }
    }

    /// Heap memory of a chain, in bytes.
    pub(crate) fn list_bytes(reach: usize) -> usize {
        reach * size_of::<u64>()
    }

    pub(crate) fn reach(&self) -> usize {
        self.reach
    }

    pub(crate) fn clusters(&self) -> u32 {
        self.clusters
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Link to store in the next cluster: the cluster `reach` positions before it.
    pub(super) fn link(&self) -> u64 {
        if self.last.len() < self.reach { NONE } else { self.last.front().copied().unwrap_or(NONE) }
    }

    pub(super) fn push(&mut self, cluster: u64) {
        if self.last.len() == self.reach {
            self.last.pop_front();
        }
        self.last.push_back(cluster);
        self.clusters += 1;
    }
}

/// Reads the clusters of a chain from the last to the first, with read-ahead.
pub(crate) struct ChainReader {
    space: Space,
    number: u32,
    reach: u32,
    /// Clusters not yet requested.
    left: u32,
    /// Known numbers of these clusters, the next one last.
    known: VecDeque<u64>,
    in_flight: VecDeque<(Header, Reply)>,
    spare: Vec<BufferMut>,
    after_reading: AfterReading,
    last: Option<Header>,
    pub(crate) requests: u64,
}

/// Disposition of a cluster after reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterReading {
    /// Kept for another read.
    Keep,
    /// Released for reuse.
    Release,
}

impl ChainReader {
    /// Memory besides the buffers, in bytes.
    pub(crate) fn overhead_bytes(reach: usize) -> usize {
        let by_read_bytes = size_of::<(Header, Reply)>() + size_of::<BufferMut>();
        size_of::<Self>() + Chain::list_bytes(reach) + reach * by_read_bytes
    }

    /// Starts to read into `buffers`, at least one. All writes of the chain must be complete.
    /// Clusters are released after reading, unless [`set_after_reading`](Self::set_after_reading)
    /// is called before the first is taken.
    pub(crate) fn new(space: &Space, chain: &Chain, buffers: Vec<BufferMut>) -> Self {
        debug_assert!(!buffers.is_empty(), "a cluster is read into a buffer");
        let Ok(reach) = u32::try_from(chain.reach) else { unreachable!("the reach of a chain fits 32 bits") };
        let mut reader = Self {
            space: space.clone(),
            number: chain.number,
            reach,
            left: chain.clusters,
            known: chain.last.clone(),
            in_flight: VecDeque::new(),
            spare: buffers,
            after_reading: AfterReading::Release,
            last: None,
            requests: 0,
        };
        reader.read_ahead();
        reader
    }

    /// Sets the disposition of the clusters taken from now on.
    pub(crate) fn set_after_reading(&mut self, after_reading: AfterReading) {
        self.after_reading = after_reading;
    }

    /// Returns the next cluster and the number of bytes used, or none at the end. Recycles the
    /// buffer `exhausted`.
    pub(crate) async fn next(
        &mut self,
        exhausted: Option<BufferMut>,
    ) -> Result<Option<(BufferMut, usize)>, SpillError> {
        self.spare.extend(exhausted);
        self.read_ahead();
        let Some((header, reply)) = self.in_flight.pop_front() else {
            debug_assert_eq!(self.left, 0, "all clusters have been read");
            return Ok(None);
        };
        let completion = reply.await;
        completion.result?;
        let Some(buffer) = completion.operation.into_read_buffer() else {
            unreachable!("a completion has its request's buffer")
        };
        let (link, used) = self.space.check(&header, &buffer)?;
        if self.after_reading == AfterReading::Release {
            self.space.release(header.cluster);
        }
        if header.position >= self.reach {
            self.known.push_front(link);
        }
        self.last = Some(header);
        self.read_ahead();
        Ok(Some((buffer, used)))
    }

    fn read_ahead(&mut self) {
        while self.left > 0 && !self.known.is_empty() {
            let Some(buffer) = self.spare.pop() else { return };
            let Some(cluster) = self.known.pop_back() else { return };
            self.left -= 1;
            let header =
                Header { salt: self.space.salt(), cluster, stream: self.number, position: self.left };
            self.requests += 1;
            self.in_flight.push_back((header, self.space.read(cluster, buffer)));
        }
    }

    /// Returns the error for a defect in the cluster read last.
    pub(crate) fn damaged(&self, what: &'static str) -> SpillError {
        let offset_bytes = self.last.map_or(0, |header| self.space.offset_of(header.cluster));
        SpillError::Damaged { offset_bytes, what }
    }

    /// Returns the buffers at the end.
    pub(crate) fn into_buffers(self) -> Vec<BufferMut> {
        debug_assert!(self.in_flight.is_empty(), "all reads have completed");
        self.spare
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_links_each_cluster_to_an_earlier_one() {
        let mut chain = Chain::new(3, 2);
        let mut links = Vec::new();
        for cluster in [5, 9, 6, 20, 8] {
            links.push(chain.link());
            chain.push(cluster);
        }
        assert_eq!(links, [NONE, NONE, 5, 9, 6]);
        assert_eq!((chain.last, chain.clusters), (VecDeque::from([20, 8]), 5));
    }
}
