use crate::figures::words::whole;

/// Requests that each of several sessions keeps outstanding so that all together keep the device busy and no busier:
/// the knee's depth divided among them, rounded up, from 1 to `most`.
pub(crate) fn depth_per_session(knee_depth: f64, sessions: u32, most: u32) -> u32 {
    let share = whole((knee_depth / f64::from(sessions.max(1))).ceil());
    u32::try_from(share).map_or(most, |share| share.clamp(1, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_is_divided_among_sessions() {
        assert_eq!(depth_per_session(32.0, 4, 1000), 8);
        assert_eq!(depth_per_session(32.0, 3, 1000), 11);
        assert_eq!(depth_per_session(1.0, 16, 1000), 1);
        assert_eq!(depth_per_session(256.0, 1, 64), 64);
        assert_eq!(depth_per_session(8.0, 0, 64), 8);
    }
}
