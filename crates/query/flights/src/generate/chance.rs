//! Random numbers: streams, weighted choice, quantiles.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Mixes two numbers to a pseudo-random one (the finaliser of `SplitMix64`, Steele, Lea, Flood
/// 2014).
pub(super) fn mix(one: u64, other: u64) -> u64 {
    let mut mixed = one.wrapping_add(other.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Maps a hash to a number between 0 and 1.
pub(super) fn fraction(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// Random numbers of one part of the data.
pub(super) fn stream(seed: u64, part: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(mix(seed, part))
}

/// Weighted choice in constant time (Walker 1977, in Vose's form of 1991).
#[derive(Debug, Clone)]
pub(super) struct Alias {
    /// For each item: the fraction below which it is chosen itself, and its alternative.
    things: Vec<(f32, u32)>,
}

impl Alias {
    pub(super) fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let mean = total / weights.len().max(1) as f64;
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        let mut things: Vec<(f32, u32)> = (0..weights.len()).map(|index| (1.0, number(index))).collect();
        let mut scaled: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|index| scaled.get(*index).is_some_and(|weight| *weight < 1.0));
        while let (Some(less), Some(more)) = (small.pop(), large.last().copied()) {
            let weight = scaled.get(less).copied().unwrap_or_default();
            if let Some(thing) = things.get_mut(less) {
                #[allow(clippy::cast_possible_truncation, reason = "a fraction needs no more digits")]
                let own = weight as f32;
                *thing = (own, number(more));
            }
            if let Some(rest) = scaled.get_mut(more) {
                *rest -= 1.0 - weight;
                if *rest < 1.0 {
                    large.pop();
                    small.push(more);
                }
            }
        }
        Self { things }
    }

    /// Draws the index of an item.
    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> usize {
        let bits = random.next_u64();
        let index = ((bits >> 32) * self.things.len() as u64) >> 32;
        #[allow(clippy::cast_possible_truncation, reason = "24 bits are all that it holds")]
        let fraction = (bits & 0xff_ffff) as f32 / 16_777_216.0;
        let index = usize::try_from(index).unwrap_or_default();
        match self.things.get(index) {
            Some((own, other)) if fraction >= *own => *other as usize,
            Some(_) | None => index,
        }
    }
}

/// A distribution, as quantiles at even steps of the logit of probability. For a group with
/// likelier large values the odds are multiplied: all logits are shifted (proportional odds,
/// `McCullagh` 1980). Extrapolates linearly beyond the last quantile.
#[derive(Debug, Clone)]
pub(super) struct Quantiles {
    pub(super) from: f64,
    pub(super) step: f64,
    pub(super) values: Vec<i16>,
}

impl Quantiles {
    #[inline]
    pub(super) fn draw(&self, shift: f64, random: &mut impl Rng) -> i16 {
        let share: f64 = random.random();
        let logit = ((share + 1e-12) / (1.0 - share)).ln() + shift;
        let place = ((logit - self.from) / self.step).max(0.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between the first and the last value"
        )]
        let index = (place as usize).min(self.values.len().saturating_sub(2));
        let value = |index| self.values.get(index).copied().map_or(0.0, f64::from);
        let (low, high) = (value(index), value(index + 1));
        #[allow(clippy::cast_possible_truncation, reason = "minutes of some days")]
        let minutes = (low + (high - low) * (place - index as f64)).round() as i16;
        minutes
    }
}

#[cfg(test)]
mod tests {
    use super::{Alias, Quantiles, stream};

    #[test]
    fn things_come_as_often_as_they_weigh() {
        let weights = [1.0, 0.0, 5.0, 2.0, 0.5, 1.5];
        let alias = Alias::new(&weights);
        let mut random = stream(1, 2);
        let mut counts = [0.0; 6];
        for _ in 0..100_000 {
            counts[alias.draw(&mut random)] += 1e-4;
        }
        for (count, weight) in counts.iter().zip(weights) {
            assert!((count - weight).abs() < 0.1, "{counts:?}");
        }
    }

    #[test]
    fn a_shift_multiplies_odds() {
        let quantiles = Quantiles { from: -4.0, step: 1.0, values: (-40..=40).step_by(10).collect() };
        let mut random = stream(3, 4);
        let mut share_above = |shift| {
            (0..100_000).filter(|_| quantiles.draw(shift, &mut random) > 10).count() as f64 / 100_000.0
        };
        // A step is a logit of 1, so at 10 the odds are 1 to e.
        let odds = |share: f64| share / (1.0 - share);
        let (without, with) = (odds(share_above(0.0)), odds(share_above(0.7)));
        assert!((without * 1.0_f64.exp() - 1.0).abs() < 0.15, "{without}");
        assert!((with / without - 0.7_f64.exp()).abs() < 0.15, "{with} {without}");
    }
}
