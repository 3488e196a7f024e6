//! One sequential stream of writes into a space.

use std::collections::VecDeque;

use nandle_io::runtime::Reply;
use nandle_io::{Buffer, BufferMut, Operation};

use super::cluster::{self, HEADER_BYTES, Header};
use super::zones::OpenZone;
use super::{Chain, Space, Stream};
use crate::budget::Grant;
use crate::costs::WriteMemory;
use crate::{Budget, SpillError};

/// Appends clusters to a space, those of several streams one behind the other. Writes carry as many clusters as fit into a
/// buffer, and several are under way.
pub(crate) struct Appender {
    space: Space,
    _grants: Vec<Grant>,
    buffer_clusters: usize,
    zone: Option<OpenZone>,
    filling: Option<Filling>,
    spare: Vec<BufferMut>,
    in_flight: VecDeque<InFlight>,
    pub(crate) written: Written,
}

/// Memory for writes.
pub(crate) struct WriteBuffers {
    grants: Vec<Grant>,
    buffers: Vec<BufferMut>,
    buffer_bytes: usize,
}

impl WriteBuffers {
    pub(crate) fn new(budget: &Budget, memory: WriteMemory) -> Result<Self, SpillError> {
        let WriteMemory { buffer_bytes, buffers } = memory;
        // Each by itself: a buffer can be filled again when no other handle to its memory is left.
        let all = (0..buffers).map(|_| budget.buffer("writing temporary data", buffer_bytes));
        let (grants, buffers) = all.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Ok(Self { grants, buffers, buffer_bytes })
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

struct Filling {
    buffer: BufferMut,
    /// The first cluster in the buffer.
    first: u64,
    /// Clusters in it that are sealed.
    sealed: usize,
}

struct InFlight {
    reply: Reply,
    /// All of the buffer of which the beginning is written.
    whole: Buffer,
}

impl Appender {
    /// Writes from these buffers, each of which has room for a cluster.
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
            written: Written::default(),
        }
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    /// A new stream.
    pub(crate) fn begin_stream(&self) -> Stream {
        Stream::new(self.space.inner.area.next_stream())
    }

    /// A new chain, of which so many clusters can be read at once.
    pub(crate) fn begin_chain(&self, reach: usize) -> Chain {
        Chain::new(self.space.inner.area.next_stream(), reach)
    }

    /// Waits until there is a place for the next cluster.
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
        self.filling = Some(Filling { buffer, first, sealed: 0 });
        Ok(())
    }

    /// The place for what the next cluster holds. There is one after [`Self::ready`].
    pub(crate) fn slot(&mut self) -> &mut [u8] {
        let cluster_bytes = self.space.cluster_bytes();
        let Some(Filling { buffer, sealed, .. }) = &mut self.filling else {
            unreachable!("a cluster is filled after there is a place for it")
        };
        let start = *sealed * cluster_bytes;
        let Some(slot) = buffer.get_mut(start + HEADER_BYTES..start + cluster_bytes) else {
            unreachable!("a buffer that is full is sent")
        };
        slot
    }

    /// The slot holds `used` bytes and is the stream's next cluster.
    pub(crate) fn seal(&mut self, stream: &mut Stream, tag: u64, used: usize) {
        let cluster = self.seal_as(stream.number(), stream.clusters(), tag, used);
        stream.push(cluster);
    }

    /// The slot holds `used` bytes and is the chain's next cluster.
    pub(crate) fn seal_link(&mut self, chain: &mut Chain, used: usize) {
        let cluster = self.seal_as(chain.number(), chain.clusters(), chain.link(), used);
        chain.push(cluster);
    }

    /// Returns where the cluster lies.
    fn seal_as(&mut self, stream: u32, position: u32, tag: u64, used: usize) -> u64 {
        let cluster_bytes = self.space.cluster_bytes();
        let salt = self.space.salt();
        let (Some(Filling { buffer, first, sealed }), Some(open)) = (&mut self.filling, &mut self.zone)
        else {
            unreachable!("a cluster is filled after there is a place for it")
        };
        let cluster = *first + *sealed as u64;
        let start = *sealed * cluster_bytes;
        let Some(bytes) = buffer.get_mut(start..start + cluster_bytes) else {
            unreachable!("a buffer that is full is sent")
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

    /// Sends what is sealed on its way.
    fn send(&mut self) {
        let Some(Filling { buffer, first, sealed }) = self.filling.take() else { return };
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
        self.in_flight.push_back(InFlight { reply, whole });
    }

    /// Sends what is there, and waits until all is written.
    pub(crate) async fn drain(&mut self) -> Result<(), SpillError> {
        self.send();
        while !self.in_flight.is_empty() {
            let buffer = self.oldest_written().await?;
            self.spare.push(buffer);
        }
        Ok(())
    }

    /// Waits for the oldest write. Its buffer is free again.
    async fn oldest_written(&mut self) -> Result<BufferMut, SpillError> {
        let Some(InFlight { reply, whole }) = self.in_flight.pop_front() else {
            unreachable!("a buffer is spare, is filled, or is in flight")
        };
        reply.await.result?;
        let Ok(buffer) = whole.thaw() else {
            unreachable!("a completed write leaves the only handle to its buffer")
        };
        Ok(buffer)
    }

    /// Where the next cluster goes; `None`: the space is full.
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
    /// Another one may append to the rest of the zone.
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
