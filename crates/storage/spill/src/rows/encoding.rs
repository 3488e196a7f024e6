//! # A row in a run
//!
//! ```text
//! varint  bytes that its key has in common with the beginning of the key before it in the run
//! varint  bytes of the key behind those
//! varint  bytes of the payload
//!         the rest of the key, the payload
//! ```
//!
//! A varint is a LEB128 of at most 32 bits. A run is one sequence of bytes over its clusters, but for [what is in front of the
//! rows](super::cluster_head) in each, so a row may begin in one cluster and end in another. Of the first row that begins in a cluster the whole key is stored.

/// The longest head of a row.
pub(crate) const HEAD_BYTES_MAX: usize = 15;

/// Lengths of a row's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) common: u32,
    pub(crate) rest: u32,
    pub(crate) payload: u32,
}

impl Head {
    /// Bytes behind the head.
    pub(crate) fn body_bytes(self) -> usize {
        self.rest as usize + self.payload as usize
    }

    /// Its encoding, and how much of that it is.
    pub(crate) fn encode(self) -> ([u8; HEAD_BYTES_MAX], usize) {
        let mut bytes = [0; HEAD_BYTES_MAX];
        let mut length = 0;
        let mut push = |byte: u8| {
            bytes.iter_mut().skip(length).take(1).for_each(|into| *into = byte);
            length += 1;
        };
        for mut value in [self.common, self.rest, self.payload] {
            loop {
                let [low, ..] = value.to_le_bytes();
                value >>= 7;
                if value == 0 {
                    push(low & 0x7F);
                    break;
                }
                push(low | 0x80);
            }
        }
        (bytes, length)
    }

    /// A head and its length; none where the bytes end before it does. An error where it is none at all.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, &'static str> {
        // Nearly always each is one byte.
        if let [common, rest, payload, ..] = bytes
            && (common | rest | payload) & 0x80 == 0
        {
            let head = Self { common: (*common).into(), rest: (*rest).into(), payload: (*payload).into() };
            return Ok(Some((head, 3)));
        }
        let mut left = bytes;
        let mut values = [0; 3];
        for value in &mut values {
            match varint(&mut left)? {
                Some(decoded) => *value = decoded,
                None => return Ok(None),
            }
        }
        let [common, rest, payload] = values;
        Ok(Some((Self { common, rest, payload }, bytes.len() - left.len())))
    }
}

fn varint(left: &mut &[u8]) -> Result<Option<u32>, &'static str> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let Some((byte, rest)) = left.split_first() else { return Ok(None) };
        *left = rest;
        value |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).map(Some).map_err(|_| "a length is longer than 32 bits");
        }
    }
    Err("a length is longer than 32 bits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_head_is_read_as_it_was_written(common: u32, rest in 0_u32..300, payload: u32) {
            let head = Head { common, rest, payload };
            let (bytes, length) = head.encode();
            prop_assert_eq!(Head::decode(&bytes[..length]), Ok(Some((head, length))));
            for cut in 0..length {
                prop_assert_eq!(Head::decode(&bytes[..cut]), Ok(None));
            }
        }

        #[test]
        fn any_bytes_are_a_head_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(Some((_, length))) = Head::decode(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
