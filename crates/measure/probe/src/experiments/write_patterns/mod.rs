//! *What does a write cost in each pattern, relative to sequential writing?*
//!
//! uFLIP's nine micro-benchmarks (Bouganim, Jónsson, Bonnet, CIDR 2009: granularity, alignment,
//! locality, partitioning, order, parallelism, mix, pause, bursts) with its four baselines. They
//! include the four good patterns of `StableBuffer` §3.1. The method is uFLIP's: the device starts
//! in a defined state, the start-up phase of each run is cut off, and pauses between runs last
//! until the effect of random writes is gone. Unlike uFLIP's random initial state, the area is
//! written sequentially, and gentle patterns precede harsh ones ([`visits`]). The reason is that a
//! page-mapped drive pays for random writes long after them, in any pattern.
//!
//! The experiment writes some gigabytes all over the area, and leaves it fragmented.

mod limits;
mod rows;
mod state;
mod visits;

use nandle_io::Nanos;
use nandle_profile::experiments::WritePatterns;
use nandle_profile::{Conducted, Derived, Experiments};

use self::rows::{base_block_bytes, rows};
use self::visits::Visits;
use super::series::Pool;
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;

/// See the [module](self).
pub(super) struct WritePatternCosts;

/// Smallest area with room for distinct patterns.
const AREA_BYTES_MIN: u64 = 16 << 20;
/// Most bytes written. On a large drive, random writes must first fill gigabytes of faster cells.
const WRITE_BYTES_MAX: u64 = 64 << 30;

impl Experiment for WritePatternCosts {
    type Findings = WritePatterns;

    fn name(&self) -> &'static str {
        "write-patterns"
    }

    fn question(&self) -> &'static str {
        "What does a write cost in each pattern, relative to sequential writing?"
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if circumstances.area_bytes < AREA_BYTES_MIN {
            return Err("it needs an area of at least 16MiB; give a larger --file-size".into());
        }
        Ok(Cost {
            time_least: Nanos::from_secs(30),
            time_wanted: Nanos::from_secs(420),
            write_bytes_max: WRITE_BYTES_MAX,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<WritePatterns>> {
        &mut experiments.write_patterns
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut WritePatterns) -> Result<(), LoadError> {
        let block_bytes = base_block_bytes(lab.circumstances);
        findings.block_bytes = block_bytes;
        findings.area_bytes = lab.circumstances.area_bytes;
        findings.state = state::enforce(lab, block_bytes)?;
        let rows = rows(lab.circumstances, block_bytes);
        let largest = rows.iter().map(|row| row.block_bytes).max().unwrap_or(block_bytes);
        let mut pool = Pool::new(lab, largest)?;
        let pause = state::pause_between(lab, &mut pool, block_bytes)?;
        let mut visits = Visits::new(rows, pause);
        let result = visits.all(lab, &mut pool);
        findings.patterns = visits.costs();
        if result.is_ok() && !limits::is_known(&findings.patterns) {
            lab.cut_short(
                "the cost of random writes is not concluded: there were too few, or they varied too much; give a larger --budget",
            );
        }
        result
    }

    fn derive(&self, findings: &WritePatterns, derived: &mut Derived) {
        limits::derive(findings, derived);
    }
}
