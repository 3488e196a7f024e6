//! Temporary space: clusters are appended in sequential streams, read at random, and freed in whole
//! zones.
//!
//! Nothing on it is durable or outlives its operator. The space therefore needs no recovery, and an
//! unnamed file leaves nothing behind. A [cluster](cluster) is the unit of reading; a write carries
//! as many as fit into a buffer.

mod appender;
mod chain;
pub(crate) mod cluster;
mod stream;
mod zones;

use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nandle_io::runtime::{AsyncDevice, Handle, Reply};
use nandle_io::{BufferMut, DeviceId, Operation, Shape};

pub(crate) use self::appender::{Appender, WriteBuffers, WriteCounts};
pub(crate) use self::chain::{AfterReading, Chain, ChainReader};
use self::cluster::{HEADER_BYTES, Header};
pub(crate) use self::stream::Stream;
use self::zones::{OpenZone, ZoneAllocator};
use crate::SpillError;

/// Location of temporary space: a device or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Device in the runtime's world.
    pub device: DeviceId,
    /// Start of the part, in bytes; a multiple of the device's logical block.
    pub start_bytes: u64,
    /// Maximum length of the part, in bytes.
    pub length_bytes: u64,
    /// A number that no earlier user of the same part had. It distinguishes clusters of this space
    /// from stale ones.
    pub salt: u64,
    /// True to discard freed zones, if the device supports it.
    pub discards: bool,
}

/// Lengths of clusters and zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) cluster_bytes: usize,
    pub(crate) zone_bytes: u64,
}

/// State of a space, shared by all threads that use it.
#[derive(Debug)]
pub(crate) struct Area {
    place: Place,
    division: Division,
    zones: ZoneAllocator,
    /// Zones with room left that no appender uses.
    begun: Mutex<Vec<OpenZone>>,
    next_stream: AtomicU32,
}

impl Area {
    /// Divides a place on a device with this shape.
    pub(crate) fn new(shape: &Shape, place: Place, division: Division) -> Result<Arc<Self>, SpillError> {
        check(shape, place, division)?;
        let clusters = division.zone_bytes / division.cluster_bytes as u64;
        let zones = ZoneAllocator::new(place.length_bytes / division.zone_bytes, clusters);
        Ok(Arc::new(Self { place, division, zones, begun: Mutex::default(), next_stream: AtomicU32::new(0) }))
    }

    /// Takes a zone with room, held by the caller. Returns none if the space is full.
    fn take_zone(&self) -> Option<OpenZone> {
        let begun = self.begun().pop();
        begun.or_else(|| self.zones.take().map(|zone| OpenZone { zone, next: 0 }))
    }

    fn begun(&self) -> MutexGuard<'_, Vec<OpenZone>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_stream(&self) -> u32 {
        self.next_stream.fetch_add(1, Ordering::Relaxed)
    }
}

/// A space as used in one world. A clone is another handle to it.
#[derive(Clone)]
pub(crate) struct Space {
    inner: Rc<Inner>,
}

struct Inner {
    handle: Handle,
    device: AsyncDevice,
    shape: Shape,
    area: Arc<Area>,
}

impl Space {
    /// Opens a place that nothing else uses.
    pub(crate) fn new(handle: &Handle, place: Place, division: Division) -> Result<Self, SpillError> {
        Self::of(handle, Area::new(&Self::shape(handle, place)?, place, division)?)
    }

    /// Opens a place that other threads may use, too, each in its own world with the same device.
    pub(crate) fn of(handle: &Handle, area: Arc<Area>) -> Result<Self, SpillError> {
        let device = handle.device(area.place.device);
        let shape = Self::shape(handle, area.place)?;
        Ok(Self { inner: Rc::new(Inner { handle: handle.clone(), device, shape, area }) })
    }

    /// Shape of the device of a place.
    pub(crate) fn shape(handle: &Handle, place: Place) -> Result<Shape, SpillError> {
        handle.device(place.device).shape().ok_or_else(|| SpillError::Options {
            what: "the temporary space's device",
            got: format!("number {}", place.device.index()),
            expected: "the world has no such device".to_owned(),
        })
    }

