//! # A row in a run
//!
//! ```text
//! varint  length of the prefix that the key shares with the key before it in the run
//! varint  length of the rest of the key
//! varint  length of the payload
//!         the rest of the key, the payload
//! ```
//!
//! A varint is a LEB128 number of at most 32 bits. Apart from the [header](super::cluster_head) of
//! each cluster, a run is one sequence of bytes, so a row may begin in one cluster and end in
//! another. The first row that begins in a cluster stores its whole key.

/// Length of the longest row header, in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 15;

/// Row header: the lengths of a row's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) common: u32,
    pub(crate) rest: u32,
    pub(crate) payload: u32,
}

impl Head {
    /// Bytes of the row behind its header.
    pub(crate) fn body_bytes(self) -> usize {
        self.rest as usize + self.payload as usize
    }

    /// Encodes the header. Returns the bytes and the number used.
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

    /// Decodes a header. Returns it with its length, or none if the bytes end within it.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Option<(Self, usize)>, &'static str> {
        // Nearly always, each length fits into one byte.
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
        fn row_header_round_trips(common: u32, rest in 0_u32..300, payload: u32) {
            let head = Head { common, rest, payload };
            let (bytes, length) = head.encode();
            prop_assert_eq!(Head::decode(&bytes[..length]), Ok(Some((head, length))));
            for cut in 0..length {
                prop_assert_eq!(Head::decode(&bytes[..cut]), Ok(None));
            }
        }

        #[test]
        fn any_bytes_decode_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
            if let Ok(Some((_, length))) = Head::decode(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
