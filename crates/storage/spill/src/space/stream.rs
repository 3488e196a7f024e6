//! Clusters of a stream.

use std::ops::Range;

use super::cluster::Header;
use crate::rows::cluster_head::Totals;

/// A sequence of clusters appended to a space: a run, a section of one, or a part of either.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Stream {
    number: u32,
    /// First cluster and length of each contiguous extent.
    extents: Vec<(u64, u32)>,
    clusters: u32,
    /// Position of the first cluster in the whole stream.
    from: u32,
    /// Totals of its rows.
    pub(crate) totals: Totals,
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

    /// Memory of the list, in bytes.
    pub(crate) fn list_bytes(&self) -> usize {
        size_of::<Self>() + self.extents.capacity() * size_of::<(u64, u32)>()
    }

    /// Ends the stream.
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

    /// Returns the part of the stream at these positions.
    pub(crate) fn part(&self, positions: Range<u32>) -> Self {
        let mut part = Self { number: self.number, from: self.from + positions.start, ..Self::default() };
        let mut position = 0;
        for (first, count) in &self.extents {
            let (from, to) = (positions.start.max(position), positions.end.min(position + count));
            if from < to {
                part.extents.push((first + u64::from(from - position), to - from));
                part.clusters += to - from;
            }
            position += count;
        }
        part.close();
        part
    }

    /// Expected headers of the clusters, in order.
    pub(crate) fn headers(&self, salt: u64) -> impl Iterator<Item = Header> + use<> {
        let stream = self.number;
        let clusters =
            self.extents.clone().into_iter().flat_map(|(first, count)| first..first + u64::from(count));
        (self.from..).zip(clusters).map(move |(position, cluster)| Header { salt, cluster, stream, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_keeps_clusters_and_positions() {
        let mut stream = Stream::new(3);
        for cluster in [5, 6, 7, 20, 8, 9] {
            stream.push(cluster);
        }
        let places = |stream: &Stream| -> Vec<Header> { stream.headers(1).collect() };
        let all = places(&stream);
        for from in 0..=6 {
            for to in from..=6 {
                let part = stream.part(from..to);
                assert_eq!(part.clusters(), to - from);
                assert_eq!(places(&part), all[from as usize..to as usize]);
                if from < to {
                    assert_eq!(places(&part.part(1..to - from)), all[from as usize + 1..to as usize]);
                }
            }
        }
    }

    #[test]
    fn adjacent_clusters_share_an_extent() {
        let mut stream = Stream::new(3);
        for cluster in [5, 6, 7, 20, 8] {
            stream.push(cluster);
        }
        assert_eq!(stream.extents, [(5, 3), (20, 1), (8, 1)]);
        let places: Vec<_> = stream.headers(1).map(|header| (header.position, header.cluster)).collect();
        assert_eq!(places, [(0, 5), (1, 6), (2, 7), (3, 20), (4, 8)]);
    }
}
