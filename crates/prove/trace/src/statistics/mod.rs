//! What a trace's page writes look like to a drive: how soon pages are written again, in what runs, how unevenly, and
//! how close together.

mod areas;
mod counts;
mod distances;
mod latencies;
mod runs;
mod skew;

use serde::Serialize;

use crate::{PageFit, Record, TraceError, Zones};

pub use areas::AreaShare;
pub use counts::{SizeCount, ZoneCounts};
pub use distances::RewriteShare;
pub use latencies::RecordedLatency;
pub use runs::RunShare;
pub use skew::SkewShare;

/// What a trace's page writes look like to a drive. Shares are of 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceStatistics {
    /// Bytes of the pages that writes are cut into.
    pub page_bytes: u64,
    /// Time from the first event to the last.
    pub duration_us: u64,
    /// Reads in the trace.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Writes in the trace, appends to zones among them.
    pub writes: u64,
    /// Bytes that they write.
    pub written_bytes: u64,
    /// Syncs in the trace.
    pub syncs: u64,
    /// Discards in the trace.
    pub discards: u64,
    /// Requests of zoned devices.
    pub zones: ZoneCounts,
    /// How long reads took; `null` where the trace doesn't tell.
    pub read_latency: Option<RecordedLatency>,
    /// The same of writes.
    pub write_latency: Option<RecordedLatency>,
    /// The same of syncs.
    pub sync_latency: Option<RecordedLatency>,
    /// Writes that don't begin and end at a page's border.
    pub writes_unaligned: u64,
    /// The length that most writes have and at whose multiples they begin; `null` where there is none. What the engine takes
    /// for a page.
    pub usual_write_bytes: Option<u64>,
    /// Page writes: a write of several pages counts once for each.
    pub pages_written: u64,
    /// Different pages among them.
    pub pages_distinct: u64,
    /// Lowest to highest byte that is written; `null` when nothing is.
    pub span_bytes: Option<u64>,
    /// The most frequent sizes of writes, most frequent first.
    pub write_sizes: Vec<SizeCount>,
    /// How soon pages are written again.
    pub rewrites: Vec<RewriteShare>,
    /// How many pages have neighbours that are written at about the same time.
    pub runs: Vec<RunShare>,
    /// How unevenly the writes are spread over the pages.
    pub skew: Vec<SkewShare>,
    /// How close together writes lie that come at about the same time.
    pub areas: Vec<AreaShare>,
}

/// Takes records, and says what they look like.
///
/// Takes 50 to 100 bytes for each different page.
pub struct Statistics {
    pages_max: u64,
    zones: Zones,
    fit: PageFit,
    counts: counts::Counts,
    distances: distances::Distances,
    runs: runs::Runs,
    areas: areas::Areas,
}

impl Statistics {
    /// Statistics in pages of `page_bytes`.
    ///
    /// # Panics
    /// `page_bytes` is 0.
    pub fn new(page_bytes: u64) -> Self {
        Self {
            pages_max: u64::MAX,
            zones: Zones::default(),
            fit: PageFit::new(page_bytes),
            counts: counts::Counts::default(),
            distances: distances::Distances::default(),
            runs: runs::Runs::default(),
            areas: areas::Areas::new(page_bytes),
        }
    }

    /// The same for no more than so many different pages, of which each takes up to [`PAGE_STATISTICS_BYTES`](crate::PAGE_STATISTICS_BYTES)
    /// of memory.
    #[must_use]
    pub fn with_pages_max(self, pages_max: u64) -> Self {
        Self { pages_max, ..self }
    }

    /// Takes the next event.
    ///
    /// # Errors
    /// It writes to more different pages than there may be.
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

    /// What the events looked like.
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
