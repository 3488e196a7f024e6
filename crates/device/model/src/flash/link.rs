//! Link to the host: one direction at a time (SATA, PATA), or both at once (`PCIe`).

use super::parameters::LinkParameters;
use super::units::transfer_ns;
use crate::timeline::Timeline;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    ToHost,
    ToDrive,
}

/// Rate of one direction. The time of a whole mapping unit, the common case, is precomputed.
#[derive(Debug)]
struct Rate {
    bytes_per_s: u64,
    unit_ns: u64,
}

#[derive(Debug)]
pub(crate) struct Link {
    unit_bytes: u64,
    command_ns: u64,
    full_duplex: bool,
    rate_to_host: Rate,
    rate_to_drive: Rate,
    /// Both directions of a half-duplex link.
    to_host: Timeline,
    to_drive: Timeline,
    /// Current time of the drive; nothing begins earlier.
    now_ns: u64,
}

impl Link {
    pub(crate) fn new(parameters: &LinkParameters, unit_bytes: u64) -> Self {
        let rate = |bytes_per_s| Rate { bytes_per_s, unit_ns: transfer_ns(unit_bytes, bytes_per_s) };
        Self {
            unit_bytes,
            command_ns: parameters.command_ns,
            full_duplex: parameters.full_duplex,
            rate_to_host: rate(parameters.bytes_per_s),
            rate_to_drive: rate(parameters.write_bytes_per_s.unwrap_or(parameters.bytes_per_s)),
            to_host: Timeline::default(),
            to_drive: Timeline::default(),
            now_ns: 0,
        }
    }

    /// Sets the drive's time.
    #[inline]
    pub(crate) fn pass_to(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
    }

    /// Moves data that is ready at `earliest_ns` and returns the end. A command's last piece
    /// includes its frames.
    #[inline]
    pub(crate) fn transfer(&mut self, direction: Direction, earliest_ns: u64, bytes: u64, last: bool) -> u64 {
        let rate = match direction {
            Direction::ToHost => &self.rate_to_host,
            Direction::ToDrive => &self.rate_to_drive,
        };
        let whole_unit = bytes == self.unit_bytes;
        let data_ns = if whole_unit { rate.unit_ns } else { transfer_ns(bytes, rate.bytes_per_s) };
        let duration_ns = data_ns + if last { self.command_ns } else { 0 };
        let wire = match direction {
            Direction::ToDrive if self.full_duplex => &mut self.to_drive,
            Direction::ToDrive | Direction::ToHost => &mut self.to_host,
        };
        wire.forget_before(self.now_ns);
        wire.reserve(earliest_ns, duration_ns) + duration_ns
    }
}
