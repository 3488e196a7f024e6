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
pub(super) struct CommitScenario {
    pub(super) method: CommitMethod,
    pub(super) extent: ExtentState,
    pub(super) commit: Commit,
    /// In a test file, by blocking system calls, as `pg_test_fsync` does.
    pub(super) in_file: bool,
}

/// Where commits of one way go.
pub(super) enum Site {
    /// To the log on the device, which all of them share, as a database has one: logs side by side would be streams that a
    /// drive has to tell apart, and what changing from one to the next costs is no part of a commit.
    Device,
    /// To a test file of their own.
    File(Box<FileSite>),
}

/// A log in a test file, and the lane that it is written through.
pub(super) struct FileSite {
    wanted: TestFile,
    lane: Lane,
    log: Log,
}

/// The log at the start of the device.
///
/// # Errors
/// Memory is short.
pub(super) fn log_on_device(lab: &Lab<'_>) -> Result<Log, LoadError> {
    Log::new(&lab.lane, LOG_BYTES.min(lab.circumstances.area_bytes), lab.seed)
}

impl CommitScenario {
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
    /// Where commits of this way go.
    ///
    /// # Errors
    /// The test file can't be had, or memory is short.
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
    /// As for [`Log::commit`].
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
    /// Makes the file anew where the next commit would find it in another state than it should be in.
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
