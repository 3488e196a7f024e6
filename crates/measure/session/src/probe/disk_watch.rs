//! Detection of other load on the probed disk, such as a running database, a backup, or another
//! guest's log.

use nandle_io::{Nanos, Wait};
use nandle_probe::load::Lane;
use nandle_profile::OthersLoad;
use nandle_target::TargetSpec;
use nandle_target::disk_load::{DiskSample, disk_of};

use crate::{Progress, Session};

/// Observation time before the measurement, and its largest fraction (one in `WATCHED_PART`) of the
/// budget.
const WATCHED_MAX: Nanos = Nanos::from_secs(1);
const WATCHED_PART: u64 = 30;

/// Disk below the target, observed since the start of the probe.
pub(super) struct DiskWatch {
    disk: Option<String>,
    began: Option<DiskSample>,
}

impl DiskWatch {
    pub(super) fn new(session: &Session) -> Self {
        let disk = match session.target.spec() {
            TargetSpec::Path(path) => disk_of(path),
            TargetSpec::Model(_) | TargetSpec::Repeat { .. } | TargetSpec::Array(_) => None,
        };
        let began = disk.as_deref().and_then(DiskSample::take);
        Self { disk, began }
    }

    /// Observes the load of others before the measurement. Reports a high load at once.
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

    /// Load of others since the start of the probe.
    pub(super) fn meanwhile(&self) -> Option<OthersLoad> {
        DiskSample::take(self.disk.as_deref()?)?.since_busy(self.began.as_ref()?)
    }
}
