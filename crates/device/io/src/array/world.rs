use std::collections::VecDeque;
use std::sync::Arc;

use slab::Slab;

use super::error::ArrayError;
use super::geometry::{Array, Columns};
use super::joint::{Joint, Part};
use super::wake::ArrayWake;
use crate::slots::InFlight;
use crate::{
    Backend, Cause, Completion, Device, DeviceId, DriveCounters, Full, Io, IoError, Operation, Request,
    Shape, Wait, Waker,
};

/// World that adds arrays over the devices of its inner world; see the [module](crate::array).
///
/// The inner world's devices keep their numbers, and arrays get the next ones.
pub struct Arrays {
    pub(super) inner: Box<dyn Io>,
    /// Limit of requests in flight, each with one or more parts.
    slots: usize,
    devices: Vec<Device>,
    pub(super) mapped: Vec<Array>,
    pub(super) joints: Slab<Joint>,
    pub(super) parts: Slab<Part>,
    pub(super) plain_in_flight: usize,
    /// Requests in flight of each device of the inner world.
    pub(super) loads: Vec<usize>,
    /// Requests waiting for a slot of the inner world.
    pub(super) waiting: VecDeque<(DeviceId, Request)>,
    refused: Vec<Completion>,
    /// Completions of the inner world; reused to save allocations.
    reaped: Vec<Completion>,
    wake: Option<Arc<ArrayWake>>,
}

impl Arrays {
    /// World with the devices of `inner`, without arrays. It has as many slots as `inner`, so the
    /// parts of one request may have to wait for those of another; see [`Arrays::with_slots`].
    pub fn new(inner: Box<dyn Io>) -> Self {
        let slots = inner.slots();
        Self::with_slots(inner, slots)
    }

    /// World with `slots` slots, at most as many as `inner`. A request to an array has a part for
    /// each child. So to start all parts at once, `inner` needs `slots` times the number of
    /// children. With fewer slots, parts wait, and [`Backend::stepped_down`] reports it.
    pub fn with_slots(inner: Box<dyn Io>, slots: usize) -> Self {
        Self {
            slots: slots.min(inner.slots()).max(1),
            devices: inner.devices().to_vec(),
            mapped: Vec::new(),
            joints: Slab::new(),
            parts: Slab::new(),
            plain_in_flight: 0,
            loads: vec![0; inner.devices().len()],
            waiting: VecDeque::new(),
            refused: Vec::new(),
            reaped: Vec::new(),
            wake: None,
            inner,
        }
    }

    /// Adds a striped array over devices of the inner world.
    ///
    /// # Errors
    /// Fails if a child doesn't exist, or the chunk doesn't fit the children.
    pub fn raid0(&mut self, children: &[DeviceId], chunk_bytes: u64) -> Result<Device, ArrayError> {
        if children.is_empty() {
            return Err(ArrayError::Children { level: "raid0", count: 0, expected: "at least one" });
        }
        self.add(Columns::Single(children.to_vec()), children, chunk_bytes)
    }

    /// Adds a striped array over mirrors. Each mirror is two consecutive children, devices of the
    /// inner world.
    ///
    /// # Errors
    /// Fails if a child doesn't exist, their number is odd, or the chunk doesn't fit them.
    pub fn raid10(&mut self, children: &[DeviceId], chunk_bytes: u64) -> Result<Device, ArrayError> {
        let (pairs, rest) = children.as_chunks::<2>();
        if pairs.is_empty() || !rest.is_empty() {
            let count = children.len();
            return Err(ArrayError::Children {
                level: "raid10",
                count,
                expected: "an even number from two on",
            });
        }
        self.add(Columns::Mirrored(pairs.to_vec()), children, chunk_bytes)
    }

    /// Number of an array's reads that failed on one leg of a mirror and were retried on the other;
    /// 0 for other devices.
    pub fn read_retries(&self, array: DeviceId) -> u64 {
        self.array(array).map_or(0, |(array, _)| array.read_retries)
    }

    fn add(
        &mut self,
        columns: Columns,
        children: &[DeviceId],
        chunk_bytes: u64,
    ) -> Result<Device, ArrayError> {
        let mut shapes: Vec<&Shape> = Vec::new();
        for (index, child) in children.iter().enumerate() {
            if children.iter().take(index).any(|other| other == child) {
                return Err(ArrayError::SameChild { index: child.index() });
            }
            let known = self.inner.devices().get(child.index() as usize);
            shapes.push(&known.ok_or(ArrayError::UnknownChild { index: child.index() })?.shape);
        }
        let (array, shape) = Array::new(columns, &shapes, chunk_bytes)?;
        let id = DeviceId::from_index(u32::try_from(self.devices.len()).unwrap_or(u32::MAX));
        let device = Device { id, shape };
        self.mapped.push(array);
        self.devices.push(device.clone());
        Ok(device)
    }

