//! The array: the host's software layout over the controllers' volumes.

use nandle_io::DriveCounters;

use super::controller::Controller;
use super::layout::Layout;
use super::parameters::{ArrayError, ArrayParameters, ControllerParameters, LayoutParameters};
use crate::flash::AgedState;
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

/// A member drive of an array.
pub struct Drive {
    /// Timing model.
    pub timing: Box<dyn Timing>,
    /// Capacity. An array uses as much of each drive as the smallest one has.
    pub capacity_bytes: u64,
}

/// Volume that a controller presents to the host as one device.
#[derive(Debug, Clone, Copy)]
struct Volume {
    controller: usize,
    /// Start in the controller's address space.
    base_bytes: u64,
}

#[derive(Debug, Clone, Copy)]
struct InFlight {
    id: u64,
    parts_left: usize,
}

/// Drives and controllers that act as one device.
pub struct Array {
    layout: Layout,
    volumes: Vec<Volume>,
    controllers: Vec<Controller>,
    requests: Vec<InFlight>,
    free: Vec<usize>,
    finished: Vec<TimedCompletion>,
}

impl Array {
    /// Builds an array. The drives are in the order of [`ArrayParameters::drive_names`].
    ///
    /// # Errors
    /// [`ArrayError`] when the parameters are wrong or name another number of drives.
    pub fn new(parameters: &ArrayParameters, drives: Vec<Drive>) -> Result<Self, ArrayError> {
        parameters.validate()?;
        let expected = parameters.drive_names().count();
        if drives.len() != expected {
            let array = parameters.name.clone();
            return Err(ArrayError::WrongNumberOfDrives { array, expected, got: drives.len() });
        }
        let drive_bytes = drives.iter().map(|drive| drive.capacity_bytes).min().unwrap_or(0);
        let mut timings = drives.into_iter().map(|drive| drive.timing);
        let mut array = Self {
            layout: Layout::new(LayoutParameters::Simple, 0, 0),
            volumes: Vec::new(),
            controllers: Vec::new(),
            requests: Vec::new(),
            free: Vec::new(),
            finished: Vec::new(),
        };
        let mut volume_bytes = u64::MAX;
        for controller in &parameters.controllers {
            let layout = Layout::new(controller.hardware, controller.drives.len(), drive_bytes);
            volume_bytes = volume_bytes.min(array.show(controller, layout, drive_bytes));
            let behind = timings.by_ref().take(controller.drives.len()).collect();
            array.controllers.push(Controller::new(controller, layout, behind));
        }
        array.layout = Layout::new(parameters.software, array.volumes.len(), volume_bytes);
        Ok(array)
    }

    /// Usable capacity of the array.
    pub fn capacity_bytes(&self) -> u64 {
        self.layout.capacity_bytes()
    }

    /// Adds the volumes of the next controller and returns the size of each.
    fn show(&mut self, parameters: &ControllerParameters, layout: Layout, drive_bytes: u64) -> u64 {
        let controller = self.controllers.len();
        match parameters.hardware {
            LayoutParameters::Simple => {
                let bases = (0..parameters.drives.len() as u64).map(|drive| drive * drive_bytes);
                self.volumes.extend(bases.map(|base_bytes| Volume { controller, base_bytes }));
                drive_bytes
            }
            LayoutParameters::Raid0 { .. } | LayoutParameters::Raid10 { .. } => {
                self.volumes.push(Volume { controller, base_bytes: 0 });
                layout.capacity_bytes()
            }
        }
    }

    /// Controller, offset in its address space and length of each part of a request.
    fn parts(&self, request: TimedRequest) -> Vec<(usize, u64, u64)> {
        if request.operation == TimedOperation::Flush {
            return (0..self.controllers.len()).map(|controller| (controller, 0, 0)).collect();
        }
        let mut parts = Vec::new();
        for part in self.layout.split(request.offset_bytes, request.length_bytes) {
            let mut members = self.layout.members_of(part.column);
            if request.operation == TimedOperation::Read {
                // Software mirrors alternate by address, since they see no queue.
                let turn = usize::from((part.offset_bytes >> 20) & 1 == 1).min(members.len() - 1);
                members = members.start + turn..members.start + turn + 1;
            }
            for volume in members.filter_map(|member| self.volumes.get(member)) {
                parts.push((volume.controller, volume.base_bytes + part.offset_bytes, part.length_bytes));
            }
        }
        parts
    }

    fn admit(&mut self, request: InFlight) -> u64 {
        if let Some(index) = self.free.pop()
            && let Some(slot) = self.requests.get_mut(index)
        {
            *slot = request;
            return index as u64;
        }
        self.requests.push(request);
        self.requests.len() as u64 - 1
    }

    fn part_done(&mut self, part: TimedCompletion) -> Option<TimedCompletion> {
        let index = usize::try_from(part.id).ok()?;
        let request = self.requests.get_mut(index)?;
        request.parts_left = request.parts_left.saturating_sub(1);
        if request.parts_left > 0 {
            return None;
        }
        self.free.push(index);
        Some(TimedCompletion { id: request.id, completed_ns: part.completed_ns })
    }
}

impl Timing for Array {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        let parts = self.parts(request);
        let slot = self.admit(InFlight { id: request.id, parts_left: parts.len() });
        for (controller, offset_bytes, length_bytes) in parts {
            if let Some(controller) = self.controllers.get_mut(controller) {
                controller.arrive(now_ns, TimedRequest { id: slot, offset_bytes, length_bytes, ..request });
            }
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.controllers.iter().filter_map(Timing::next_event_ns).min()
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        while let Some(event_ns) = self.next_event_ns()
            && event_ns <= now_ns
        {
            let mut finished = std::mem::take(&mut self.finished);
            for controller in &mut self.controllers {
                controller.advance(event_ns, &mut finished);
            }
            for part in finished.drain(..) {
                completed.extend(self.part_done(part));
            }
            self.finished = finished;
        }
    }

    fn counters(&self) -> Option<DriveCounters> {
        let of_drives = self.controllers.iter().flat_map(Controller::drives).map(Timing::counters);
        of_drives.into_iter().try_fold(DriveCounters::default(), |sum, drive| Some(sum.plus(drive?)))
    }

    fn aged_states(&mut self) -> Vec<Option<AgedState>> {
        self.controllers.iter_mut().flat_map(Controller::drives_mut).flat_map(Timing::aged_states).collect()
    }
}
