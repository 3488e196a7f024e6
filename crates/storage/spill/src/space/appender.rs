//! Sequential writer of clusters.

use std::collections::VecDeque;

use nandle_io::runtime::Reply;
use nandle_io::{Buffer, BufferMut, Operation};

use super::cluster::{self, HEADER_BYTES, Header};
use super::zones::OpenZone;
use super::{Chain, Space, Stream};
use crate::budget::Grant;
use crate::costs::WriteMemory;
use crate::{Budget, SpillError};

/// Appends clusters of several streams to a space, in one sequence. A write carries as many
/// clusters as fit into a buffer, and several writes are outstanding.
pub(crate) struct Appender {
    space: Space,
    _grants: Vec<Grant>,
    buffer_clusters: usize,
    zone: Option<OpenZone>,
    filling: Option<OpenBuffer>,
    spare: Vec<BufferMut>,
    in_flight: VecDeque<PendingWrite>,
    pub(crate) written: WriteCounts,
}

/// Buffers for writes.
pub(crate) struct WriteBuffers {
    grants: Vec<Grant>,
    buffers: Vec<BufferMut>,
    buffer_bytes: usize,
}

impl WriteBuffers {
    pub(crate) fn new(budget: &Budget, memory: WriteMemory) -> Result<Self, SpillError> {
        let WriteMemory { buffer_bytes, buffers } = memory;
        // Allocated one by one: a buffer can be reused once no other handle to its memory is left.
        let all = (0..buffers).map(|_| budget.buffer("writing temporary data", buffer_bytes));
        let (grants, buffers) = all.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Ok(Self { grants, buffers, buffer_bytes })
    }
}

/// Number and bytes of writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct WriteCounts {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

struct OpenBuffer {
    buffer: BufferMut,
    /// Number of the first cluster in the buffer.
    first: u64,
    /// Sealed clusters in the buffer.
    sealed: usize,
}

struct PendingWrite {
    reply: Reply,
    /// The whole buffer; a prefix of it is being written.
    whole: Buffer,
}

