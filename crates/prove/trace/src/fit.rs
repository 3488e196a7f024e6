use crate::Record;

/// Statistics of how well a trace's writes fit pages of a given length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageFit {
    page_bytes: u64,
    writes: u64,
    unaligned: u64,
    /// Counts of writes whose length is a power of two and divides their address, by that power.
    natural: [u64; u64::BITS as usize],
}

impl PageFit {
    /// Creates statistics for pages of `page_bytes` bytes.
    ///
    /// # Panics
    /// `page_bytes` is 0.
    pub fn new(page_bytes: u64) -> Self {
        assert!(page_bytes > 0, "pages have bytes");
        Self { page_bytes, writes: 0, unaligned: 0, natural: [0; u64::BITS as usize] }
    }

    /// Adds an event.
    pub fn add(&mut self, record: &Record) {
        if !record.operation.is_write() {
            return;
        }
        self.writes += 1;
        self.unaligned += u64::from(!record.is_aligned(self.page_bytes));
        let length_bytes = record.length_bytes;
        if length_bytes.is_power_of_two() && record.is_aligned(length_bytes) {
            let power = length_bytes.trailing_zeros() as usize;
            self.natural.iter_mut().skip(power).take(1).for_each(|count| *count += 1);
        }
    }

    /// Length of a page, in bytes.
    pub fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Writes so far.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Writes that don't begin and end at a page boundary.
    pub fn unaligned(&self) -> u64 {
        self.unaligned
    }

    /// Length of more than half of the writes, if it is a power of two and divides their addresses.
    /// This is probably the page length of the engine.
    pub fn usual_bytes(&self) -> Option<u64> {
        debug_assert!(
            self.natural.iter().sum::<u64>() <= self.writes && self.unaligned <= self.writes,
            "a write is counted once"
        );
        (0..u64::BITS)
            .zip(self.natural)
            .find(|(_, count)| *count > self.writes / 2)
            .map(|(power, _)| 1 << power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn usual_length_is_the_length_of_most_writes() {
        let fit = |page_bytes, extents: &[(u64, u64)]| {
            let mut fit = PageFit::new(page_bytes);
            for &(address, length_bytes) in extents {
                fit.add(&Record {
                    time_us: 0,
                    operation: Operation::Write,
                    address,
                    length_bytes,
                    latency_ns: None,
                });
                fit.add(&Record {
                    time_us: 0,
                    operation: Operation::Read,
                    address: 1,
                    length_bytes,
                    latency_ns: None,
                });
            }
            (fit.writes(), fit.unaligned(), fit.usual_bytes())
        };
        let mostly_8k = [(0, 8192), (16_384, 8192), (8192, 24_576)];
        assert_eq!(fit(4096, &mostly_8k), (3, 0, Some(8192)));
        assert_eq!(fit(16_384, &mostly_8k), (3, 3, Some(8192)));
        assert_eq!(
            fit(4096, &[(0, 8192), (8192, 4096)]),
            (2, 0, None),
            "half of the writes are not a majority"
        );
        assert_eq!(fit(4096, &[(4096, 8192)]), (1, 0, None), "the write isn't aligned to its length");
        assert_eq!(fit(4096, &[]), (0, 0, None));
    }
}
