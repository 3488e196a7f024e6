//! A controller's read-ahead.
//!
//! Several consecutive requests, each starting at the end of the previous one, make a stream. The
//! controller then fetches the data ahead of it from the drives into its memory, line by line. A
//! line is long enough to give every drive a run of its own to read.

use std::collections::{BTreeMap, VecDeque};

use super::cache::Ticket;
use super::parameters::ReadAheadParameters;

/// Consecutive requests that make a stream.
const TRIGGER_REQUESTS: u32 = 3;
/// Streams that are tracked at a time.
const STREAMS: usize = 16;

/// Part of the volume that has been fetched or is being fetched.
#[derive(Debug, Default)]
struct Line {
    arrived: bool,
    waiting: Vec<Ticket>,
}

#[derive(Debug, Clone, Copy)]
struct Stream {
    next_bytes: u64,
    requests: u32,
}

/// Streams and the lines fetched for them; the oldest are evicted.
#[derive(Debug)]
pub(crate) struct ReadAhead {
    line_bytes: u64,
    ahead_bytes: u64,
    most_lines: usize,
    volume_bytes: u64,
    /// Least recently used first.
    streams: VecDeque<Stream>,
    lines: BTreeMap<u64, Line>,
    oldest: VecDeque<u64>,
}

/// Result of a lookup in the controller's memory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A part is missing, and no fetch for it is under way.
    Nothing,
    /// All lines are present or being fetched; the number of the latter.
    OnItsWay(usize),
}

impl ReadAhead {
    pub(crate) fn new(parameters: &ReadAheadParameters, volume_bytes: u64) -> Self {
        let most_lines = usize::try_from(parameters.bytes / parameters.line_bytes).unwrap_or(usize::MAX);
        Self {
            line_bytes: parameters.line_bytes,
            ahead_bytes: parameters.ahead_bytes,
            most_lines,
            volume_bytes,
            streams: VecDeque::new(),
            lines: BTreeMap::new(),
            oldest: VecDeque::new(),
        }
    }

    /// Looks a read up. The request `ticket` then waits for each line that is still being fetched.
    pub(crate) fn find(&mut self, offset_bytes: u64, length_bytes: u64, ticket: Ticket) -> Found {
        let wanted = self.lines_of(offset_bytes, length_bytes);
        if !wanted.clone().all(|index| self.lines.contains_key(&index)) {
            return Found::Nothing;
        }
        let mut missing = 0;
        for index in wanted {
            if let Some(line) = self.lines.get_mut(&index)
                && !line.arrived
            {
                line.waiting.push(ticket);
                missing += 1;
            }
        }
        Found::OnItsWay(missing)
    }

    /// Tracks the streams; returns offset and length of the lines to fetch now.
    pub(crate) fn follow(&mut self, offset_bytes: u64, length_bytes: u64) -> Vec<(u64, u64)> {
        let end_bytes = offset_bytes + length_bytes;
        let known = self.streams.iter().position(|stream| stream.next_bytes == offset_bytes);
        let earlier = known.and_then(|index| self.streams.remove(index)).map_or(0, |stream| stream.requests);
        let requests = earlier.saturating_add(1);
        self.streams.push_back(Stream { next_bytes: end_bytes, requests });
        if self.streams.len() > STREAMS {
            self.streams.pop_front();
        }
        if requests < TRIGGER_REQUESTS {
            return Vec::new();
        }
        let ahead_bytes = self.ahead_bytes.min(self.volume_bytes.saturating_sub(end_bytes));
        let missing: Vec<u64> =
            self.lines_of(end_bytes, ahead_bytes).filter(|index| !self.lines.contains_key(index)).collect();
        missing.into_iter().map(|index| self.fetch(index)).collect()
    }

    /// Marks a line as fetched; returns the reads that waited for it.
    pub(crate) fn arrived(&mut self, offset_bytes: u64) -> Vec<Ticket> {
        let Some(line) = self.lines.get_mut(&(offset_bytes / self.line_bytes)) else { return Vec::new() };
        line.arrived = true;
        std::mem::take(&mut line.waiting)
    }

    /// Drops lines whose data has changed. A line being fetched is kept for the reads waiting for
    /// it.
    pub(crate) fn forget(&mut self, offset_bytes: u64, length_bytes: u64) {
        for index in self.lines_of(offset_bytes, length_bytes) {
            if self.lines.get(&index).is_some_and(|line| line.arrived) {
                self.lines.remove(&index);
                self.oldest.retain(|&other| other != index);
            }
        }
    }

    fn fetch(&mut self, index: u64) -> (u64, u64) {
        self.lines.insert(index, Line::default());
        self.oldest.push_back(index);
        while self.oldest.len() > self.most_lines
            && self.oldest.front().and_then(|first| self.lines.get(first)).is_some_and(|line| line.arrived)
        {
            self.oldest.pop_front().and_then(|first| self.lines.remove(&first));
        }
        let offset_bytes = index * self.line_bytes;
        (offset_bytes, self.line_bytes.min(self.volume_bytes - offset_bytes))
    }

    fn lines_of(&self, offset_bytes: u64, length_bytes: u64) -> std::ops::Range<u64> {
        let end_bytes = offset_bytes + length_bytes;
        let first = offset_bytes / self.line_bytes;
        first..if length_bytes == 0 { first } else { end_bytes.div_ceil(self.line_bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_ahead() -> ReadAhead {
        ReadAhead::new(&ReadAheadParameters { bytes: 300, line_bytes: 100, ahead_bytes: 150 }, 1_050)
    }

    #[test]
    fn three_requests_in_a_row_make_a_stream() {
        let mut ahead = read_ahead();
        assert!(ahead.follow(0, 20).is_empty() && ahead.follow(500, 20).is_empty());
        assert!(ahead.follow(20, 20).is_empty());
        assert_eq!(ahead.follow(40, 20), [(0, 100), (100, 100), (200, 100)]);
        assert_eq!(ahead.find(60, 60, 7), Found::OnItsWay(2));
        assert_eq!((ahead.arrived(0), ahead.arrived(100)), (vec![7], vec![7]));
        assert_eq!(ahead.find(60, 60, 8), Found::OnItsWay(0));
        assert_eq!(ahead.find(290, 20, 9), Found::Nothing, "the line from 300 on is not fetched");
    }

    #[test]
    fn a_written_line_is_forgotten_and_the_oldest_gives_way() {
        let mut ahead = read_ahead();
        for offset in [0, 20, 40] {
            ahead.follow(offset, 20);
        }
        for line in [0, 100, 200] {
            ahead.arrived(line);
        }
        ahead.forget(150, 10);
        assert_eq!(ahead.find(120, 10, 1), Found::Nothing);
        ahead.follow(60, 250);
        assert_eq!((ahead.find(0, 10, 1), ahead.find(300, 10, 1)), (Found::Nothing, Found::OnItsWay(1)));
    }

    #[test]
    fn nothing_is_fetched_beyond_the_end() {
        let mut ahead = read_ahead();
        let fetched: Vec<_> = [970, 990, 1_010].iter().flat_map(|&offset| ahead.follow(offset, 20)).collect();
        assert_eq!(fetched, [(1_000, 50)]);
    }
}