    pub(crate) fn cluster_bytes(&self) -> usize {
        self.inner.area.division.cluster_bytes
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.inner.handle
    }

    pub(crate) fn offset_of(&self, cluster: u64) -> u64 {
        self.inner.area.place.start_bytes + cluster * self.cluster_bytes() as u64
    }

    /// Starts to read a cluster.
    pub(crate) fn read(&self, cluster: u64, into: BufferMut) -> Reply {
        debug_assert_eq!(into.len(), self.cluster_bytes(), "a buffer for a cluster");
        self.inner.device.request(Operation::read(self.offset_of(cluster), into))
    }

    /// Checks a cluster that was read. Returns its tag and the number of bytes used.
    pub(crate) fn check(&self, expected: &Header, bytes: &[u8]) -> Result<(u64, usize), SpillError> {
        let damaged = |what| SpillError::Damaged { offset_bytes: self.offset_of(expected.cluster), what };
        cluster::check(expected, bytes).map_err(damaged)
    }

    pub(crate) fn salt(&self) -> u64 {
        self.inner.area.place.salt
    }

    /// Releases a cluster.
    pub(crate) fn release(&self, cluster: u64) {
        if let Some(zone) = self.inner.area.zones.release(cluster) {
            self.discard(zone);
        }
    }

    /// Discards a free zone in the background, if enabled.
    fn discard(&self, zone: u64) {
        let Inner { device, shape, area, .. } = &*self.inner;
        if !area.place.discards || !shape.discards {
            area.zones.free(zone);
            return;
        }
        let zone_bytes = area.division.zone_bytes;
        let discarded = device.discard(area.place.start_bytes + zone * zone_bytes, zone_bytes);
        let area = Arc::clone(area);
        self.inner.handle.spawn_named("temporary space: discarding", async move {
            // A discard is a hint: failure has no effect.
            _ = discarded.await;
            area.zones.free(zone);
        });
    }

    fn full(&self) -> SpillError {
        let space_bytes = self.inner.area.place.length_bytes;
        SpillError::Full { needed_bytes: space_bytes + self.inner.area.division.zone_bytes, space_bytes }
    }
}

fn check(shape: &Shape, place: Place, division: Division) -> Result<(), SpillError> {
    let block_bytes = shape.logical_block_bytes;
    let options = |what, got: u64, expected: String| {
        Err(SpillError::Options { what, got: format!("{got} bytes"), expected })
    };
    let Division { cluster_bytes, zone_bytes } = division;
    if !shape.writable {
        return options("the temporary space's device", 0, "it was opened for reading".to_owned());
    }
    if cluster_bytes <= HEADER_BYTES || !(cluster_bytes as u64).is_multiple_of(block_bytes) {
        let expected = format!("it is a multiple of the device's logical block, {block_bytes} bytes");
        return options("the cluster", cluster_bytes as u64, expected);
    }
    if cluster_bytes as u64 > shape.largest_transfer_bytes {
        let expected = format!("the device's longest request has {} bytes", shape.largest_transfer_bytes);
        return options("the cluster", cluster_bytes as u64, expected);
    }
    if !place.start_bytes.is_multiple_of(block_bytes) {
        let expected = format!("it is a multiple of the device's logical block, {block_bytes} bytes");
        return options("the start of the temporary space", place.start_bytes, expected);
    }
    if place.start_bytes.saturating_add(place.length_bytes) > shape.capacity_bytes {
        let expected = format!("the device has {} bytes", shape.capacity_bytes);
        return options(
            "the end of the temporary space",
            place.start_bytes.saturating_add(place.length_bytes),
            expected,
        );
    }
    if place.length_bytes < zone_bytes {
        return options(
            "the temporary space",
            place.length_bytes,
            format!("at least one zone of {zone_bytes} bytes"),
        );
    }
    Ok(())
}
