use nandle_io::Nanos;
use nandle_profile::{
    Batch, Derived, FirstTouch, FitSummary, FittedCell, MeasuredCell, ReferenceCell, SkippedCell,
};

use crate::load::{Contents, LoadError};
use crate::search::Without;

/// What the read side of a probe is given.
#[derive(Debug, Clone)]
pub struct ProbeOptions {
    /// Time for all of it, from now on.
    pub budget: Nanos,
    /// How much of the device is read, from its start on.
    pub area_bytes: u64,
    /// What reads must find, where that is known.
    pub contents: Option<Contents>,
    /// Whether the area was just written, so that a first touch can be told from a re-read.
    pub freshly_written: bool,
    /// Cells with more bytes outstanding are left out.
    pub outstanding_bytes_max: u64,
    /// Where the system says that it splits requests.
    pub stated_split_bytes: Option<u64>,
    /// Seed of patterns, order and draws.
    pub seed: u64,
    /// What an ablation leaves out.
    #[doc(hidden)]
    pub without: Without,
}

/// What the read side of a probe found.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Why it is partial; empty when all was concluded.
    pub partial: Vec<String>,
    /// What ended it before its time: the user, or the device. It is among the reasons in `partial`, too.
    pub ended_by: Option<LoadError>,
    /// Reads failed, or brought wrong contents, while others were answered. It is among the reasons in `partial`, too.
    pub failed: Option<LoadError>,
    /// What a reader should know, each a sentence.
    pub remarks: Vec<String>,
    /// Measured cells.
    pub cells: Vec<MeasuredCell>,
    /// Batches of random reads on the idle device.
    pub batches: Vec<Batch>,
    /// Cells of the grid from the fitted curve.
    pub fitted_cells: Vec<FittedCell>,
    /// The fitted curve.
    pub fit: Option<FitSummary>,
    /// What follows.
    pub derived: Derived,
    /// First touch against re-read.
    pub first_touch: Option<FirstTouch>,
    /// The reference cell.
    pub reference: Option<ReferenceCell>,
    /// Cells left out.
    pub skipped: Vec<SkippedCell>,
    /// Rounds of slices.
    pub rounds: u32,
    /// Reads that failed or brought wrong contents.
    pub errors: u64,
    /// Time that it took.
    pub elapsed: Nanos,
}
