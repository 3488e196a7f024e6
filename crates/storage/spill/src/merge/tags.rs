/// Order-preserving tags of keys: the eight bytes behind the prefix that most keys share. A merge
/// compares tags to forecast which run needs its next cluster first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tags {
    common: Vec<u8>,
}

impl Tags {
    /// Creates tags for keys that mostly begin with `common`.
    pub(crate) fn new(common: &[u8]) -> Self {
        Self { common: common.to_vec() }
    }

    /// Length of the shared prefix, in bytes.
    pub(crate) fn common_bytes(&self) -> usize {
        self.common.len()
    }

    /// Returns the tag of a key. A greater key never has a smaller tag.
    pub(crate) fn of(&self, key: &[u8]) -> u64 {
        let Some(rest) = key.strip_prefix(self.common.as_slice()) else {
            return if key < self.common.as_slice() { 0 } else { u64::MAX };
        };
        let mut first = [0; size_of::<u64>()];
        first.iter_mut().zip(rest).for_each(|(into, from)| *into = *from);
        u64::from_be_bytes(first)
    }
}

#[cfg(test)]
mod tests {
    use super::Tags;

    #[test]
    fn tags_follow_the_order_of_keys() {
        let tags = Tags::new(b"pre");
        let keys: [&[u8]; 8] = [b"", b"a", b"pr", b"pre", b"prea", b"preb", b"preb23456789", b"q"];
        assert!(keys.map(|key| tags.of(key)).is_sorted());
        assert!(tags.of(b"prea") < tags.of(b"preb"));
    }
}
