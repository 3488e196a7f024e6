//! Temporary space: clusters that are appended in sequential streams, read at random, and freed as whole zones.
//!
//! Nothing in it is durable, and nothing is meant to survive its operator: the space needs no recovery, and an unnamed file
//! leaves nothing behind. A [cluster](cluster) is the unit of reading; writes carry as many as fit into a buffer.

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

pub(crate) use self::appender::{Appender, WriteBuffers, Written};
pub(crate) use self::chain::{AfterReading, Chain, ChainReader};
use self::cluster::{HEADER_BYTES, Header};
pub(crate) use self::stream::Stream;
use self::zones::{OpenZone, Zones};
use crate::SpillError;

/// Where temporary data go: a device or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The device, in the runtime's world.
    pub device: DeviceId,
    /// Where the part begins; a multiple of the device's logical block.
    pub start_bytes: u64,
    /// How long it is, at most.
    pub length_bytes: u64,
    /// A number that no earlier user of the same place had: it tells this space's clusters from those that were left
    /// behind.
    pub salt: u64,
    /// Whether freed zones are discarded. Where the device takes none, nothing is.
    pub discards: bool,
}

/// How a space is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Division {
    pub(crate) cluster_bytes: usize,
    pub(crate) zone_bytes: u64,
}

/// What of a place is used, and for what: the same for all threads that use it.
#[derive(Debug)]
pub(crate) struct Area {
    place: Place,
    division: Division,
    zones: Zones,
    /// Zones that have room, and to which no appender appends any more.
    begun: Mutex<Vec<OpenZone>>,
    next_stream: AtomicU32,
}

impl Area {
    /// Divides a place of a device with this shape.
    pub(crate) fn new(shape: &Shape, place: Place, division: Division) -> Result<Arc<Self>, SpillError> {
        check(shape, place, division)?;
        let clusters = division.zone_bytes / division.cluster_bytes as u64;
        let zones = Zones::new(place.length_bytes / division.zone_bytes, clusters);
        Ok(Arc::new(Self { place, division, zones, begun: Mutex::default(), next_stream: AtomicU32::new(0) }))
    }

    /// A zone with room, of which the caller is a holder. None: the space is full.
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

/// A place in use, in a world. A clone is another handle to it.
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
    /// A place that nothing else uses.
    pub(crate) fn new(handle: &Handle, place: Place, division: Division) -> Result<Self, SpillError> {
        Self::of(handle, Area::new(&Self::shape(handle, place)?, place, division)?)
    }

    /// A place that other threads may use as well, each in a world of its own with the same device.
    pub(crate) fn of(handle: &Handle, area: Arc<Area>) -> Result<Self, SpillError> {
        let device = handle.device(area.place.device);
        let shape = Self::shape(handle, area.place)?;
        Ok(Self { inner: Rc::new(Inner { handle: handle.clone(), device, shape, area }) })
    }

    /// What the device of a place is.
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

    /// Starts a read of a cluster.
    pub(crate) fn read(&self, cluster: u64, into: BufferMut) -> Reply {
        debug_assert_eq!(into.len(), self.cluster_bytes(), "a buffer for a cluster");
        self.inner.device.request(Operation::read(self.offset_of(cluster), into))
    }

    /// Checks what was read. Returns its tag, and how many bytes of rows it has.
    pub(crate) fn check(&self, expected: &Header, bytes: &[u8]) -> Result<(u64, usize), SpillError> {
        let damaged = |what| SpillError::Damaged { offset_bytes: self.offset_of(expected.cluster), what };
        cluster::check(expected, bytes).map_err(damaged)
    }

    pub(crate) fn salt(&self) -> u64 {
        self.inner.area.place.salt
    }

    /// Gives a cluster back.
    pub(crate) fn release(&self, cluster: u64) {
        if let Some(zone) = self.inner.area.zones.release(cluster) {
            self.discard(zone);
        }
    }

    /// What is freed may be discarded, in the background: whether it is matters to nothing.
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
            // A discard is advice; one that fails takes nothing away.
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
