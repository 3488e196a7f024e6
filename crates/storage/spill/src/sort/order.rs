//! Sorts rows by their entries, eight bytes of the key at a time.

use super::workspace::row_at;

/// Eight bytes of a row's key as an integer, and the offset of the row.
pub(super) type Entry = [u64; 2];

/// Offset of an entry's row.
pub(super) fn offset(entry: &Entry) -> usize {
    let Ok(at) = usize::try_from(entry[1]) else { unreachable!("rows are in memory") };
    at
}

/// Groups of at most this many rows are sorted by comparing whole keys.
const FEW: usize = 24;

/// Sorts entries by the keys of their rows, and rows with equal keys by offset. All keys share
/// their first `common` bytes.
pub(super) fn sort(rows: &[u8], entries: &mut [Entry], common: usize) {
    // Groups of rows with equal prefixes, and the prefix lengths. A stack instead of recursion,
    // because keys may be long.
    let mut groups = vec![(0..entries.len(), common)];
    while let Some((range, depth)) = groups.pop() {
        let Some(group) = entries.get_mut(range.clone()) else { unreachable!("{range:?} are entries") };
        if group.len() <= FEW {
            sort_few(rows, group, depth);
            continue;
        }
        for entry in group.iter_mut() {
            entry[0] = prefix(rest(rows, entry, depth));
        }
        group.sort_unstable_by_key(|[prefix, at]| u128::from(*prefix) << 64 | u128::from(*at));
        let mut start = 0;
        for equal in group.chunk_by_mut(|one, other| one[0] == other[0]) {
            let first = range.start + start;
            start += equal.len();
            let Some((ended, depth)) = sort_equal(rows, equal, depth) else { continue };
            match equal.get_mut(ended..) {
                // Small groups are sorted at once, which keeps the stack short.
                Some(few) if few.len() <= FEW => sort_few(rows, few, depth),
                _ => groups.push((first + ended..range.start + start, depth)),
            }
        }
    }
}

/// Compares whole keys.
fn sort_few(rows: &[u8], group: &mut [Entry], depth: usize) {
    group.sort_unstable_by(|one, other| {
        rest(rows, one, depth).cmp(rest(rows, other, depth)).then(one[1].cmp(&other[1]))
    });
}

/// Sorts entries with the same eight bytes at `depth`. Keys that end there come first, shorter
/// before longer. Returns their number and the length of the prefix that the other keys share; none
/// if fewer than two others remain.
fn sort_equal(rows: &[u8], equal: &mut [Entry], depth: usize) -> Option<(usize, usize)> {
    if equal.len() < 2 {
        return None;
    }
    let end = depth + size_of::<u64>();
    let length = |entry: &Entry| row_at(rows, offset(entry)).key.len();
    let (mut ended, mut are_alike) = (0, true);
    let first_length = equal.first().map_or(0, length);
    for entry in equal.iter() {
        let length = length(entry);
        ended += usize::from(length <= end);
        are_alike &= length == first_length;
    }
    if ended > 0 && !are_alike {
        equal.sort_unstable_by_key(|entry| (length(entry).min(end + 1), entry[1]));
    }
    let longer = equal.get(ended..).filter(|longer| longer.len() > 1)?;
    let (first, others) = longer.split_first()?;
    let first = rest(rows, first, end);
    let common = others.iter().map(|other| crate::rows::common_prefix(first, rest(rows, other, end)));
    Some((ended, end + common.min()?))
}

fn rest<'a>(rows: &'a [u8], entry: &Entry, depth: usize) -> &'a [u8] {
    row_at(rows, offset(entry)).key.get(depth..).unwrap_or_default()
}

/// The first eight bytes of a key as a big-endian integer, padded with zeros.
fn prefix(key: &[u8]) -> u64 {
    if let Some(first) = key.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    let mut first = [0; size_of::<u64>()];
    first.iter_mut().zip(key).for_each(|(into, from)| *into = *from);
    u64::from_be_bytes(first)
}
