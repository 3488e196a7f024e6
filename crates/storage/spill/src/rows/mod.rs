//! Encoding of rows in the clusters of a run.

pub(crate) mod cluster_head;
pub(crate) mod code;
pub(crate) mod encoding;
pub(crate) mod reader;
pub(crate) mod writer;

/// A row: a key that is compared byte by byte, and a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Sort key; see [`keys`](crate::keys) to encode columns as a key.
    pub key: &'a [u8],
    /// Arbitrary bytes.
    pub payload: &'a [u8],
}

/// Length of the common prefix of two keys.
pub(crate) fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    const WORD: usize = size_of::<u64>();
    let words = one.chunks_exact(WORD).zip(other.chunks_exact(WORD));
    let equal = words.take_while(|(one, other)| one == other).count() * WORD;
    let (one, other) = (one.get(equal..).unwrap_or_default(), other.get(equal..).unwrap_or_default());
    equal + one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::common_prefix;

    #[test]
    fn common_prefix_of_any_length_is_found() {
        let key: Vec<u8> = (0..40).collect();
        for at in 0..40 {
            let mut other = key.clone();
            other[at] ^= 1;
            assert_eq!(common_prefix(&key, &other), at);
            assert_eq!(common_prefix(&key, &key[..at]), at);
        }
        assert_eq!(common_prefix(&key, &key), 40);
    }
}
