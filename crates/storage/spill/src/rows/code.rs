//! Offset-value codes: the position and value of the first difference between a key and the key
//! before it, in one number.
//!
//! If two keys have codes relative to the same smaller key, the key with the smaller code is
//! smaller. Only if the codes are equal must the keys be compared, and then only behind their
//! common prefix. See Do and Graefe, *Robust and Efficient Sorting with Offset-Value Coding* (ACM
//! TODS 2023), after Conner (IBM, 1977).
//!
//! A key is a sequence of four-byte chunks; the last one is padded with zeros. The code holds the
//! index of the first chunk that differs (a later chunk gives a smaller code) and its value. Keys
//! that differ only in padding have equal codes, and are compared.

use std::cmp::Ordering;

use super::common_prefix;

const CHUNK_BYTES: usize = 4;

/// Code of a key relative to a smaller or equal key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Code(u64);

impl Code {
    /// Code of a key that equals the key before it.
    pub(crate) const EQUAL: Self = Self(0);
    /// Sentinel of an exhausted source; sorts after every key.
    pub(crate) const END: Self = Self(u64::MAX);

    /// Code of a key that shares exactly `common` bytes with the key before it.
    pub(crate) fn at(common: usize, key: &[u8]) -> Self {
        let chunk = common / CHUNK_BYTES;
        let Some(from_end) = u32::try_from(chunk).ok().and_then(|chunk| (u32::MAX - 1).checked_sub(chunk))
        else {
            unreachable!("a key is shorter than 16 GiB")
        };
        Self(u64::from(from_end) << 32 | u64::from(chunk_value(key, chunk * CHUNK_BYTES)))
    }

    /// Code of a key relative to the key `before`, with `common` bytes in common.
    pub(crate) fn relative(common: usize, key: &[u8], before: &[u8]) -> Self {
        if common == key.len() && common == before.len() { Self::EQUAL } else { Self::at(common, key) }
    }

    /// Offset of the chunk that differs.
    fn offset(self) -> usize {
        (u32::MAX - 1 - (self.0 >> 32) as u32) as usize * CHUNK_BYTES
    }
}

fn chunk_value(key: &[u8], at: usize) -> u32 {
    let mut chunk = [0; CHUNK_BYTES];
    let rest = key.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(whole) => chunk = *whole,
        None => chunk.iter_mut().zip(rest).for_each(|(into, from)| *into = *from),
    }
    u32::from_be_bytes(chunk)
}

/// Compares two keys whose codes are relative to the same key. If the codes are equal, the greater
/// key's code is updated to be relative to the smaller key. If the keys are equal, too, the second
/// key's code is updated.
pub(crate) fn compare(one: (&mut Code, &[u8]), other: (&mut Code, &[u8])) -> Ordering {
    let ((one_code, one), (other_code, other)) = (one, other);
    if one_code != other_code {
        return one_code.cmp(&other_code);
    }
    if *one_code == Code::EQUAL || *one_code == Code::END {
        return Ordering::Equal;
    }
    let from = one_code.offset();
    let rest = |key| <[u8]>::get(key, from..).unwrap_or_default();
    let common = from + common_prefix(rest(one), rest(other));
    let order = one.get(common..).cmp(&other.get(common..));
    match order {
        Ordering::Less => *other_code = Code::at(common, other),
        Ordering::Greater => *one_code = Code::at(common, one),
        Ordering::Equal => *other_code = Code::EQUAL,
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..14)
    }

    proptest! {
        #[test]
        fn codes_sort_like_their_keys(mut keys in [key(), key(), key()]) {
            keys.sort();
            let [base, one, other] = keys;
            let relative = |key: &Vec<u8>| Code::relative(common_prefix(key, &base), key, &base);
            let (mut one_code, mut other_code) = (relative(&one), relative(&other));
            prop_assert!(one_code <= other_code);
            let order = compare((&mut one_code, &one), (&mut other_code, &other));
            prop_assert_eq!(order, one.cmp(&other));
            prop_assert_eq!(other_code, Code::relative(common_prefix(&one, &other), &other, &one), "the loser's code is relative to the winner");
        }
    }
}
