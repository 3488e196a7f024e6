//! Whether others use the disk that is probed: a database that goes on, a backup, another guest's log.

use nandle_io::{Nanos, Wait};
use nandle_probe::load::Lane;
use nandle_profile::OthersLoad;
use nandle_target::TargetSpec;
use nandle_target::disk_load::{DiskSample, disk_of};

use crate::{Progress, Session};

/// The disk is watched for so long before anything is measured, or for that part of the budget.
const WATCHED_MAX: Nanos = Nanos::from_secs(1);
const WATCHED_PART: u64 = 30;

/// The disk below the target, from the beginning of a probe on.
pub(super) struct Others {
    disk: Option<String>,
    began: Option<DiskSample>,
}

impl Others {
    pub(super) fn new(session: &Session) -> Self {
        let disk = match session.target.spec() {
            TargetSpec::Path(path) => disk_of(path),
            TargetSpec::Model(_) | TargetSpec::Repeat { .. } | TargetSpec::Array(_) => None,
        };
        let began = disk.as_deref().and_then(DiskSample::take);
        Self { disk, began }
    }

    /// What others ask for while the probe does nothing yet. It says so at once where that is much.
    pub(super) fn before(
        &self,
        session: &Session,
        lane: &mut Lane,
        budget: Nanos,
        progress: &dyn Progress,
    ) -> Option<OthersLoad> {
        let disk = self.disk.as_deref()?;
        let earlier = DiskSample::take(disk)?;
        let until = lane.io().now() + Nanos(budget.0 / WATCHED_PART).min(WATCHED_MAX);
        let mut none = Vec::new();
        while lane.io().now() < until && !session.cancel.is_cancelled() {
            lane.io().reap(Wait::until_time(until), &mut none);
        }
        let load = DiskSample::take(disk)?.since_idle(&earlier)?;
        if let Some(sentence) = load.seen_before() {
            progress.remark(&sentence);
        }
        Some(load)
    }

    /// What others asked for since the probe began.
    pub(super) fn meanwhile(&self) -> Option<OthersLoad> {
        DiskSample::take(self.disk.as_deref()?)?.since_busy(self.began.as_ref()?)
    }
}
