//! Division by a fixed number as a multiplication (Lemire, Kaser, Kurz: *Faster remainder by direct
//! computation*, 2019, §3.1), exact for all 32-bit numbers.

use serde::{Deserialize, Serialize};

/// Divisor. Serialised as the number alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub(crate) struct Divisor {
    divisor: u32,
    /// 2⁶⁴ over the divisor, rounded up; 0 for divisor 1, where it doesn't fit.
    reciprocal: u64,
}

impl Divisor {
    /// Zero counts as one.
    pub(crate) fn new(divisor: u32) -> Self {
        let divisor = divisor.max(1);
        Self { divisor, reciprocal: (u64::MAX / u64::from(divisor)).wrapping_add(1) }
    }

    #[inline]
    pub(crate) fn get(self) -> u32 {
        self.divisor
    }

    #[inline]
    pub(crate) fn quotient(self, number: u32) -> u32 {
        if self.reciprocal == 0 {
            return number;
        }
        let quotient = (u128::from(self.reciprocal) * u128::from(number)) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "no greater than the number")]
        let quotient = quotient as u32;
        quotient
    }

    #[inline]
    pub(crate) fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.divisor
    }
}

impl From<u32> for Divisor {
    fn from(divisor: u32) -> Self {
        Self::new(divisor)
    }
}

impl From<Divisor> for u32 {
    fn from(divisor: Divisor) -> Self {
        divisor.divisor
    }
}

#[cfg(test)]
mod tests {
    use super::Divisor;

    #[test]
    fn quotients_and_remainders_are_exact() {
        for divisor in [1, 2, 3, 4, 20, 5_120, 32_768, 999_983, 1 << 31, u32::MAX] {
            let by = Divisor::new(divisor);
            let multiples = [divisor - 1, divisor, divisor.saturating_add(1), divisor.saturating_mul(3)];
            for number in multiples.into_iter().chain([0, 1, 4_000_000_007, u32::MAX - 1, u32::MAX]) {
                let got = (by.quotient(number), by.remainder(number));
                assert_eq!(got, (number / divisor, number % divisor), "{number} / {divisor}");
            }
        }
    }
}
