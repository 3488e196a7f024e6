/// Processor in the balanced-system law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Processor {
    /// Million instructions per second.
    pub mips: f64,
}

/// Million instructions per second for one MB/s of I/O in a balanced system (Gray, Shenoy: *Rules
/// of Thumb in Data Engineering*, ICDE 2000).
const MIPS_PER_MEGABYTE_PER_S: f64 = 8.0;

impl Processor {
    /// Computes the rate from the clock and the cycles per instruction.
    pub fn from_clock(clock_hz: f64, cycles_per_instruction: f64) -> Self {
        Self { mips: clock_hz / 1e6 / cycles_per_instruction }
    }

    /// I/O bandwidth that keeps the processor busy.
    pub fn balanced_bytes_per_s(self) -> f64 {
        self.mips / MIPS_PER_MEGABYTE_PER_S * 1e6
    }

    /// Pages per second that keep the processor busy.
    pub fn balanced_pages_per_s(self, page_bytes: u64) -> f64 {
        self.balanced_bytes_per_s() / page_bytes as f64
    }
}

/// Drives that keep one processor busy if each delivers `drive_iops` pages per second in the
/// workload's mix. The inverse is processors per drive.
pub fn drives_per_processor(processor: Processor, page_bytes: u64, drive_iops: f64) -> f64 {
    processor.balanced_pages_per_s(page_bytes) / drive_iops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economics::mixed_iops;

    /// `FlashyDB`: 3.2 GHz, 2.1 cycles per instruction, pages of 8 KB. Savvio 15k drives do 350
    /// random reads or 300 random writes a second; three quarters of the requests are writes.
    #[test]
    fn flashydb_processor_needs_75_disks() {
        let processor = Processor::from_clock(3.2e9, 2.1);
        assert!((processor.balanced_bytes_per_s() / 1e6 - 190.0).abs() < 1.0);
        let pages = processor.balanced_pages_per_s(8192);
        assert!((pages - 23_250.0).abs() < 50.0, "{pages}");
        let disks = drives_per_processor(processor, 8192, mixed_iops(0.25, 350.0, 300.0));
        assert!((disks - 75.0).abs() < 1.0, "{disks}");
    }
}
