/// Short orders of keys, by which a merge foresees which run will need its next cluster first: eight bytes behind the beginning that
/// most keys have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tags {
    common: Vec<u8>,
}

impl Tags {
    /// For keys most of which begin with `common`.
    pub(crate) fn new(common: &[u8]) -> Self {
        Self { common: common.to_vec() }
    }

    /// How long that beginning is.
    pub(crate) fn common_bytes(&self) -> usize {
        self.common.len()
    }

    /// Greater keys have greater tags, or the same.
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
    fn tags_are_in_the_order_of_keys() {
        let tags = Tags::new(b"pre");
        let keys: [&[u8]; 8] = [b"", b"a", b"pr", b"pre", b"prea", b"preb", b"preb23456789", b"q"];
        assert!(keys.map(|key| tags.of(key)).is_sorted());
        assert!(tags.of(b"prea") < tags.of(b"preb"));
    }
}
