//! Statistics of a trace's page writes from the drive's view: rewrite distances, runs, skew and
//! locality.

mod areas;
mod counts;
mod distances;
mod latencies;
mod runs;
mod skew;

use serde::Serialize;

use crate::{PageFit, Record, TraceError, ZoneTranslator};

pub use areas::AreaShare;
pub use counts::{SizeCount, ZoneCounts};
pub use distances::RewriteShare;
pub use latencies::RecordedLatency;
pub use runs::RunShare;
pub use skew::SkewShare;

/// Statistics of a trace's page writes. Shares are fractions of 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStatistics {
    /// Length of the pages that writes are divided into, in bytes.
    pub page_bytes: u64,
    /// Time from the first event to the last, in microseconds.
    pub duration_us: u64,
    /// Number of reads.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Number of writes, including appends to zones.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Number of syncs.
    pub syncs: u64,
    /// Number of discards.
    pub discards: u64,
    /// Requests specific to zoned devices.
    pub zones: ZoneCounts,
    /// Latency of reads; `null` if not recorded.
    pub read_latency: Option<RecordedLatency>,
    /// Latency of writes; `null` if not recorded.
    pub write_latency: Option<RecordedLatency>,
    /// Latency of syncs; `null` if not recorded.
    pub sync_latency: Option<RecordedLatency>,
    /// Writes that don't begin and end at a page boundary.
    pub writes_unaligned: u64,
    /// Length of most writes, if it divides their addresses; `null` if there is none. This is
    /// probably the page length of the engine.
    pub usual_write_bytes: Option<u64>,
    /// Page writes: a write of several pages counts once for each.
    pub pages_written: u64,
    /// Distinct pages written.
    pub pages_distinct: u64,
    /// Bytes from the lowest to the highest byte written; `null` without writes.
    pub span_bytes: Option<u64>,
    /// Most frequent sizes of writes, most frequent first.
    pub write_sizes: Vec<SizeCount>,
    /// Shares of rewrites by distance.
    pub rewrites: Vec<RewriteShare>,
    /// Shares of pages in runs of neighbouring pages.
    pub runs: Vec<RunShare>,
    /// Skew of the writes over the pages.
    pub skew: Vec<SkewShare>,
    /// Spatial locality of writes that are close in time.
    pub areas: Vec<AreaShare>,
}

/// Collects statistics of records.
///
/// Uses 50 to 100 bytes of memory for each distinct page.
pub struct Statistics {
    pages_max: u64,
    zones: ZoneTranslator,
    fit: PageFit,
    counts: counts::Counts,
    distances: distances::Distances,
    runs: runs::Runs,
    areas: areas::Areas,
}

impl Statistics {
    /// Creates statistics for pages of `page_bytes` bytes.
    ///
    /// # Panics
    /// `page_bytes` is 0.
    pub fn new(page_bytes: u64) -> Self {
        Self {
            pages_max: u64::MAX,
            zones: ZoneTranslator::default(),
            fit: PageFit::new(page_bytes),
            counts: counts::Counts::default(),
            distances: distances::Distances::default(),
            runs: runs::Runs::default(),
            areas: areas::Areas::new(page_bytes),
        }
    }

    /// Limits the number of distinct pages. Each takes up to
    /// [`PAGE_STATISTICS_BYTES`](crate::PAGE_STATISTICS_BYTES) of memory.
    #[must_use]
    pub fn with_pages_max(self, pages_max: u64) -> Self {
        Self { pages_max, ..self }
    }

    /// Adds an event.
    ///
    /// # Errors
    ///
    /// The number of distinct pages exceeds the limit.
    pub fn add(&mut self, record: Record) -> Result<(), TraceError> {
        let conventional = self.zones.conventional(record);
        self.counts.add(&record, conventional.as_ref());
        let Some(record) = conventional else { return Ok(()) };
        self.fit.add(&record);
        if record.operation.is_write() {
            for page in record.pages(self.fit.page_bytes()) {
                if self.distances.pages_distinct() >= self.pages_max {
                    let (pages_max, page_bytes) = (self.pages_max, self.fit.page_bytes());
                    return Err(TraceError::TooManyPages { pages_max, page_bytes });
                }
                self.distances.add(page);
                self.runs.add(page);
                self.areas.add(page);
            }
        }
        Ok(())
    }

    /// Returns the statistics.
    pub fn finish(self) -> TraceStatistics {
        let counts = self.counts;
        debug_assert_eq!(counts.writes, self.fit.writes(), "each part has seen every write");
        debug_assert!(self.fit.unaligned() <= counts.writes, "{} lie askew", self.fit.unaligned());
        debug_assert!(
            self.distances.pages_distinct() <= self.distances.writes(),
            "{} pages in {} page writes",
            self.distances.pages_distinct(),
            self.distances.writes()
        );
        TraceStatistics {
            page_bytes: self.fit.page_bytes(),
            duration_us: counts.duration_us(),
            reads: counts.reads,
            read_bytes: counts.read_bytes,
            writes: counts.writes,
            written_bytes: counts.written_bytes,
            syncs: counts.syncs,
            discards: counts.discards,
            zones: counts.zones,
            read_latency: counts.read_latencies.recorded(),
            write_latency: counts.write_latencies.recorded(),
            sync_latency: counts.sync_latencies.recorded(),
            writes_unaligned: self.fit.unaligned(),
            usual_write_bytes: self.fit.usual_bytes(),
            pages_written: self.distances.writes(),
            pages_distinct: self.distances.pages_distinct(),
            span_bytes: counts.span_bytes(),
            write_sizes: counts.frequent_sizes(),
            skew: skew::shares(self.distances.writes_by_page()),
            rewrites: self.distances.shares(),
            runs: self.runs.shares(),
            areas: self.areas.shares(),
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of events are far below 2^53")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
