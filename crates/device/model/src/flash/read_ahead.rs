//! Read-ahead: a detector of sequential commands, and the prefetched data.
//!
//! The detector counts commands, not bytes: `trigger_commands` in a row, each starting at the
//! previous one's end, make a stream. If a command of a stream is not wholly in the buffer, the
//! drive fetches it and several lengths of it beyond. A stream whose data is there in time stalls
//! once per fetch. A faster stream arrives before its data, so the drive tops up the buffer
//! continuously (Gill, Bathen: *AMP: Adaptive Multi-stream Prefetching in a Shared Cache*, FAST
//! 2007, prefetches earlier for the same reason). Unused prefetches still cost die and channel
//! time.

use std::collections::VecDeque;

use super::parameters::ReadAheadParameters;
use super::units::UnitRange;

#[derive(Debug)]
pub(crate) struct ReadAhead {
    parameters: ReadAheadParameters,
    buffer_units: usize,
    least_fetch_units: u64,
    streams: Vec<Stream>,
    commands_seen: u64,
}

#[derive(Debug, Default)]
struct Stream {
    next_unit: u32,
    commands: u32,
    last_used: u64,
    window_first: u32,
    /// Time at which each unit of the window has left its channel.
    ready_ns: VecDeque<u64>,
}

impl Stream {
    fn window_end(&self) -> u32 {
        self.window_first + super::units::saturating_u32(self.ready_ns.len() as u64)
    }

    /// Returns true if all of a command's data has arrived.
    fn holds(&self, units: UnitRange, now_ns: u64) -> bool {
        let last = (units.end - 1).checked_sub(self.window_first);
        let ready_ns = last.and_then(|last| self.ready_ns.get(last as usize));
        units.first >= self.window_first && ready_ns.is_some_and(|&ready_ns| ready_ns <= now_ns)
    }

    /// Units to fetch for a command and `beyond` units after it.
    fn missing(&self, units: UnitRange, beyond: u32) -> UnitRange {
        let holds_first = units.first >= self.window_first && units.first <= self.window_end();
        let first = if holds_first && !self.ready_ns.is_empty() { self.window_end() } else { units.first };
        UnitRange { first, end: units.end.saturating_add(beyond).max(first) }
    }
}

/// Units to fetch, and their stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fetch {
    pub(crate) stream: usize,
    pub(crate) units: UnitRange,
}

impl ReadAhead {
    pub(crate) fn new(parameters: &ReadAheadParameters, unit_bytes: u64) -> Self {
        let buffer_units = usize::try_from(parameters.buffer_bytes / unit_bytes.max(1)).unwrap_or(usize::MAX);
        let streams = (0..parameters.streams).map(|_| Stream::default()).collect();
        let least_fetch_units = parameters.least_fetch_bytes / unit_bytes.max(1);
        Self { parameters: parameters.clone(), buffer_units, least_fetch_units, streams, commands_seen: 0 }
    }

    /// Returns true if a fetch ends where logical and physical order diverge.
    pub(crate) fn follows_physical_order(&self) -> bool {
        self.parameters.physically_sequential
    }

    /// Observes a read command at `now_ns`. Returns its stream and the units to fetch now.
    pub(crate) fn observe(&mut self, units: UnitRange, now_ns: u64) -> Option<Fetch> {
        if self.parameters.trigger_commands == 0 {
            return None;
        }
        self.commands_seen += 1;
        let index = self.stream_for(units.first)?;
        let stream = self.streams.get_mut(index)?;
        stream.commands = if stream.next_unit == units.first { stream.commands.saturating_add(1) } else { 1 };
        stream.next_unit = units.end;
        stream.last_used = self.commands_seen;
        if stream.commands < self.parameters.trigger_commands {
            return None;
        }
        let stream = self.streams.get(index)?;
        let units = if stream.holds(units, now_ns) {
            UnitRange { first: units.end, end: units.end }
        } else {
            stream.missing(units, self.beyond(units))
        };
        Some(Fetch { stream: index, units })
    }

