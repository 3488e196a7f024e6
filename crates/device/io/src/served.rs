//! Common part of the worlds of the host's files: their devices, and their requests in flight.

use std::sync::Arc;

use crate::file::DeviceFile;
use crate::slots::{InFlight, Slots};
use crate::{Cause, Completion, Device, DeviceId, IoError, Nanos, Operation, clock};

/// Devices and requests. Has methods of [`Io`](crate::Io), which a world forwards to it.
pub(crate) struct Served<Extra> {
    devices: Vec<Device>,
    /// Kept open while requests may be in flight.
    files: Vec<Arc<DeviceFile>>,
    pub(crate) slots: Slots<Extra>,
    /// Requests refused by the device's shape, until they are reaped.
    refused: Vec<Completion>,
}

impl<Extra> Served<Extra> {
    pub(crate) fn new(slots: u32) -> Self {
        Self { devices: Vec::new(), files: Vec::new(), slots: Slots::new(slots), refused: Vec::new() }
    }

    /// Adds a file as the next device.
    pub(crate) fn add(&mut self, file: Arc<DeviceFile>) -> Device {
        let device = Device { id: self.next_id(), shape: file.shape().clone() };
        self.files.push(file);
        self.devices.push(device.clone());
        device
    }

    /// Adds a device without a file in this world.
    #[cfg(test)]
    pub(crate) fn add_device(&mut self, device: Device) {
        self.devices.push(device);
    }

    /// Id of the next device.
    pub(crate) fn next_id(&self) -> DeviceId {
        DeviceId(u32::try_from(self.devices.len()).unwrap_or(u32::MAX))
    }

    pub(crate) fn file(&self, device: DeviceId) -> Option<&Arc<DeviceFile>> {
        self.files.get(device.0 as usize)
    }

    /// Reason why a device can't run an operation.
    pub(crate) fn refusal(&self, device: DeviceId, operation: &Operation) -> Option<Cause> {
        match self.devices.get(device.0 as usize) {
            Some(device) => device.shape.check(operation).err(),
            None => Some(Cause::UnknownDevice { index: device.0 }),
        }
    }

    /// Completes a request with an error, to be reaped like any other.
    pub(crate) fn refuse(&mut self, request: InFlight<Extra>, cause: Cause) {
        let now = request.submitted_at;
        self.fail(request, cause, now);
    }

    /// Completes a request with an error after its submission.
    pub(crate) fn fail(&mut self, request: InFlight<Extra>, cause: Cause, now: Nanos) {
        let error = IoError::new(&request.operation, cause);
        self.refused.push(request.complete(now, Err(error)));
    }

    /// Stores completions until they are reaped.
    pub(crate) fn hand_back(&mut self, completions: Vec<Completion>) {
        self.refused.extend(completions);
    }

    /// Returns the refused requests.
    pub(crate) fn reap_refused(&mut self, into: &mut Vec<Completion>) {
        into.append(&mut self.refused);
    }

    pub(crate) fn devices(&self) -> &[Device] {
        &self.devices
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.slots.in_use() + self.refused.len()
    }

    pub(crate) fn slots(&self) -> usize {
        self.slots.capacity()
    }

    #[expect(clippy::unused_self, reason = "a world forwards its clock like the rest")]
    pub(crate) fn now(&self) -> Nanos {
        clock::monotonic()
    }

    #[expect(clippy::unused_self, reason = "a world forwards its clock like the rest")]
    pub(crate) fn cpu_time(&self) -> Nanos {
        clock::process_cpu()
    }

    #[expect(clippy::unused_self, reason = "a world forwards its clock like the rest")]
    pub(crate) fn timer_slack(&self) -> Nanos {
        clock::TIMER_SLACK
    }
}
