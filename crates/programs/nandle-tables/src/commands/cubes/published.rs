//! Numbers of result rows in the paper (papers' notes, §4): means over a class, by the number of a
//! dimension's partners.

use nandle_flights::{CubeQuery, Dimension, Fact};

/// A fact, and a dimension with 0, 1, 2 and 3 partners.
const PUBLISHED: [(Fact, Dimension, [u64; 4]); 7] = [
    (Fact::Diverted, Dimension::Airline, [48, 3714, 112_470, 513_922]),
    (Fact::Diverted, Dimension::Dest, [677, 20_261, 205_416, 513_922]),
    (Fact::Diverted, Dimension::Year, [24, 4275, 50_113, 130_657]),
    (Fact::Cancelled, Dimension::Airline, [48, 3841, 141_526, 650_070]),
    (Fact::Cancelled, Dimension::Month, [280, 47_793, 478_213, 1_149_864]),
    (Fact::Delay, Dimension::Airline, [18_895, 515_278, 6_339_232, 20_444_384]),
    (Fact::Delay, Dimension::Origin, [127_367, 1_677_018, 9_956_825, 20_444_384]),
];

/// Published number for a class; `None` for most.
pub(super) fn published_rows(fact: Fact, dimension: Dimension, partners: u32) -> Option<u64> {
    let found = PUBLISHED.iter().find(|(of, by, _)| (*of, *by) == (fact, dimension));
    found.and_then(|(_, _, rows)| rows.get(partners as usize)).copied()
}

/// Returns true if a cube belongs to the class.
pub(super) fn is_of(query: CubeQuery, fact: Fact, dimension: Dimension, partners: u32) -> bool {
    query.fact() == fact && query.partners() == partners && query.dimensions().any(|own| own == dimension)
}
