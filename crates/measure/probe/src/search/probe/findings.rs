use nandle_io::Nanos;
use nandle_profile::{
    Batch, Derived, FirstTouch, FitSummary, FittedCell, MeasuredCell, ReferenceCell, SkippedCell,
};

use crate::load::{Contents, LoadError};
use crate::search::OmittedStatistics;

/// Parameters of the probe's reads.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Total time, from now on.
    pub budget: Nanos,
    /// Bytes read, from the start of the device.
    pub area_bytes: u64,
    /// Contents that reads must return, if known.
    pub contents: Option<Contents>,
    /// True if the area was just written, so that first touch can be compared with re-read.
    pub freshly_written: bool,
    /// Largest number of outstanding bytes. Cells beyond it are skipped.
    pub outstanding_bytes_max: u64,
    /// Split size stated by the system.
    pub stated_split_bytes: Option<u64>,
    /// Seed of patterns, order and draws.
    pub seed: u64,
    /// Statistics that an ablation leaves out.
    #[doc(hidden)]
    pub without: OmittedStatistics,
}

/// Results of the probe's reads.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Reasons why the findings are partial; empty if complete.
    pub partial: Vec<String>,
    /// Interruption or stall that ended the probe early. Also listed in `partial`.
    pub ended_by: Option<LoadError>,
    /// Failed or damaged reads while others succeeded. Also listed in `partial`.
    pub failed: Option<LoadError>,
    /// Remarks for the reader, each a sentence.
    pub remarks: Vec<String>,
    /// Measured cells.
    pub cells: Vec<MeasuredCell>,
    /// Batches of random reads on the idle device.
    pub batches: Vec<Batch>,
    /// Cells of the grid that were fitted instead of measured.
    pub fitted_cells: Vec<FittedCell>,
    /// The fitted curve.
    pub fit: Option<FitSummary>,
    /// Derived parameters.
    pub derived: Derived,
    /// First touch against re-read.
    pub first_touch: Option<FirstTouch>,
    /// The reference cell.
    pub reference: Option<ReferenceCell>,
    /// Skipped cells.
    pub skipped: Vec<SkippedCell>,
    /// Rounds of slices.
    pub rounds: u32,
    /// Number of reads that failed or returned wrong contents.
    pub errors: u64,
    /// Time taken.
    pub elapsed: Nanos,
}
