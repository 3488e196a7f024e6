//! Pages that cleaning moves, where some are written more often than others.

/// Pages moved for each page written, in a log whose space is filled with living pages to this share. A full log
/// can't be cleaned; a store always has [more zones](crate::policy::zone_room) than its pages fill.
pub(super) fn moved_by_page(share: f64) -> f64 {
    debug_assert!(share < 1.0, "a log that is full to {share} has nothing to clean");
    let alive = alive_when_cleaned(share);
    alive / (1.0 - alive)
}

/// Share of a zone that is alive when it is cleaned. Databases write some pages more often than others, and zones of those
/// are dead sooner: the square of the share under even writing, which is near to what three databases' traces moved (0 in half-full
/// stores, 0.6 to 1.1 for each page in stores that were 90 % full).
pub(super) fn alive_when_cleaned(share: f64) -> f64 {
    alive_when_written_evenly(share).powi(2)
}

/// Share of the oldest zone that is alive, every page as likely to be written as any other: `share` = (`alive` - 1) / ln `alive`
/// (Menon, "A performance comparison of RAID-5 and log-structured arrays", 1995; Desnoyers, "Analytic modeling of SSD write
/// performance", 2012).
fn alive_when_written_evenly(share: f64) -> f64 {
    /// Halvings until the interval is narrower than a number can tell.
    const HALVINGS: usize = 60;
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..HALVINGS {
        let alive = low.midpoint(high);
        // Grows with `alive`, from 0 to 1.
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
        // Half full: 0.2 of a zone are alive under even writing, as -0.8 / ln 0.2 is 0.5; so 0.04, and 0.04 / 0.96 are moved.
        assert!(moved[0] < 1e-9 && (moved[1] - 0.043).abs() < 0.003, "{moved:?}");
        // Nearly full: 0.902 under even writing, as -0.098 / ln 0.902 is 0.95.
        assert!((moved[4] - 4.37).abs() < 0.1, "{moved:?}");
    }
}
