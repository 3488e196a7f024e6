//! Offset-value codes: where and how a key differs from the one before it, in one number.
//!
//! Do and Graefe, *Robust and Efficient Sorting with Offset-Value Coding* (ACM TODS 2023), after Conner (IBM, 1977). Of two keys
//! with codes relative to the same smaller key the one with the smaller code is the smaller one; only where the codes are equal the keys must
//! be looked at, behind what they have in common.
//!
//! A key is a sequence of chunks of four bytes, the last one filled up with zeros. The code counts the first chunk that differs
//! (the later, the smaller the code) and holds its value. Keys that are equal but for a filled-up end have equal codes and are
//! compared.

use std::cmp::Ordering;

use super::common_prefix;

const CHUNK_BYTES: usize = 4;

/// Of a key relative to a smaller or equal one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Code(u64);

impl Code {
    /// It is equal to the one before.
    pub(crate) const EQUAL: Self = Self(0);
    /// Greater than that of any key: a source that is at its end.
    pub(crate) const END: Self = Self(u64::MAX);

    /// Of a key that begins with `common` bytes of the one before, and differs behind them.
    pub(crate) fn at(common: usize, key: &[u8]) -> Self {
        let chunk = common / CHUNK_BYTES;
        let Some(from_end) = u32::try_from(chunk).ok().and_then(|chunk| (u32::MAX - 1).checked_sub(chunk))
        else {
            unreachable!("a key is shorter than 16 GiB")
        };
        Self(u64::from(from_end) << 32 | u64::from(chunk_value(key, chunk * CHUNK_BYTES)))
    }

    /// Of a key relative to the one before it, of which `common` bytes are the same.
    pub(crate) fn relative(common: usize, key: &[u8], before: &[u8]) -> Self {
        if common == key.len() && common == before.len() { Self::EQUAL } else { Self::at(common, key) }
    }

    /// Where the chunk begins that differs.
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

/// Compares two keys whose codes are relative to the same one. Where both codes are equal the greater key's code becomes the
/// one relative to the smaller; where the keys are equal too, so does that of the second.
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
        fn codes_relative_to_one_key_order_as_the_keys_do(mut keys in [key(), key(), key()]) {
            keys.sort();
            let [base, one, other] = keys;
            let relative = |key: &Vec<u8>| Code::relative(common_prefix(key, &base), key, &base);
            let (mut one_code, mut other_code) = (relative(&one), relative(&other));
            prop_assert!(one_code <= other_code);
            let order = compare((&mut one_code, &one), (&mut other_code, &other));
            prop_assert_eq!(order, one.cmp(&other));
            prop_assert_eq!(other_code, Code::relative(common_prefix(&one, &other), &other, &one), "the loser's is relative to the winner");
        }
    }
}
