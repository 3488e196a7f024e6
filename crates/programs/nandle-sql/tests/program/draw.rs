//! Seeded random numbers, and the seeds of a test.

use std::ops::Range;

#[derive(Debug)]
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) const fn of(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number() % bound as u64).unwrap()
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The test's default number of seeds, or `NANDLE_CASES` from `NANDLE_FIRST_SEED` on.
pub(crate) fn seeds(usual: u64) -> Range<u64> {
    let number = |name, usual| std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap());
    let first = number("NANDLE_FIRST_SEED", 0);
    first..first + number("NANDLE_CASES", usual)
}
