use nandle_io::Nanos;
use nandle_trace::{Operation, Record, TraceError, Zones};
use rustc_hash::FxHashSet;

use super::PlayError;

/// Addresses are compacted by areas of this size: larger than what drives map or cache as one, but for a few.
pub const AREA_BYTES: u64 = 1 << 20;

/// So many areas are told apart: those of 16 TiB. They take some 300 MB.
const AREAS_MAX: usize = 1 << 24;

/// What must be known of a trace before it is played. Takes one pass, and memory for the areas that are touched.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Syncs.
    pub syncs: u64,
    /// Discards.
    pub discards: u64,
    /// Bytes of the writes.
    pub written_bytes: u64,
    /// Where the last read or write ends.
    pub end_bytes: u64,
    /// From the first request to the last.
    pub span: Nanos,
    /// Requests of which the trace says how long they took.
    pub with_latency: u64,
    /// Requests that the trace has later than one that comes after them.
    pub out_of_order: u64,
    /// Requests that began before the one before them had completed.
    pub overlapping: u64,
    /// The areas of [`AREA_BYTES`] that are read or written.
    pub(super) areas: FxHashSet<u64>,
    previous: Option<Record>,
    first_us: u64,
    last_us: u64,
}

impl Survey {
    /// Goes through a trace.
    ///
    /// # Errors
    /// It can't be read, has no requests, or touches more areas than are told apart.
    pub fn read(records: impl Iterator<Item = Result<Record, TraceError>>) -> Result<Self, PlayError> {
        let mut survey = Self::default();
        for record in Zones::over(records) {
            survey.add(&record?)?;
        }
        if survey.requests() == 0 { Err(PlayError::Nothing) } else { Ok(survey) }
    }

    /// All requests.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.syncs + self.discards
    }

    /// Whether playing it changes what a device holds.
    pub fn changes_contents(&self) -> bool {
        self.writes > 0 || self.discards > 0
    }

    /// Whether the trace says of every request how long it took.
    pub fn tells_latencies(&self) -> bool {
        self.with_latency == self.requests()
    }

    /// Bytes of the areas that are read or written.
    pub fn compact_bytes(&self) -> u64 {
        (self.areas.len() as u64).saturating_mul(AREA_BYTES)
    }

    fn add(&mut self, record: &Record) -> Result<(), PlayError> {
        match record.operation {
            Operation::Read => self.reads += 1,
            Operation::Write | Operation::Append => {
                self.writes += 1;
                self.written_bytes = self.written_bytes.saturating_add(record.length_bytes);
            }
            Operation::Sync => self.syncs += 1,
            Operation::Discard | Operation::ZoneReset => self.discards += 1,
            Operation::ZoneFinish | Operation::ZoneOpen | Operation::ZoneClose => return Ok(()),
        }
        if record.operation.moves_data() {
            self.end_bytes = self.end_bytes.max(record.address.saturating_add(record.length_bytes));
            self.areas.extend(record.pages(AREA_BYTES));
            if self.areas.len() > AREAS_MAX {
                return Err(PlayError::TooManyAreas { most_bytes: AREAS_MAX as u64 * AREA_BYTES });
            }
        }
        self.with_latency += u64::from(record.latency_ns.is_some());
        self.pass(record);
        Ok(())
    }

    /// Time passes until the record.
    fn pass(&mut self, record: &Record) {
        let Some(previous) = self.previous.replace(*record) else {
            (self.first_us, self.last_us) = (record.time_us, record.time_us);
            return;
        };
        self.last_us = self.last_us.max(record.time_us);
        self.span = Nanos::from_micros(self.last_us.saturating_sub(self.first_us));
        self.out_of_order += u64::from(record.time_us < previous.time_us);
        let end_ns = previous.time_us.saturating_mul(1000).saturating_add(previous.latency_ns.unwrap_or(0));
        self.overlapping += u64::from(record.time_us.saturating_mul(1000) < end_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time_us: u64, operation: Operation, address: u64, latency_ns: Option<u64>) -> Record {
        Record { time_us, operation, address, length_bytes: 4096, latency_ns }
    }

    #[test]
    fn what_a_target_must_have_is_known() {
        let records = [
            record(10, Operation::Write, 1 << 40, Some(2_000_000)),
            record(20, Operation::Read, (1 << 20) - 512, None),
            record(15, Operation::Discard, 1 << 50, Some(1)),
        ];
        let survey = Survey::read(records.into_iter().map(Ok)).unwrap();
        assert_eq!((survey.requests(), survey.end_bytes), (3, (1 << 40) + 4096));
        assert_eq!((survey.compact_bytes(), survey.span), (3 * AREA_BYTES, Nanos::from_micros(10)));
        assert_eq!((survey.out_of_order, survey.overlapping, survey.with_latency), (1, 2, 2));
        assert!(survey.changes_contents() && !survey.tells_latencies());
        assert!(matches!(Survey::read(std::iter::empty()), Err(PlayError::Nothing)));
    }
}
