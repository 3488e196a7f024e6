/// Counters of a flash drive since it was made. Those of an array are the sums over its drives, so
/// mirrored writes count twice.
///
/// The work of a run is the difference of two readings, [`DriveCounters::since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DriveCounters {
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Bytes programmed into flash: the host's data, moves by cleaning and merging, and padding.
    /// Data in the drive's buffer doesn't count as padded yet, so short runs show too little.
    pub flash_written_bytes: u64,
    /// Bytes of flash erased.
    pub erased_bytes: u64,
    /// Bytes that the host discarded.
    pub discarded_bytes: u64,
}

impl DriveCounters {
    /// Difference from an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// Sum over two drives.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// Flash bytes written per byte that the host wrote; `None` if it wrote none.
    pub fn write_amplification(&self) -> Option<f64> {
        (self.host_written_bytes > 0)
            .then(|| self.flash_written_bytes as f64 / self.host_written_bytes as f64)
    }

    fn with(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            host_written_bytes: combine(self.host_written_bytes, other.host_written_bytes),
            flash_written_bytes: combine(self.flash_written_bytes, other.flash_written_bytes),
            erased_bytes: combine(self.erased_bytes, other.erased_bytes),
            discarded_bytes: combine(self.discarded_bytes, other.discarded_bytes),
        }
    }
}
