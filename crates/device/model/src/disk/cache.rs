//! The drive's cache: segments, each a run of sectors from the medium or from the host.
//!
//! A segment is a ring: if it outgrows its size, it loses its oldest sectors. Reads and writes
//! share the segments; a limited number may be dirty. The next segment to be used is an empty one,
//! otherwise the least recently used.
#![allow(clippy::indexing_slicing, reason = "segment numbers are handed out by this module and never shrink")]

use super::parameters::CacheParameters;

/// Number of a segment.
pub(super) type SegmentId = usize;

/// Result of a cache lookup for a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    /// All sectors are cached.
    Full(SegmentId),
    /// The sectors before `end` are cached. If `end` is the read's first sector, none is, but that
    /// sector arrives next.
    Beginning { segment: SegmentId, end: u64 },
    /// No sector is cached.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SegmentState {
    Empty,
    Clean,
    /// Sectors from `written` on are not on the medium yet.
    Dirty {
        written: u64,
        since_ns: u64,
        order: u64,
    },
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    first: u64,
    end: u64,
    state: SegmentState,
    used: u64,
    /// Time at which the host's last sector has arrived.
    arrived_ns: u64,
    /// True while the segment is being destaged.
    destaging: bool,
}

/// Run of sectors to be destaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DirtyRun {
    pub(super) segment: SegmentId,
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) since_ns: u64,
    pub(super) order: u64,
    pub(super) arrived_ns: u64,
}

/// Segments in use by the arm. The segment being read for a command is never evicted; the one being
/// read ahead is evicted last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct InUse {
    pub(super) reading: Option<SegmentId>,
    pub(super) reading_ahead: Option<SegmentId>,
}

/// Segments of the cache.
#[derive(Debug)]
pub(super) struct Cache {
    segments: Vec<Segment>,
    parameters: CacheParameters,
    uses: u64,
    writes: u64,
}

impl Cache {
    pub(super) fn new(parameters: &CacheParameters) -> Self {
        let empty = Segment {
            first: 0,
            end: 0,
            state: SegmentState::Empty,
            used: 0,
            arrived_ns: 0,
            destaging: false,
        };
        Self {
            segments: vec![empty; parameters.segments as usize],
            parameters: parameters.clone(),
            uses: 0,
            writes: 0,
        }
    }

    /// Looks up the sectors from `first` to before `end`. If several segments hold a part, the
    /// longest part counts.
    pub(super) fn look_up(&self, first: u64, end: u64) -> Lookup {
        let mut best = Lookup::Nothing;
        for (id, segment) in self.segments.iter().enumerate() {
            let reaches = if self.parameters.hits.arriving { segment.end + 1 } else { segment.end };
            if segment.state == SegmentState::Empty || first < segment.first || first >= reaches {
                continue;
            }
            if end <= segment.end {
                return Lookup::Full(id);
            }
            if !matches!(best, Lookup::Beginning { end: known, .. } if known >= segment.end) {
                best = Lookup::Beginning { segment: id, end: segment.end };
            }
        }
        best
    }

    /// Returns a segment for a read from `first` on: the segment that the read continues, or an
    /// evicted one. `None` if every segment is dirty.
    pub(super) fn claim_for_read(&mut self, first: u64, lookup: Lookup, in_use: InUse) -> Option<SegmentId> {
        if let Lookup::Beginning { segment, .. } = lookup
            && matches!(self.segments[segment].state, SegmentState::Clean)
        {
            self.touch(segment);
            return Some(segment);
        }
        let id = self.victim(None, in_use)?;
        self.reset(id, first, SegmentState::Clean);
        Some(id)
    }

    /// Admits a write: joins it to the dirty segment that it continues or repeats, or opens a
    /// segment. `None` if the limit of dirty segments is reached.
    pub(super) fn accept_write(
        &mut self,
        first: u64,
        end: u64,
        now_ns: u64,
        in_use: InUse,
    ) -> Option<SegmentId> {
        let id = match self.joined(first, end) {
            Some(id) => id,
            None => self.open_dirty(first, end, now_ns, in_use)?,
        };
        self.segments[id].end = self.segments[id].end.max(end);
        self.touch(id);
        self.forget_clean(first, end, id);
        Some(id)
    }

    /// Records that the host's data for a segment arrives by `arrived_ns`.
    pub(super) fn note_arrival(&mut self, id: SegmentId, arrived_ns: u64) {
        let segment = &mut self.segments[id];
        segment.arrived_ns = segment.arrived_ns.max(arrived_ns);
    }