    /// Records that a fetched unit will be in the buffer at `ready_ns`.
    pub(crate) fn fetched(&mut self, stream: usize, unit: u32, ready_ns: u64) {
        let Some(stream) = self.streams.get_mut(stream) else { return };
        if unit != stream.window_end() || stream.ready_ns.is_empty() {
            stream.ready_ns.clear();
            stream.window_first = unit;
        }
        stream.ready_ns.push_back(ready_ns);
        if stream.ready_ns.len() > self.buffer_units {
            stream.ready_ns.pop_front();
            stream.window_first += 1;
        }
    }

    /// Copies the arrival times of the first units of `units`, as far as they are in the buffer.
    pub(crate) fn copy_ready(&self, stream: usize, units: UnitRange, into: &mut Vec<u64>) {
        let Some(stream) = self.streams.get(stream) else { return };
        if units.first < stream.window_first || units.first >= stream.window_end() {
            return;
        }
        let skip = (units.first - stream.window_first) as usize;
        into.extend(stream.ready_ns.iter().skip(skip).take(units.len() as usize));
    }

    /// Drops prefetched data that has changed.
    pub(crate) fn invalidate(&mut self, units: UnitRange) {
        for stream in &mut self.streams {
            if units.first < stream.window_end() && units.end > stream.window_first {
                stream.ready_ns.clear();
            }
        }
    }

    fn stream_for(&self, first_unit: u32) -> Option<usize> {
        if let Some(index) = self.streams.iter().position(|s| s.next_unit == first_unit && s.commands > 0) {
            return Some(index);
        }
        (0..self.streams.len()).min_by_key(|&index| self.streams.get(index).map(|s| s.last_used))
    }

    /// Number of units to fetch beyond a command.
    fn beyond(&self, units: UnitRange) -> u32 {
        let lengths = u64::from(self.parameters.fetch_commands) * u64::from(units.len());
        let most = self.buffer_units.saturating_sub(units.len() as usize) as u64;
        super::units::saturating_u32(lengths.max(self.least_fetch_units).min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ahead() -> ReadAhead {
        let parameters = ReadAheadParameters {
            trigger_commands: 4,
            fetch_commands: 2,
            least_fetch_bytes: 0,
            buffer_bytes: 1 << 20,
            streams: 1,
            physically_sequential: false,
        };
        ReadAhead::new(&parameters, 4096)
    }

    /// Submits a command of one unit; its fetched data arrives at `ready_ns`.
    fn command(ahead: &mut ReadAhead, unit: u32, now_ns: u64, ready_ns: u64) -> Option<(u32, u32)> {
        let Fetch { stream, units } = ahead.observe(UnitRange { first: unit, end: unit + 1 }, now_ns)?;
        (units.first..units.end).for_each(|unit| ahead.fetched(stream, unit, ready_ns));
        Some((units.first, units.end))
    }

    #[test]
    fn a_stream_that_finds_its_data_stalls_once_per_fetch() {
        let mut ahead = ahead();
        let fetches: Vec<_> =
            (0..8).map(|unit| command(&mut ahead, unit, 100 * u64::from(unit), 0)).collect();
        let units = |first, end| Some((first, end));
        assert_eq!(fetches[..4], [None, None, None, units(3, 6)]);
        assert_eq!(fetches[4..], [units(5, 5), units(6, 6), units(6, 9), units(8, 8)]);
    }

    #[test]
    fn a_stream_that_comes_before_its_data_is_kept_ahead_of() {
        let mut ahead = ahead();
        let ends: Vec<_> = (0..7).filter_map(|unit| command(&mut ahead, unit, 0, 1_000)).collect();
        assert_eq!(ends, [(3, 6), (6, 7), (7, 8), (8, 9)]);
    }
}