    /// Array with this device number, and its shape.
    pub(super) fn array(&self, device: DeviceId) -> Option<(&Array, &Shape)> {
        let index = self.array_index(device)?;
        Some((self.mapped.get(index)?, &self.devices.get(device.index() as usize)?.shape))
    }

    fn array_index(&self, device: DeviceId) -> Option<usize> {
        (device.index() as usize).checked_sub(self.loads.len())
    }

    fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        let Some(known) = self.devices.get(device.index() as usize) else {
            return Some(Cause::UnknownDevice { index: device.index() });
        };
        let latched = self.array(device).is_some_and(|(array, _)| array.latched);
        match operation {
            Operation::Write { .. } | Operation::Flush | Operation::Discard { .. } if latched => {
                Some(Cause::Latched)
            }
            _ => known.shape.check(operation).err(),
        }
    }
}

impl Io for Arrays {
    fn devices(&self) -> &[Device] {
        &self.devices
    }

    fn submit(&mut self, device: DeviceId, request: Request) -> Result<(), Full> {
        if self.in_flight() >= self.slots() {
            return Err(Full(request));
        }
        if let Some(cause) = self.refusal(device, &request.operation) {
            let now = self.inner.now();
            let error = IoError::new(&request.operation, cause);
            self.refused.push(InFlight::new(device, request, now, ()).complete(now, Err(error)));
            return Ok(());
        }
        match self.array_index(device) {
            Some(array) => self.start(array, device, request),
            None => self.pass_on(device, request),
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let enough = into.len() + wait.target(self.in_flight(), self.wake.is_some());
        into.append(&mut self.refused);
        let waits = into.len() < enough;
        loop {
            self.send_waiting();
            let woken = waits && self.wake.as_ref().is_some_and(|wake| wake.is_woken());
            // Each missing request needs at least one completion of the inner world.
            let missing = if woken { 0 } else { enough.saturating_sub(into.len()) };
            let interrupted = self.reap_inner(Wait { completions: missing, until: wait.until }, into);
            self.send_waiting();
            let woken = waits && self.wake.as_ref().is_some_and(|wake| wake.take());
            if woken || interrupted || into.len() >= enough {
                return;
            }
        }
    }

    crate::forward_io!(inner: now cpu_time charge_cpu timer_slack register);

    fn in_flight(&self) -> usize {
        self.joints.len() + self.plain_in_flight + self.refused.len()
    }

    fn slots(&self) -> usize {
        self.slots
    }

    fn waker(&mut self) -> Option<Waker> {
        if self.wake.is_none() {
            self.wake = Some(ArrayWake::new(self.inner.waker()?));
        }
        self.wake.clone().map(|wake| Waker::new(wake))
    }

    fn backend(&self) -> Backend {
        let mut backend = self.inner.backend();
        let (parts, room) = (self.slots.saturating_mul(self.parts_max()), self.inner.slots());
        let waits = format!("of {parts} parts of requests to an array {room} at a time reach its devices");
        backend.stepped_down.extend((parts > room).then_some(waits));
        backend
    }

    fn counters(&self, device: DeviceId) -> Option<DriveCounters> {
        match self.array(device) {
            Some((array, _)) => {
                let of_children = array.columns.devices().iter().map(|child| self.inner.counters(*child));
                of_children
                    .into_iter()
                    .try_fold(DriveCounters::default(), |sum, child| Some(sum.plus(child?)))
            }
            None => self.inner.counters(device),
        }
    }
}

impl Arrays {
    /// Limit of a request's parts that the children serve in parallel: one each. A request has more
    /// only if a child gets over a thousand chunks; those wait for the first.
    fn parts_max(&self) -> usize {
        self.mapped.iter().map(|array| array.columns.devices().len()).max().unwrap_or(1)
    }

    /// Sends waiting requests while the inner world has free slots.
    fn send_waiting(&mut self) {
        while let Some((device, request)) = self.waiting.pop_front() {
            if let Err(Full(request)) = self.inner.submit(device, request) {
                self.waiting.push_front((device, request));
                return;
            }
        }
    }

    /// Collects from the inner world. Returns true if it returned before `wait` was satisfied.
    fn reap_inner(&mut self, wait: Wait, into: &mut Vec<Completion>) -> bool {
        // With nothing in flight, only the deadline or a wake-up can end the wait.
        let expected = wait.completions.min(self.inner.in_flight().max(1));
        let mut reaped = std::mem::take(&mut self.reaped);
        self.inner.reap(wait, &mut reaped);
        let interrupted = reaped.len() < expected;
        for completion in reaped.drain(..) {
            self.finish(completion, into);
        }
        self.reaped = reaped;
        interrupted
    }
}
