use std::ops::Range;

/// Row ranges of a row group: non-empty, ascending and disjoint.
pub(crate) type Rows = Vec<Range<u64>>;

/// A single range, or none if it is empty.
pub(crate) fn one(range: Range<u64>) -> Rows {
    let mut rows = Rows::new();
    append(&mut rows, range);
    rows
}

pub(crate) fn count(rows: &[Range<u64>]) -> u64 {
    rows.iter().map(|range| range.end - range.start).sum()
}

/// Intersection of two sets of rows.
pub(crate) fn intersection(one: &[Range<u64>], other: &[Range<u64>]) -> Rows {
    let mut both = Rows::new();
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let (start, end) = (a.start.max(b.start), a.end.min(b.end));
        if start < end {
            both.push(start..end);
        }
        if a.end <= b.end {
            left.next();
        } else {
            right.next();
        }
    }
    both
}

/// Appends a range that begins at or after the last one's end.
pub(crate) fn append(rows: &mut Rows, range: Range<u64>) {
    match rows.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ if range.is_empty() => {}
        _ => rows.push(range),
    }
}

/// Removes and returns the first `rows_max` rows.
pub(crate) fn take_front(rows: &mut Rows, rows_max: u64) -> Rows {
    let (mut taken, mut left) = (Rows::new(), rows_max);
    let whole = rows.iter().take_while(|range| {
        let fits = range.end - range.start <= left;
        left -= if fits { range.end - range.start } else { 0 };
        fits
    });
    let whole = whole.count();
    taken.extend(rows.drain(..whole));
    if let Some(range) = rows.first_mut().filter(|_| left > 0) {
        taken.push(range.start..range.start + left);
        range.start += left;
    }
    taken
}

/// Returns the positions of `rows` within `held`, counted from its first row.
pub(crate) fn places_in(held: &[Range<u64>], rows: &[Range<u64>]) -> Rows {
    let mut places = Rows::new();
    let (mut before, mut rows) = (0, rows.iter().peekable());
    for held in held {
        while let Some(range) = rows.next_if(|range| range.end <= held.end) {
            append(&mut places, range.start - held.start + before..range.end - held.start + before);
        }
        before += held.end - held.start;
    }
    places
}

/// Returns the rows at ascending positions within `rows`; the inverse of [`places_in`].
pub(crate) fn at_places(rows: &[Range<u64>], places: impl Iterator<Item = Range<u64>>) -> Rows {
    let mut found = Rows::new();
    let (mut before, mut rows) = (0, rows.iter().peekable());
    for mut place in places {
        while !place.is_empty()
            && let Some(range) = rows.peek()
        {
            let end = before + range.end - range.start;
            let part = place.start.max(before)..place.end.min(end);
            if !part.is_empty() {
                append(&mut found, range.start + part.start - before..range.start + part.end - before);
                place.start = part.end;
            }
            if !place.is_empty() {
                before = end;
                rows.next();
            }
        }
    }
    found
}

/// Returns true if a row lies in the range.
pub(crate) fn touches(rows: &[Range<u64>], range: &Range<u64>) -> bool {
    let place = rows.partition_point(|candidate| candidate.end <= range.start);
    rows.get(place).is_some_and(|candidate| candidate.start < range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(mask: &[bool]) -> Rows {
        let mut rows = Rows::new();
        for (row, _) in mask.iter().enumerate().filter(|(_, set)| **set) {
            append(&mut rows, row as u64..row as u64 + 1);
        }
        rows
    }

    proptest! {
        #[test]
        fn agrees_with_masks(masks in prop::collection::vec(any::<(bool, bool)>(), 0..40), from in 0_u64..40, len in 1_u64..9) {
            let (one, other): (Vec<bool>, Vec<bool>) = masks.iter().copied().unzip();
            let both: Vec<bool> = masks.iter().map(|(a, b)| *a && *b).collect();
            prop_assert_eq!(intersection(&of(&one), &of(&other)), of(&both));
            prop_assert_eq!(count(&of(&one)), one.iter().filter(|set| **set).count() as u64);
            let held = masks.iter().filter(|(held, _)| *held).map(|(_, row)| *row).collect::<Vec<_>>();
            let places = places_in(&of(&one), &intersection(&of(&one), &of(&other)));
            prop_assert_eq!(at_places(&of(&one), places.iter().cloned()), of(&both));
            prop_assert_eq!(places, of(&held));
            let touched = one.iter().enumerate().any(|(row, set)| *set && (from..from + len).contains(&(row as u64)));
            let mut rest = of(&one);
            let front = take_front(&mut rest, len);
            let mut left = len;
            let is_front = one.iter().map(|set| { let first = *set && left > 0; left -= u64::from(first); first });
            let is_front: Vec<bool> = is_front.collect();
            prop_assert_eq!(front, of(&is_front));
            let is_rest: Vec<bool> = one.iter().zip(is_front).map(|(set, front)| *set && !front).collect();
            prop_assert_eq!(rest, of(&is_rest));
            prop_assert_eq!(touches(&of(&one), &(from..from + len)), touched);
        }
    }
}
