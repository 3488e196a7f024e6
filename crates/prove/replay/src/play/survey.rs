use nandle_io::Nanos;
use nandle_trace::{Operation, Record, TraceError, ZoneTranslator};
use rustc_hash::FxHashSet;

use super::PlayError;

/// Length of the areas for compaction, in bytes. Most drives map and cache smaller units.
pub const AREA_BYTES: u64 = 1 << 20;

/// Maximum number of areas, equal to 16 TiB. They take about 300 MB of memory.
const AREAS_MAX: usize = 1 << 24;

/// Summary of a trace, needed before it is played. Takes one pass, and memory for each area
/// touched.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Number of reads.
    pub reads: u64,
    /// Number of writes.
    pub writes: u64,
    /// Number of syncs.
    pub syncs: u64,
    /// Number of discards.
    pub discards: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// End of the last read or write, in bytes.
    pub end_bytes: u64,
    /// Time from the first request to the last.
    pub span: Nanos,
    /// Requests with a recorded latency.
    pub with_latency: u64,
    /// Requests that precede a request with an earlier time.
    pub out_of_order: u64,
    /// Requests that began before the previous one had completed.
    pub overlapping: u64,
    /// Areas of [`AREA_BYTES`] that are read or written.
    pub(super) areas: FxHashSet<u64>,
    previous: Option<Record>,
    first_us: u64,
    last_us: u64,
}

impl Survey {
    /// Reads a trace.
    ///
    /// # Errors
    ///
    /// The trace can't be read, has no requests, or touches too many areas.
    pub fn read(records: impl Iterator<Item = Result<Record, TraceError>>) -> Result<Self, PlayError> {
        let mut survey = Self::default();
        for record in ZoneTranslator::over(records) {
            survey.add(&record?)?;
        }
        if survey.requests() == 0 { Err(PlayError::Nothing) } else { Ok(survey) }
    }

    /// Number of requests.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.syncs + self.discards
    }

    /// Returns true if playing the trace changes the device's contents.
    pub fn changes_contents(&self) -> bool {
        self.writes > 0 || self.discards > 0
    }

    /// Returns true if every request has a recorded latency.
    pub fn has_latencies(&self) -> bool {
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

    /// Updates the time span and the order statistics.
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
    fn survey_computes_the_required_capacity() {
        let records = [
            record(10, Operation::Write, 1 << 40, Some(2_000_000)),
            record(20, Operation::Read, (1 << 20) - 512, None),
            record(15, Operation::Discard, 1 << 50, Some(1)),
        ];
        let survey = Survey::read(records.into_iter().map(Ok)).unwrap();
        assert_eq!((survey.requests(), survey.end_bytes), (3, (1 << 40) + 4096));
        assert_eq!((survey.compact_bytes(), survey.span), (3 * AREA_BYTES, Nanos::from_micros(10)));
        assert_eq!((survey.out_of_order, survey.overlapping, survey.with_latency), (1, 2, 2));
        assert!(survey.changes_contents() && !survey.has_latencies());
        assert!(matches!(Survey::read(std::iter::empty()), Err(PlayError::Nothing)));
    }
}
