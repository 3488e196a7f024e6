//! A controller's processor, which runs the firmware for one command at a time.
//!
//! Each host command takes processor time. Where the controller lays data out, so does each command
//! to a drive; a mirrored write is two of them. A single-drive volume is passed through at no
//! further cost. So the rate of small requests has its own ceiling: lower for RAID than for simple
//! volumes, and lower for mirrored writes than for reads.

use super::layout::Layout;
use super::parameters::ControllerParameters;
use crate::timeline::Timeline;
use crate::timing::{TimedOperation, TimedRequest};

#[derive(Debug)]
pub(crate) struct Processor {
    timeline: Timeline,
    command_ns: u64,
    raid_command_ns: u64,
}

impl Processor {
    pub(crate) fn new(parameters: &ControllerParameters) -> Self {
        let raid_command_ns = if parameters.hardware.is_simple() { 0 } else { parameters.raid_command_ns };
        Self { timeline: Timeline::default(), command_ns: parameters.command_ns, raid_command_ns }
    }

    /// Processes a host command and returns its end.
    pub(crate) fn take_in(&mut self, now_ns: u64) -> u64 {
        self.run(now_ns, self.command_ns)
    }

    /// Splits a request over the drives and returns the time at which they receive their commands.
    pub(crate) fn lay_out(&mut self, now_ns: u64, layout: &Layout, request: TimedRequest) -> u64 {
        if self.raid_command_ns == 0 {
            return now_ns;
        }
        self.run(now_ns, self.raid_command_ns * drive_commands(layout, request))
    }

    /// Earliest time for another layout that keeps no host command waiting.
    pub(crate) fn may_lay_out_ns(&self) -> u64 {
        if self.raid_command_ns == 0 { 0 } else { self.timeline.busy_until_ns() }
    }

    fn run(&mut self, now_ns: u64, duration_ns: u64) -> u64 {
        self.timeline.forget_before(now_ns);
        self.timeline.append(now_ns, duration_ns) + duration_ns
    }
}

/// Number of drive commands that a request becomes.
fn drive_commands(layout: &Layout, request: TimedRequest) -> u64 {
    let parts = || layout.split(request.offset_bytes, request.length_bytes);
    let commands: usize = match request.operation {
        TimedOperation::Read => parts().len(),
        TimedOperation::Write { .. } | TimedOperation::Discard => {
            parts().iter().map(|part| layout.members_of(part.column).len()).sum()
        }
        TimedOperation::Flush => layout.members().len(),
    };
    commands as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::LayoutParameters;

    #[test]
    fn a_mirrored_write_is_two_commands_for_each_part() {
        let commands = |kind, operation, length_bytes| {
            let layout = Layout::new(kind, 4, 1 << 20);
            drive_commands(&layout, TimedRequest { id: 0, operation, offset_bytes: 0, length_bytes })
        };
        let (striped, mirrored) =
            (LayoutParameters::Raid0 { chunk_bytes: 4096 }, LayoutParameters::Raid10 { chunk_bytes: 4096 });
        let write = TimedOperation::Write { durable: false };
        assert_eq!(commands(striped, TimedOperation::Read, 4096), 1);
        assert_eq!(commands(striped, write, 8192), 2);
        assert_eq!(commands(mirrored, TimedOperation::Read, 8192), 2);
        assert_eq!(commands(mirrored, write, 4096), 2);
        assert_eq!(commands(mirrored, write, 8192), 4);
        assert_eq!(commands(mirrored, TimedOperation::Flush, 0), 4);
    }
}
