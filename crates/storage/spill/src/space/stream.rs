//! The clusters of a stream, in their order.

use super::cluster::Header;

/// A sequence of clusters that were appended to a space: a run, a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stream {
    number: u32,
    /// First cluster and count of each stretch without a gap.
    extents: Vec<(u64, u32)>,
    clusters: u32,
}

impl Stream {
    pub(crate) fn new(number: u32) -> Self {
        Self { number, ..Self::default() }
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn clusters(&self) -> u32 {
        self.clusters
    }

    /// What its list takes in memory.
    pub(crate) fn list_bytes(&self) -> usize {
        size_of::<Self>() + self.extents.capacity() * size_of::<(u64, u32)>()
    }

    /// Nothing more will be appended.
    pub(crate) fn close(&mut self) {
        self.extents.shrink_to_fit();
    }

    pub(super) fn push(&mut self, cluster: u64) {
        self.clusters += 1;
        match self.extents.last_mut() {
            Some((first, count)) if *first + u64::from(*count) == cluster => *count += 1,
            _ => self.extents.push((cluster, 1)),
        }
    }

    /// Its clusters as a reader expects them.
    pub(crate) fn headers(&self, salt: u64) -> impl Iterator<Item = Header> + use<> {
        let stream = self.number;
        let clusters =
            self.extents.clone().into_iter().flat_map(|(first, count)| first..first + u64::from(count));
        (0..).zip(clusters).map(move |(position, cluster)| Header { salt, cluster, stream, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_extent() {
        let mut stream = Stream::new(3);
        for cluster in [5, 6, 7, 20, 8] {
            stream.push(cluster);
        }
        assert_eq!(stream.extents, [(5, 3), (20, 1), (8, 1)]);
        let places: Vec<_> = stream.headers(1).map(|header| (header.position, header.cluster)).collect();
        assert_eq!(places, [(0, 5), (1, 6), (2, 7), (3, 20), (4, 8)]);
    }
}
