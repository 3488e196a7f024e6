use nandle_profile::Interval;

use super::Figures;

impl Figures<'_> {
    /// Bounds a number by the device's noise: twice the standard deviation of the reference cell's
    /// slices.
    pub(crate) fn within_noise(&self, value: f64) -> Interval<f64> {
        let reference = self.profile.conditions.reference.as_ref();
        let noise = reference.map_or(0.0, |reference| 2.0 * reference.variation);
        Interval { value, low: value * (1.0 - noise).max(0.0), high: value * (1.0 + noise) }
    }
}
