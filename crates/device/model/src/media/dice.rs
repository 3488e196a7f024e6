//! Stateless randomness: a draw depends on a seed and on its subject, never on earlier draws. So a
//! decision can be repeated or left out without changing any other.

/// Odd constant of `SplitMix64`: 2⁶⁴ divided by the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hash of a seed and of the subject so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// Dice for the subject with this number.
    pub(super) fn of(self, number: u64) -> Self {
        Self(mix(self.0 ^ mix(number.wrapping_add(GOLDEN))))
    }

    /// Uniform 64-bit number.
    pub(super) fn roll(self) -> u64 {
        mix(self.0.wrapping_add(GOLDEN))
    }

    /// Number from 0 to `count` − 1; 0 if `count` is 0. Multiply and shift (D. Lemire: *Fast random
    /// integer generation in an interval*, TOMACS 2019) without its correction: the bias is below
    /// `count` / 2⁶⁴.
    pub(super) fn below(self, count: u64) -> u64 {
        let product = u128::from(self.roll()) * u128::from(count);
        let below = (product >> 64) as u64;
        debug_assert!(below < count.max(1), "{below} of {count}");
        below
    }

    /// Index from 0 to `count` − 1; 0 if `count` is 0.
    pub(super) fn index(self, count: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "below a number of that type")]
        let index = self.below(count as u64) as usize;
        index
    }

    /// True with probability `rate` per million.
    pub(super) fn per_million(self, rate: u32) -> bool {
        debug_assert!(rate <= 1_000_000, "{rate} cases of a million");
        self.below(1_000_000) < u64::from(rate)
    }

    /// True with probability one half.
    pub(super) fn coin(self) -> bool {
        self.roll() >> 63 == 1
    }
}

/// Finaliser of `SplitMix64` (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*,
/// OOPSLA 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_met_and_neighbours_differ() {
        for seed in 0..4 {
            let hits = (0..100_000).filter(|&n| Dice::new(seed).of(n).of(7).per_million(10_000)).count();
            assert!((900..1100).contains(&hits), "{hits} of 100 000 at 1 %");
            let heads = (0..100_000).filter(|&n| Dice::new(seed).of(7).of(n).coin()).count();
            assert!((49_000..51_000).contains(&heads), "{heads} heads");
        }
        assert_eq!(Dice::new(1).below(0), 0);
        assert!(!Dice::new(1).per_million(0) && Dice::new(1).per_million(1_000_000));
    }

    #[test]
    fn what_it_is_drawn_for_matters_and_its_order_too() {
        let dice = Dice::new(5);
        assert_ne!(dice.of(1).of(2), dice.of(2).of(1));
        assert_ne!(dice.of(0), dice);
        assert_eq!(dice.of(3).roll(), dice.of(3).roll());
    }
}
