//! Rows as bytes: in memory, and in the clusters of a run.

pub(crate) mod cluster_head;
pub(crate) mod code;
pub(crate) mod encoding;
pub(crate) mod reader;
pub(crate) mod writer;

/// A row: a key by which rows are compared, byte by byte, and what goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Rows are sorted by it; see [`keys`](crate::keys) for how columns become one.
    pub key: &'a [u8],
    /// Anything.
    pub payload: &'a [u8],
}

/// How many bytes two keys have in common at their beginnings.
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
    fn prefixes_of_all_lengths() {
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
