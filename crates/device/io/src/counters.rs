/// What a flash drive has counted since it was made; of an array, the sums over its drives, so that what a mirror
/// takes counts twice.
///
/// The work of a run is the difference of two readings, [`DriveCounters::since`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DriveCounters {
    /// What the host wrote.
    pub host_written_bytes: u64,
    /// What was programmed into flash: the host's data, what cleaning and merging moved, and padding. Data that still
    /// waits in the drive's buffer isn't counted as padded yet, so short runs show too little.
    pub flash_written_bytes: u64,
    /// Flash that was erased.
    pub erased_bytes: u64,
    /// What the host said it no longer needs.
    pub discarded_bytes: u64,
}

impl DriveCounters {
    /// What came about after an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        self.with(earlier, u64::saturating_sub)
    }

    /// The sums over two drives.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    /// Flash written for each byte that the host wrote; `None` before it wrote any.
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
