//! Order of a window's requests.

use crate::costs::Prices;

use super::{Extent, PlannedRead, Strategy};

/// Criterion by which requests are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By offset: short jumps cost less than long ones.
    Place,
    /// As given, for one-by-one.
    Given,
    /// By first step, so that the consumer can start early.
    Need,
}

/// Jumps matter if the longest random request takes more than this multiple of a continuing one.
const JUMPS_COST: f64 = 1.1;

impl Order {
    pub(crate) fn of(strategy: Strategy, prices: &Prices) -> Self {
        let bytes = prices.largest_bytes();
        let random_seconds = prices.random_seconds(bytes).value;
        let jumps_cost = random_seconds > JUMPS_COST * prices.continued_seconds(bytes).value;
        if matches!(strategy, Strategy::OneByOne { .. }) {
            Self::Given
        } else if jumps_cost {
            Self::Place
        } else {
            Self::Need
        }
    }

    /// Appends the requests of `extents` to `reads` in order. The first extent has number `first`.
    pub(crate) fn send(self, extents: &[Extent], first: usize, reads: &mut Vec<PlannedRead>) {
        let key = |extent: &Extent| (extent.first_step, extent.file, extent.offset_bytes);
        if self != Self::Need || extents.is_sorted_by_key(key) {
            for (number, extent) in extents.iter().enumerate() {
                requests(extent, number + first, reads);
            }
            return;
        }
        let mut numbers: Vec<usize> = (0..extents.len()).collect();
        numbers.sort_by_key(|number| extents.get(*number).map(key));
        for number in numbers {
            let Some(extent) = extents.get(number) else { unreachable!("extent {number} was counted") };
            requests(extent, number + first, reads);
        }
    }
}

fn requests(extent: &Extent, number: usize, reads: &mut Vec<PlannedRead>) {
    let count = extent.requests();
    let extent_number = u32::try_from(number).unwrap_or(u32::MAX);
    for index in 0..count {
        let (offset_bytes, length_bytes) =
            extent.request(if extent.is_backward { count - 1 - index } else { index });
        let is_continued = reads.last().is_some_and(|last| {
            last.file == extent.file && last.offset_bytes + last.length_bytes == offset_bytes
        });
        reads.push(PlannedRead {
            file: extent.file,
            offset_bytes,
            length_bytes,
            is_continued,
            extent: extent_number,
        });
    }
}
