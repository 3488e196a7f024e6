use crate::figures::words::whole;

/// Requests that each of several sessions keeps outstanding so that all together keep the device busy and no busier:
/// the knee's depth divided among them, rounded up.
pub(crate) fn per_session(knee_depth: f64, sessions: u32) -> u32 {
    let share = whole((knee_depth / f64::from(sessions.max(1))).ceil());
    u32::try_from(share).unwrap_or(u32::MAX).max(1)
}

/// What one session may keep outstanding when it is alone as well as when all are busy: its share of the knee, and no less
/// than the product's default, which one that is alone gains by, up to the knee where the default is greater. `hurts`
/// tells whether the default is known to cost bandwidth; then the share alone counts.
pub(crate) fn within_default(share: u32, default: u32, hurts: bool, most: u32) -> u32 {
    if hurts { share.min(most) } else { share.max(default).min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_divided_among_sessions() {
        assert_eq!(per_session(32.0, 4), 8);
        assert_eq!(per_session(32.0, 3), 11);
        assert_eq!(per_session(1.0, 16), 1);
        assert_eq!(per_session(8.0, 0), 8);
    }

    #[test]
    fn no_session_gets_less_than_the_default_unless_it_hurts() {
        assert_eq!(within_default(2, 16, false, 1000), 16);
        assert_eq!(within_default(2, 16, true, 1000), 2);
        assert_eq!(within_default(256, 16, false, 64), 64);
    }
}
