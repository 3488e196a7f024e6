//! Pages moved by cleaning, under skewed writes.

/// Pages moved per page written, in a log filled to `share` with live pages. A full log can't be
/// cleaned, but a store always has [more zones](crate::policy::zone_room) than its pages fill.
pub(super) fn moved_by_page(share: f64) -> f64 {
    debug_assert!(share < 1.0, "a log that is full to {share} has nothing to clean");
    let alive = alive_when_cleaned(share);
    alive / (1.0 - alive)
}

/// Live share of a zone when it is cleaned: the square of the share under uniform writes. Databases
/// write some pages more often than others, whose zones die sooner. The square is close to the
/// moves in three database traces: 0 in half-full stores, 0.6 to 1.1 per page in stores 90 % full.
pub(super) fn alive_when_cleaned(share: f64) -> f64 {
    alive_when_written_evenly(share).powi(2)
}

/// Live share of the oldest zone under uniform writes: `share` = (`alive` - 1) / ln `alive` (Menon,
/// "A performance comparison of RAID-5 and log-structured arrays", 1995; Desnoyers, "Analytic
/// modeling of SSD write performance", 2012).
fn alive_when_written_evenly(share: f64) -> f64 {
    /// Bisection steps down to floating-point precision.
    const HALVINGS: usize = 60;
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..HALVINGS {
        let alive = low.midpoint(high);
        // Increases with `alive`, from 0 to 1.
        if (alive - 1.0) / alive.ln() < share { low = alive } else { high = alive }
    }
    low.midpoint(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fuller_log_moves_more() {
        let moved = [0.0, 0.5, 0.8, 0.9, 0.95].map(moved_by_page);
        assert!(moved.is_sorted(), "{moved:?}");
        // Half full: uniform writes leave 0.2 of a zone live, as -0.8 / ln 0.2 is 0.5; thus 0.04
        // here, and 0.04 / 0.96 are moved.
        assert!(moved[0] < 1e-9 && (moved[1] - 0.043).abs() < 0.003, "{moved:?}");
        // Nearly full: uniform writes leave 0.902, as -0.098 / ln 0.902 is 0.95.
        assert!((moved[4] - 4.37).abs() < 0.1, "{moved:?}");
    }
}
