//! The interface to the host: one direction at a time (SATA, PATA), or both at once (`PCIe`).

use super::parameters::LinkParameters;
use super::timeline::Timeline;
use super::units::transfer_ns;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToHost,
    ToDrive,
}

#[derive(Debug)]
pub(crate) struct Link {
    bytes_per_s: u64,
    command_ns: u64,
    full_duplex: bool,
    /// Time for a whole mapping unit, the common case.
    unit_bytes: u64,
    unit_ns: u64,
    to_host: Timeline,
    to_drive: Timeline,
}

impl Link {
    pub(crate) fn new(parameters: &LinkParameters, unit_bytes: u64) -> Self {
        Self {
            bytes_per_s: parameters.bytes_per_s,
            command_ns: parameters.command_ns,
            full_duplex: parameters.full_duplex,
            unit_bytes,
            unit_ns: transfer_ns(unit_bytes, parameters.bytes_per_s),
            to_host: Timeline::default(),
            to_drive: Timeline::default(),
        }
    }

    /// Moves data that is ready at `earliest_ns`; the frames around a command go with its last piece. Gives the
    /// end of the transfer.
    #[inline]
    pub(crate) fn transfer(&mut self, direction: Direction, earliest_ns: u64, bytes: u64, last: bool) -> u64 {
        let data_ns =
            if bytes == self.unit_bytes { self.unit_ns } else { transfer_ns(bytes, self.bytes_per_s) };
        let duration_ns = data_ns + if last { self.command_ns } else { 0 };
        let wire = match direction {
            Direction::ToDrive if self.full_duplex => &mut self.to_drive,
            _ => &mut self.to_host,
        };
        wire.reserve(earliest_ns, duration_ns) + duration_ns
    }
}
