//! Wraps a world, counts the requests to each area of a workload, and samples the pattern of the
//! temporary space.

use std::cell::RefCell;
use std::rc::Rc;

use nandle_io::{DeviceId, Full, Io, Nanos, Operation, Request, forward_io};

use crate::pattern::Sampler;
use crate::{Area, Pattern, PatternPoint, Role, World};

/// Recorded requests, shared with the reader at the end of the run.
pub(crate) type SharedRecord = Rc<RefCell<Record>>;

/// Requests of one kind to one area.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    /// Requests that began at the end of the previous one of this kind.
    pub(crate) sequential: u64,
    expected_offset_bytes: Option<u64>,
    sample: Sampler,
}

/// Recorded requests of one area.
#[derive(Debug, Clone, Default)]
pub(crate) struct AreaRecord {
    pub(crate) reads: Stream,
    pub(crate) writes: Stream,
}

#[derive(Debug, Default)]
pub(crate) struct Record {
    began_at: Nanos,
    areas: [AreaRecord; 3],
}

/// World that records its requests.
pub(crate) struct Recorder {
    inner: Box<dyn Io>,
    areas: Vec<(Role, Area)>,
    record: SharedRecord,
}

impl Recorder {
    /// Wraps a workload's world. The run starts at the world's current time.
    pub(crate) fn wrap(world: World) -> (Self, SharedRecord) {
        let areas = Role::ALL.into_iter().filter_map(|role| Some((role, world.area(role)?))).collect();
        let record = Record { began_at: world.io.now(), ..Record::default() };
        let record = Rc::new(RefCell::new(record));
        (Self { inner: world.io, areas, record: Rc::clone(&record) }, record)
    }
}

impl Io for Recorder {
    forward_io!(inner: devices reap in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        let (offset_bytes, length_bytes) =
            (request.operation.offset_bytes(), request.operation.length_bytes());
        let is_write = match request.operation {
            Operation::Read { .. } => Some(false),
            Operation::Write { .. } => Some(true),
            Operation::Flush | Operation::Discard { .. } => None,
        };
        let at = self.inner.now();
        self.inner.submit(device, request)?;
        let place = self.areas.iter().find(|(_, area)| area.has(device, offset_bytes));
        if let (Some(is_write), Some((role, area))) = (is_write, place) {
            let mut record = self.record.borrow_mut();
            let at_ns = at.since(record.began_at).0;
            let offset_bytes = offset_bytes - area.start_bytes;
            record.add(*role, is_write, PatternPoint { at_ns, offset_bytes, length_bytes });
        }
        Ok(())
    }
}

impl Record {
    fn add(&mut self, role: Role, is_write: bool, point: PatternPoint) {
        let area = self.area_mut(role);
        let stream = if is_write { &mut area.writes } else { &mut area.reads };
        stream.requests += 1;
        stream.bytes += point.length_bytes;
        stream.sequential += u64::from(stream.expected_offset_bytes == Some(point.offset_bytes));
        stream.expected_offset_bytes = Some(point.offset_bytes + point.length_bytes);
        if role == Role::Temporary {
            stream.sample.add(point);
        }
    }

    fn area_mut(&mut self, role: Role) -> &mut AreaRecord {
        let [input, temporary, output] = &mut self.areas;
        match role {
            Role::Input => input,
            Role::Temporary => temporary,
            Role::Output => output,
        }
    }

    pub(crate) fn area(&self, role: Role) -> &AreaRecord {
        let [input, temporary, output] = &self.areas;
        match role {
            Role::Input => input,
            Role::Temporary => temporary,
            Role::Output => output,
        }
    }

    /// Pattern of requests to the temporary space.
    pub(crate) fn pattern(&self) -> Pattern {
        let AreaRecord { reads, writes } = self.area(Role::Temporary);
        Pattern {
            read_requests: reads.requests,
            reads: reads.sample.clone().into_points(),
            write_requests: writes.requests,
            writes: writes.sample.clone().into_points(),
        }
    }
}

impl Stream {
    /// Share of requests that began at the end of the previous one; none for fewer than two.
    pub(crate) fn sequential_share(&self) -> Option<f64> {
        let followers = self.requests.checked_sub(1).filter(|followers| *followers > 0)?;
        Some(self.sequential as f64 / followers as f64)
    }
}
