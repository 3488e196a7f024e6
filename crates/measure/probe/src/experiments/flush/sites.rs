//! Destinations of commits: the device itself, and test files with extents in a known state.

use nandle_io::{Durability, SyncCall};
use nandle_profile::experiments::{CommitMethod, ExtentState};

use super::super::{Lab, TestFile};
use super::log::{Commit, Log, Times};
use crate::Unobserved;
use crate::fill::{self, FillOptions, fill};
use crate::load::{Contents, Lane, LoadError};

/// Size of the log on the device: one `PostgreSQL` segment.
const LOG_BYTES: u64 = 16 << 20;
/// Size of a test file. If its state matters, the file is recreated once it is full.
const FILE_BYTES: u64 = 8 << 20;
/// Memory of a lane on a test file: for filling it, and for the write pool.
const FILE_LANE_BYTES: u64 = fill::BUFFER_BYTES + (2 << 20);

/// Method and destination of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommitScenario {
    pub(super) method: CommitMethod,
    pub(super) extent: ExtentState,
    pub(super) commit: Commit,
    /// True for a test file with blocking system calls, as in `pg_test_fsync`.
    pub(super) in_file: bool,
}

/// Destination of the commits of one scenario.
pub(super) enum Site {
    /// The log on the device, shared by all scenarios. Separate logs would be streams for the drive
    /// to distinguish, and switching between them isn't part of a commit.
    Device,
    /// A separate test file.
    File(Box<FileSite>),
}

/// Log in a test file, with its lane.
pub(super) struct FileSite {
    wanted: TestFile,
    lane: Lane,
    log: Log,
}

/// Creates the log at the start of the device.
///
/// # Errors
/// Memory is short.
pub(super) fn log_on_device(lab: &Lab<'_>) -> Result<Log, LoadError> {
    Log::new(&lab.lane, LOG_BYTES.min(lab.circumstances.area_bytes), lab.seed)
}

impl CommitScenario {
    /// Bytes written before the first commit.
    pub(super) fn fill_bytes(&self) -> u64 {
        if self.in_file && self.extent == ExtentState::Overwritten { FILE_BYTES } else { 0 }
    }

    /// Specification of its test file.
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

/// Durability of a method's writes.
pub(super) fn durability(method: CommitMethod) -> Durability {
    match method {
        CommitMethod::DurableWrite | CommitMethod::OpenSync => Durability::Durable,
        CommitMethod::WriteThenFlush | CommitMethod::Fdatasync | CommitMethod::Fsync => Durability::Volatile,
    }
}

impl Site {
    /// Creates the destination of a scenario.
    ///
    /// # Errors
    /// The test file can't be created, or memory is short.
    pub(super) fn of(lab: &mut Lab<'_>, scenario: &CommitScenario) -> Result<Self, LoadError> {
        if !scenario.in_file {
            return Ok(Self::Device);
        }
        let wanted = scenario.test_file();
        let lane = open(lab, wanted, scenario.extent)?;
        let log = Log::new(&lane, FILE_BYTES, lab.seed)?;
        Ok(Self::File(Box::new(FileSite { wanted, lane, log })))
    }

    /// Writes a commit.
    ///
    /// # Errors
    /// See [`Log::commit`].
    pub(super) fn commit(
        &mut self,
        lab: &mut Lab<'_>,
        device_log: &mut Log,
        scenario: &CommitScenario,
    ) -> Result<Times, LoadError> {
        let times = match self {
            Self::Device => device_log.commit(&mut lab.lane, &scenario.commit, lab.cancel)?,
            Self::File(site) => {
                site.prepare(lab, scenario)?;
                site.log.commit(&mut site.lane, &scenario.commit, lab.cancel)?
            }
        };
        lab.count_written(scenario.commit.bytes());
        Ok(times)
    }
}

impl FileSite {
    /// Recreates the file if its extents are no longer in the required state.
    fn prepare(&mut self, lab: &mut Lab<'_>, scenario: &CommitScenario) -> Result<(), LoadError> {
        if scenario.extent == ExtentState::Overwritten || self.log.has_room(&scenario.commit) {
            return Ok(());
        }
        self.lane = open(lab, self.wanted, scenario.extent)?;
        self.log.restart();
        Ok(())
    }
}

fn open(lab: &mut Lab<'_>, wanted: TestFile, extent: ExtentState) -> Result<Lane, LoadError> {
    let files = lab.host_files().ok_or_else(|| LoadError::Opening("no files beside the device".into()))?;
    let mut lane = lab.lane_on(files.test_file(wanted), FILE_LANE_BYTES)?;
    if extent == ExtentState::Overwritten {
        let options =
            FillOptions { bytes: wanted.bytes, time_limit: None, contents: Contents::new(lab.seed) };
        let filled = fill(&mut lane, options, &mut Unobserved, lab.cancel);
        filled.map_err(|error| LoadError::Opening(error.to_string()))?;
        lab.count_written(wanted.bytes);
    }
    Ok(lane)
}