impl Appender {
    /// Creates an appender. Each buffer must have room for a cluster.
    pub(crate) fn new(space: &Space, buffers: WriteBuffers) -> Self {
        let WriteBuffers { grants, buffers, buffer_bytes } = buffers;
        debug_assert!(buffer_bytes >= space.cluster_bytes(), "a buffer holds a cluster");
        Self {
            space: space.clone(),
            _grants: grants,
            buffer_clusters: buffer_bytes / space.cluster_bytes(),
            zone: None,
            filling: None,
            spare: buffers,
            in_flight: VecDeque::new(),
            written: WriteCounts::default(),
        }
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    /// Starts a new stream.
    pub(crate) fn begin_stream(&self) -> Stream {
        Stream::new(self.space.inner.area.next_stream())
    }

    /// Starts a new chain; `reach` of its clusters can be read at once.
    pub(crate) fn begin_chain(&self, reach: usize) -> Chain {
        Chain::new(self.space.inner.area.next_stream(), reach)
    }

    /// Waits until there is a slot for the next cluster.
    pub(crate) async fn ready(&mut self) -> Result<(), SpillError> {
        if self.filling.is_some() {
            return Ok(());
        }
        let buffer = match self.spare.pop() {
            Some(buffer) => buffer,
            None => self.oldest_written().await?,
        };
        let Some(first) = self.next_cluster() else {
            self.spare.push(buffer);
            return Err(self.space.full());
        };
        self.filling = Some(OpenBuffer { buffer, first, sealed: 0 });
        Ok(())
    }

    /// Slot for the contents of the next cluster. Call [`Self::ready`] first.
    pub(crate) fn slot(&mut self) -> &mut [u8] {
        let cluster_bytes = self.space.cluster_bytes();
        let Some(OpenBuffer { buffer, sealed, .. }) = &mut self.filling else {
            unreachable!("`ready` provides a slot")
        };
        let start = *sealed * cluster_bytes;
        let Some(slot) = buffer.get_mut(start + HEADER_BYTES..start + cluster_bytes) else {
            unreachable!("a full buffer has been sent")
        };
        slot
    }

    /// Appends the slot, with `used` bytes of contents, to a stream.
    pub(crate) fn seal(&mut self, stream: &mut Stream, tag: u64, used: usize) {
        let cluster = self.seal_as(stream.number(), stream.clusters(), tag, used);
        stream.push(cluster);
    }

    /// Appends the slot, with `used` bytes of contents, to a chain.
    pub(crate) fn seal_link(&mut self, chain: &mut Chain, used: usize) {
        let cluster = self.seal_as(chain.number(), chain.clusters(), chain.link(), used);
        chain.push(cluster);
    }

    /// Seals the slot. Returns the number of the cluster.
    fn seal_as(&mut self, stream: u32, position: u32, tag: u64, used: usize) -> u64 {
        let cluster_bytes = self.space.cluster_bytes();
        let salt = self.space.salt();
        let (Some(OpenBuffer { buffer, first, sealed }), Some(open)) = (&mut self.filling, &mut self.zone)
        else {
            unreachable!("`ready` provides a slot")
        };
        let cluster = *first + *sealed as u64;
        let start = *sealed * cluster_bytes;
        let Some(bytes) = buffer.get_mut(start..start + cluster_bytes) else {
            unreachable!("a full buffer has been sent")
        };
        cluster::seal(&Header { salt, cluster, stream, position }, tag, used, bytes);
        self.space.inner.area.zones.hold(open.zone);
        *sealed += 1;
        open.next += 1;
        let is_full = *sealed == self.buffer_clusters || open.next == self.space.inner.area.zones.clusters();
        if is_full {
            self.send();
        }
        cluster
    }

    /// Submits a write of the sealed clusters.
    fn send(&mut self) {
        let Some(OpenBuffer { buffer, first, sealed }) = self.filling.take() else { return };
        if sealed == 0 {
            self.spare.push(buffer);
            return;
        }
        let bytes = sealed * self.space.cluster_bytes();
        let whole = buffer.freeze();
        let operation = Operation::write(self.space.offset_of(first), whole.slice(0..bytes));
        self.written.requests += 1;
        self.written.bytes += bytes as u64;
        let reply = self.space.inner.device.request(operation);
        self.in_flight.push_back(PendingWrite { reply, whole });
    }

    /// Submits the sealed clusters, and waits for all writes.
    pub(crate) async fn drain(&mut self) -> Result<(), SpillError> {
        self.send();
        while !self.in_flight.is_empty() {
            let buffer = self.oldest_written().await?;
            self.spare.push(buffer);
        }
        Ok(())
    }

    /// Waits for the oldest write, and returns its buffer.
    async fn oldest_written(&mut self) -> Result<BufferMut, SpillError> {
        let Some(PendingWrite { reply, whole }) = self.in_flight.pop_front() else {
            unreachable!("a buffer is spare, is filled, or is in flight")
        };
        reply.await.result?;
        let Ok(buffer) = whole.thaw() else {
            unreachable!("a completed write leaves the only handle to its buffer")
        };
        Ok(buffer)
    }

    /// Returns the number of the next cluster; none if the space is full.
    fn next_cluster(&mut self) -> Option<u64> {
        let zones = &self.space.inner.area.zones;
        if let Some(open) = &self.zone
            && open.next == zones.clusters()
        {
            let zone = open.zone;
            self.zone = None;
            if let Some(zone) = self.space.inner.area.zones.leave(zone) {
                self.space.discard(zone);
            }
        }
        let zones = &self.space.inner.area.zones;
        if self.zone.is_none() {
            self.zone = Some(self.space.inner.area.take_zone()?);
        }
        self.zone.as_ref().map(|open| open.zone * zones.clusters() + open.next)
    }
}

impl Drop for Appender {
    /// Leaves the rest of the zone to other appenders.
    fn drop(&mut self) {
        let Some(open) = self.zone.take() else { return };
        let area = &self.space.inner.area;
        if open.next < area.zones.clusters() {
            area.begun().push(open);
        } else if let Some(zone) = area.zones.leave(open.zone) {
            self.space.discard(zone);
        }
    }
}
