//! The controller's processor, which works on one command at a time.

use super::parameters::FirmwareParameters;
use crate::timing::TimedOperation;

#[derive(Debug)]
pub(crate) struct Firmware {
    parameters: FirmwareParameters,
    busy_until_ns: u64,
}

impl Firmware {
    pub(crate) fn new(parameters: &FirmwareParameters) -> Self {
        Self { parameters: parameters.clone(), busy_until_ns: 0 }
    }

    /// Accepts a command at `now_ns`; returns the earliest time of its data phase.
    pub(crate) fn accept(&mut self, now_ns: u64, operation: TimedOperation) -> u64 {
        let cost_ns = match operation {
            TimedOperation::Read => self.parameters.read_ns,
            TimedOperation::Write { .. } => self.parameters.write_ns,
            TimedOperation::Flush => self.parameters.flush_ns,
            TimedOperation::Discard => self.parameters.discard_ns,
        };
        self.work(now_ns, cost_ns) + self.parameters.latency_ns
    }

    /// Issues one more chip operation of a command; returns the time at which it is issued.
    #[inline]
    pub(crate) fn reach_fragment(&mut self, now_ns: u64) -> u64 {
        match self.parameters.fragment_ns {
            0 => now_ns,
            fragment_ns => self.work(now_ns, fragment_ns),
        }
    }

    /// Works for `duration_ns` from `now_ns` on; returns the end.
    pub(crate) fn work(&mut self, now_ns: u64, duration_ns: u64) -> u64 {
        self.busy_until_ns = self.busy_until_ns.max(now_ns) + duration_ns;
        self.busy_until_ns
    }
}