    /// Records that a read or the read-ahead has reached `end`.
    pub(super) fn extend(&mut self, id: SegmentId, end: u64) {
        let size = u64::from(self.parameters.segment_sectors);
        let segment = &mut self.segments[id];
        segment.end = segment.end.max(end);
        segment.first = segment.first.max(segment.end.saturating_sub(size));
    }

    /// Delivers the sectors before `end` to the host.
    pub(super) fn deliver(&mut self, id: SegmentId, end: u64) {
        self.touch(id);
        let segment = &mut self.segments[id];
        if segment.state == SegmentState::Clean && !self.parameters.hits.delivered {
            segment.first = segment.first.max(end);
        }
    }

    fn touch(&mut self, id: SegmentId) {
        self.uses += 1;
        self.segments[id].used = self.uses;
    }

    /// First sector in a segment.
    pub(super) fn first_sector(&self, id: SegmentId) -> u64 {
        self.segments[id].first
    }

    /// Returns true if a segment still holds read data.
    pub(super) fn is_clean(&self, id: SegmentId) -> bool {
        self.segments[id].state == SegmentState::Clean
    }

    /// Runs waiting to be destaged, without those under way.
    pub(super) fn waiting_runs(&self) -> impl Iterator<Item = DirtyRun> + '_ {
        self.segments.iter().enumerate().filter(|(_, segment)| !segment.destaging).filter_map(dirty_run)
    }

    /// Starts to destage a segment.
    pub(super) fn start_destage(&mut self, id: SegmentId) {
        self.segments[id].destaging = true;
    }

    /// Completes a segment's destage up to before `end`. Sectors that the host appended meanwhile
    /// stay dirty.
    pub(super) fn finish_destage(&mut self, id: SegmentId, end: u64) {
        let keeps = self.parameters.hits.written;
        let segment = &mut self.segments[id];
        segment.destaging = false;
        if let SegmentState::Dirty { written, .. } = &mut segment.state {
            *written = end;
        }
        if segment.end <= end {
            segment.state = if keeps { SegmentState::Clean } else { SegmentState::Empty };
        }
    }

    /// Returns true if the sectors before `end` of the run with number `order` are on the medium.
    pub(super) fn is_on_medium(&self, order: u64, end: u64) -> bool {
        !self
            .segments
            .iter()
            .enumerate()
            .filter_map(dirty_run)
            .any(|run| run.order == order && run.first < end)
    }

    /// Dirty run of a segment, waiting or being destaged.
    pub(super) fn dirty_run(&self, id: SegmentId) -> Option<DirtyRun> {
        dirty_run((id, &self.segments[id]))
    }

    /// Dirty runs, including those being destaged.
    pub(super) fn unwritten_runs(&self) -> impl Iterator<Item = DirtyRun> + '_ {
        self.segments.iter().enumerate().filter_map(dirty_run)
    }

    /// Dirty segment that a write continues, or repeats and overwrites in place.
    fn joined(&self, first: u64, end: u64) -> Option<SegmentId> {
        let size = u64::from(self.parameters.segment_sectors);
        self.segments.iter().position(|segment| match segment.state {
            SegmentState::Dirty { written, .. } => {
                let repeats = !segment.destaging && written <= first && end <= segment.end;
                let continues = first == segment.end && end - written <= size;
                repeats || continues
            }
            SegmentState::Empty | SegmentState::Clean => false,
        })
    }

    fn open_dirty(&mut self, first: u64, end: u64, now_ns: u64, in_use: InUse) -> Option<SegmentId> {
        let dirty = self
            .segments
            .iter()
            .filter(|segment| matches!(segment.state, SegmentState::Dirty { .. }))
            .count();
        if dirty >= self.parameters.write_segments as usize {
            return None;
        }
        let id = self.victim(Some((first, end)), in_use)?;
        let order = self.writes;
        self.writes += 1;
        self.reset(id, first, SegmentState::Dirty { written: first, since_ns: now_ns, order });
        Some(id)
    }

    /// Segment to be evicted. A write prefers a segment with older contents of its own sectors.
    fn victim(&self, overlapping: Option<(u64, u64)>, in_use: InUse) -> Option<SegmentId> {
        let free = |(id, segment): &(usize, &Segment)| {
            !matches!(segment.state, SegmentState::Dirty { .. }) && Some(*id) != in_use.reading
        };
        let rank = |(id, segment): &(usize, &Segment)| {
            let overlaps = overlapping.is_some_and(|(first, end)| segment.overlaps(first, end));
            let class = match segment.state {
                _ if Some(*id) == in_use.reading_ahead => 3,
                SegmentState::Clean if overlaps => 0,
                SegmentState::Empty => 1,
                SegmentState::Clean | SegmentState::Dirty { .. } => 2,
            };
            (class, segment.used)
        };
        self.segments.iter().enumerate().filter(free).min_by_key(rank).map(|(id, _)| id)
    }

    fn reset(&mut self, id: SegmentId, first: u64, state: SegmentState) {
        self.segments[id] = Segment { first, end: first, state, used: 0, arrived_ns: 0, destaging: false };
        self.touch(id);
    }

    /// Drops clean copies of sectors that were just written to another segment.
    fn forget_clean(&mut self, first: u64, end: u64, except: SegmentId) {
        for (id, segment) in self.segments.iter_mut().enumerate() {
            if id != except && segment.state == SegmentState::Clean && segment.overlaps(first, end) {
                segment.state = SegmentState::Empty;
            }
        }
    }
}

