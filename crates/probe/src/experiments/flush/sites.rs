//! Where commits go: the device itself, and test files whose extents are in a known state.

use nandle_io::{Durability, SyncCall};
use nandle_profile::experiments::{CommitMethod, ExtentState};

use super::super::{Lab, TestFile};
use super::log::{Commit, Log, Times};
use crate::Unobserved;
use crate::fill::{self, FillOptions, fill};
use crate::load::{Contents, Lane, LoadError};

/// The log on the device, as long as a segment of `PostgreSQL`'s.
const LOG_BYTES: u64 = 16 << 20;
/// A test file. It is made anew when it has been written once, where that matters.
const FILE_BYTES: u64 = 8 << 20;
/// Memory of a lane on a test file: what filling it takes, and the pool that writes are cut from.
const FILE_LANE_BYTES: u64 = fill::BUFFER_BYTES + (2 << 20);

/// A way to commit, and where to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) method: CommitMethod,
    pub(super) extent: ExtentState,
    pub(super) commit: Commit,
    /// In a test file, by blocking system calls, as `pg_test_fsync` does.
    pub(super) in_file: bool,
}

/// A log and the lane that it is written through.
pub(super) struct Site {
    /// `None` for the lab's own.
    file: Option<(TestFile, Lane)>,
    log: Log,
}

impl Way {
    /// What is written before the first commit.
    pub(super) fn fill_bytes(&self) -> u64 {
        if self.in_file && self.extent == ExtentState::Overwritten { FILE_BYTES } else { 0 }
    }

    /// The file that it needs.
    fn test_file(&self) -> TestFile {
        TestFile {
            bytes: FILE_BYTES,
            reserved: self.extent != ExtentState::Extended,
            direct: matches!(self.method, CommitMethod::DurableWrite | CommitMethod::OpenSync),
            sync: match self.method {
                CommitMethod::Fsync | CommitMethod::OpenSync => SyncCall::Fsync,
                _ => SyncCall::Fdatasync,
            },
        }
    }
}

/// The durability of a method's writes.
pub(super) fn durability(method: CommitMethod) -> Durability {
    match method {
        CommitMethod::DurableWrite | CommitMethod::OpenSync => Durability::Durable,
        CommitMethod::WriteThenFlush | CommitMethod::Fdatasync | CommitMethod::Fsync => Durability::Volatile,
    }
}

impl Site {
    /// The log at the start of the device.
    pub(super) fn on_device(lab: &Lab<'_>) -> Result<Self, LoadError> {
        let log_bytes = LOG_BYTES.min(lab.circumstances.area_bytes);
        Ok(Self { file: None, log: Log::new(&lab.lane, log_bytes, lab.seed)? })
    }

    /// The log in a test file.
    pub(super) fn in_file(lab: &mut Lab<'_>, way: &Way) -> Result<Self, LoadError> {
        let wanted = way.test_file();
        let lane = open(lab, wanted, way.extent)?;
        let log = Log::new(&lane, FILE_BYTES, lab.seed)?;
        Ok(Self { file: Some((wanted, lane)), log })
    }

    /// Makes the file anew where the next commit would find it in another state than it should be in.
    fn prepare(&mut self, lab: &mut Lab<'_>, way: &Way) -> Result<(), LoadError> {
        let Some((wanted, lane)) = &mut self.file else { return Ok(()) };
        if way.extent == ExtentState::Overwritten || self.log.has_room(&way.commit) {
            return Ok(());
        }
        *lane = open(lab, *wanted, way.extent)?;
        self.log.restart();
        Ok(())
    }

    /// Writes a commit.
    ///
    /// # Errors
    /// As for [`Log::commit`].
    pub(super) fn commit(&mut self, lab: &mut Lab<'_>, way: &Way) -> Result<Times, LoadError> {
        self.prepare(lab, way)?;
        let lane = match &mut self.file {
            Some((_, lane)) => lane,
            None => &mut lab.lane,
        };
        let times = self.log.commit(lane, &way.commit, lab.cancel)?;
        lab.count_written(way.commit.bytes());
        Ok(times)
    }
}

fn open(lab: &mut Lab<'_>, wanted: TestFile, extent: ExtentState) -> Result<Lane, LoadError> {
    let beside = lab.beside().ok_or_else(|| LoadError::Opening("no files beside the device".into()))?;
    let mut lane = lab.lane_on(beside.test_file(wanted), FILE_LANE_BYTES)?;
    if extent == ExtentState::Overwritten {
        let options =
            FillOptions { bytes: wanted.bytes, time_limit: None, contents: Contents::new(lab.seed) };
        let filled = fill(&mut lane, options, &mut Unobserved, lab.cancel);
        filled.map_err(|error| LoadError::Opening(error.to_string()))?;
        lab.count_written(wanted.bytes);
    }
    Ok(lane)
}
