use crate::figures::words::whole;

/// Queue depth per session that keeps the device busy but not busier: the knee divided by the
/// sessions, rounded up.
pub(crate) fn per_session(knee_depth: f64, sessions: u32) -> u32 {
    let share = whole((knee_depth / f64::from(sessions.max(1))).ceil());
    u32::try_from(share).unwrap_or(u32::MAX).max(1)
}

/// Queue depth of a session that may run alone or with others: its share of the knee, raised to the
/// product's default, which helps a session that runs alone. If `hurts` is true the default costs
/// bandwidth, so only the share counts.
pub(crate) fn depth_with_default(share: u32, default: u32, hurts: bool, most: u32) -> u32 {
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
        assert_eq!(depth_with_default(2, 16, false, 1000), 16);
        assert_eq!(depth_with_default(2, 16, true, 1000), 2);
        assert_eq!(depth_with_default(256, 16, false, 64), 64);
    }
}