impl Segment {
    fn overlaps(&self, first: u64, end: u64) -> bool {
        self.first < end && first < self.end
    }
}

fn dirty_run((segment, contents): (SegmentId, &Segment)) -> Option<DirtyRun> {
    match contents.state {
        SegmentState::Dirty { written, since_ns, order } => Some(DirtyRun {
            segment,
            first: written,
            end: contents.end,
            since_ns,
            order,
            arrived_ns: contents.arrived_ns,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{HitParameters, ReadAhead};

    fn cache() -> Cache {
        Cache::new(&CacheParameters {
            segments: 3,
            write_segments: 2,
            segment_sectors: 100,
            write_back: true,
            read_ahead: ReadAhead::Request,
            hits: HitParameters { delivered: true, written: true, arriving: false },
            read_ahead_on_hit: false,
        })
    }

    fn read(cache: &mut Cache, first: u64, end: u64) -> SegmentId {
        let lookup = cache.look_up(first, end);
        let id = cache.claim_for_read(first, lookup, InUse::default()).unwrap();
        cache.extend(id, end);
        id
    }

    #[test]
    fn the_least_recently_used_segment_is_forgotten() {
        let mut cache = cache();
        let ids = [0, 1_000, 2_000].map(|first| read(&mut cache, first, first + 10));
        cache.deliver(ids[0], 5);
        assert_eq!(read(&mut cache, 3_000, 3_010), ids[1]);
        assert_eq!(cache.look_up(1_000, 1_010), Lookup::Nothing);
        assert_eq!(cache.look_up(2, 8), Lookup::Full(ids[0]));
        assert_eq!(cache.look_up(5, 12), Lookup::Beginning { segment: ids[0], end: 10 });
        assert_eq!(cache.look_up(10, 12), Lookup::Nothing, "nothing of it is there");
    }

    #[test]
    fn a_segment_keeps_its_newest_sectors() {
        let mut cache = cache();
        let id = read(&mut cache, 0, 130);
        assert_eq!(cache.look_up(29, 31), Lookup::Nothing);
        assert_eq!(cache.look_up(30, 130), Lookup::Full(id));
    }

    #[test]
    fn a_write_joins_what_it_continues_or_repeats_and_waits_when_all_is_dirty() {
        let mut cache = cache();
        let mut write = |first, end| cache.accept_write(first, end, 0, InUse::default());
        let id = write(0, 10);
        assert_eq!(write(10, 20), id);
        assert_eq!(write(5, 15), id);
        let other = write(500, 510);
        assert_ne!(other, id);
        assert_eq!(write(900, 910), None);
        cache.start_destage(id.unwrap());
        assert_eq!(cache.accept_write(0, 10, 0, InUse::default()), None, "it is on its way");
        assert_eq!(cache.accept_write(20, 30, 0, InUse::default()), id);
        cache.finish_destage(id.unwrap(), 20);
        let left = cache.dirty_run(id.unwrap()).unwrap();
        assert_eq!((left.first, left.end), (20, 30), "what came meanwhile stays dirty");
        assert!(cache.is_on_medium(left.order, 20) && !cache.is_on_medium(left.order, 30));
    }

    #[test]
    fn a_write_makes_older_copies_useless() {
        let mut cache = cache();
        read(&mut cache, 0, 50);
        cache.accept_write(40, 60, 0, InUse::default()).unwrap();
        assert_eq!(cache.look_up(0, 10), Lookup::Nothing);
    }
}
