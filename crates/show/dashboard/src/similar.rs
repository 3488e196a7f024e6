//! Similar airports by count.

use std::collections::BTreeMap;

use crate::AirportCode;

/// Airports with the nearest counts by ratio, nearest first, then by code. Airports with a count of
/// 0 are never similar.
pub(crate) fn nearest(
    airport: AirportCode,
    own: u64,
    counts: &BTreeMap<AirportCode, u64>,
    most: usize,
) -> Vec<AirportCode> {
    let distance = |count: u64| (count as f64 / own as f64).ln().abs();
    let others = counts.iter().filter(|(code, count)| **code != airport && **count > 0);
    let mut others: Vec<(f64, AirportCode)> = others.map(|(code, count)| (distance(*count), *code)).collect();
    others.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    others.into_iter().take(most).map(|(_, code)| code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_as_far_as_twice() {
        let code = |code: &str| code.parse::<AirportCode>().unwrap();
        let counts = [("AAA", 100), ("BBB", 199), ("CCC", 50), ("DDD", 200), ("EEE", 0), ("FFF", 101)];
        let counts = counts.map(|(name, count)| (code(name), count)).into();
        let near = nearest(code("AAA"), 100, &counts, 4);
        assert_eq!(near, ["FFF", "BBB", "CCC", "DDD"].map(code));
        assert_eq!(nearest(code("AAA"), 100, &counts, 1), [code("FFF")]);
    }
}
