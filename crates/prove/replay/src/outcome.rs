use nandle_io::DriveCounters;
use nandle_pages::{AutoStats, PolicyKind, Promises, Stats};
use nandle_profile::LatencySummary;
use serde::{Deserialize, Serialize};

use crate::Repeats;
use crate::times::Times;

/// Figures of a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyOutcome {
    /// Policy.
    #[serde(with = "crate::file::policy_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy: PolicyKind,
    /// True if a page is wholly old or wholly new after a power cut.
    pub torn_page_safe: bool,
    /// True if a batch is atomic across a power cut.
    pub atomic_batch: bool,
    /// Size of the staging area in bytes; 0 if there is none.
    pub buffer_bytes: u64,
    /// Length of a page, in bytes.
    pub page_bytes: u64,
    /// Page writes.
    pub writes: u64,
    /// Maximum pages of a batch.
    pub batch_pages_max: u32,
    /// Writes of the trace that exceed `batch_pages_max` and took several batches. A power cut may
    /// leave a part of such a write.
    pub split_writes: u64,
    /// Total time including the final checkpoint, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time of the final checkpoint, in nanoseconds.
    pub checkpoint_ns: u64,
    /// Time of `direct` divided by the time of this policy; `null` if `direct` didn't run.
    pub speedup_over_direct: Option<f64>,
    /// Latency of a write for its client: until it was accepted, or until it was durable if every
    /// write must be.
    pub latency_ns: LatencySummary,
    /// Latency of the trace's syncs that had something to make durable; `null` if none were
    /// replayed.
    pub sync_latency_ns: Option<LatencySummary>,
    /// Bytes written to the device.
    pub device_written_bytes: u64,
    /// Bytes read from the device, including the store's own reads.
    pub device_read_bytes: u64,
    /// Write requests to the device.
    pub device_writes: u64,
    /// Flush requests to the device.
    pub flushes: u64,
    /// Bytes written to the device divided by bytes of page writes.
    pub write_amplification: f64,
    /// Counters of the drive, if available.
    pub drive: Option<DriveFigures>,
    /// Page writes that were overwritten before they were destaged.
    pub pages_absorbed: u64,
    /// Page writes that `auto` sent directly to their final location; 0 for other policies.
    pub pages_straight: u64,
    /// Measurements and choice of `auto`; `null` for other policies.
    pub auto: Option<AutoFindings>,
    /// Pages destaged. Files of schema version 1 call this `pages_homed`.
    #[serde(alias = "pages_homed")]
    pub pages_destaged: u64,
    /// Pages moved by cleaning, which only `out-of-place` does; `null` in older files.
    #[serde(default)]
    pub pages_cleaned: Option<u64>,
    /// Zones freed for reuse, which only `out-of-place` has; `null` in older files.
    #[serde(default)]
    pub zones_freed: Option<u64>,
    /// Instances found by the decompositors, if there are any.
    pub instances: InstanceCounts,
    /// Pages read back with the expected contents.
    pub verified_pages: u64,
    /// Progress over time.
    pub samples: Vec<Sample>,
    /// Summary of several runs, if each policy ran more than once; the other figures are those of
    /// the median run. `null` for a single run, and in older files.
    #[serde(default)]
    pub repeats: Option<Repeats>,
}

/// Counters of a drive during the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveFigures {
    /// Bytes programmed into flash: writes of the store, moves by cleaning and merging, and
    /// padding.
    pub flash_written_bytes: u64,
    /// Bytes of flash erased.
    pub erased_bytes: u64,
    /// Flash bytes written divided by bytes that the store wrote.
    pub write_amplification: Option<f64>,
    /// Flash bytes written divided by bytes of page writes: the amplification of store and drive
    /// combined.
    pub flash_bytes_by_page_bytes: f64,
}

/// State of `auto` at the end of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AutoFindings {
    /// Method in use outside of trials; `null` until both were tried.
    pub chosen: Option<Method>,
    /// Trials of either method.
    pub trials: u64,
    /// Number of times that the choice changed.
    pub changes: u64,
    /// Time per page when staging was last measured, as seen by clients, in nanoseconds.
    pub staged_page_ns: Option<u64>,
    /// Time per page when direct writing was last measured, in nanoseconds.
    pub straight_page_ns: Option<u64>,
}

/// Method by which a page reaches its final location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Through the staging area.
    Staging,
    /// Directly.
    Straight,
}

/// Instances written by each decompositor, and the pages in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstanceCounts {
    /// Runs of consecutive pages.
    pub sequential: u64,
    /// Pages in these runs.
    pub sequential_pages: u64,
    /// Groups of equal runs.
    pub partitioned: u64,
    /// Pages in these groups.
    pub partitioned_pages: u64,
    /// Series of pages at a constant distance.
    pub ordered: u64,
    /// Pages in these series.
    pub ordered_pages: u64,
    /// Groups of pages within a focused area.
    pub focused: u64,
    /// Pages in these groups.
    pub focused_pages: u64,
}

/// State at the end of a stretch of the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// Page writes so far.
    pub writes: u64,
    /// Pages in the staging area or in memory.
    pub staged_pages: u64,
    /// Page writes that `auto` has sent directly so far.
    pub pages_straight: u64,
    /// Bytes written to the device so far.
    pub device_written_bytes: u64,
    /// Instances found by the decompositors so far.
    pub instances: InstanceCounts,
}

impl AutoFindings {
    fn of(stats: &AutoStats) -> Self {
        Self {
            chosen: stats.stages.map(|stages| if stages { Method::Staging } else { Method::Straight }),
            trials: stats.trials,
            changes: stats.changes,
            staged_page_ns: stats.staged_ns,
            straight_page_ns: stats.straight_ns,
        }
    }
}

impl InstanceCounts {
    pub(crate) fn of(stats: &Stats) -> Self {
        let [sequential, partitioned, ordered, focused] = stats.instances;
        Self {
            sequential: sequential.count,
            sequential_pages: sequential.pages,
            partitioned: partitioned.count,
            partitioned_pages: partitioned.pages,
            ordered: ordered.count,
            ordered_pages: ordered.pages,
            focused: focused.count,
            focused_pages: focused.pages,
        }
    }
}

/// Figures kept by the candidate; the store's statistics supply the rest.
pub(crate) struct Run {
    pub(crate) policy: PolicyKind,
    pub(crate) promises: Promises,
    pub(crate) buffer_bytes: u64,
    pub(crate) page_bytes: u64,
    pub(crate) writes: u64,
    pub(crate) batch_pages: u32,
    pub(crate) split_writes: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) checkpoint_ns: u64,
    pub(crate) drive: Option<DriveCounters>,
    pub(crate) verified_pages: u64,
    pub(crate) samples: Vec<Sample>,
}

impl PolicyOutcome {
    pub(crate) fn new(run: Run, [writes, syncs]: [&Times; 2], stats: &Stats) -> Self {
        let page_bytes_written = (run.writes * run.page_bytes) as f64;
        Self {
            policy: run.policy,
            torn_page_safe: run.promises.torn_page_safe,
            atomic_batch: run.promises.atomic_batch,
            buffer_bytes: run.buffer_bytes,
            page_bytes: run.page_bytes,
            writes: run.writes,
            batch_pages_max: run.batch_pages,
            split_writes: run.split_writes,
            elapsed_ns: run.elapsed_ns,
            checkpoint_ns: run.checkpoint_ns,
            speedup_over_direct: None,
            latency_ns: writes.summary(),
            sync_latency_ns: (syncs.count() > 0).then(|| syncs.summary()),
            device_written_bytes: stats.device_written_bytes,
            device_read_bytes: stats.device_read_bytes,
            device_writes: stats.device_writes,
            flushes: stats.device_flushes,
            write_amplification: stats.device_written_bytes as f64 / page_bytes_written,
            drive: run.drive.map(|counted| DriveFigures {
                flash_written_bytes: counted.flash_written_bytes,
                erased_bytes: counted.erased_bytes,
                write_amplification: counted.write_amplification(),
                flash_bytes_by_page_bytes: counted.flash_written_bytes as f64 / page_bytes_written,
            }),
            pages_absorbed: stats.pages_absorbed,
            pages_straight: stats.pages_straight,
            auto: stats.auto.as_ref().map(AutoFindings::of),
            pages_destaged: stats.pages_destaged,
            pages_cleaned: Some(stats.pages_cleaned),
            zones_freed: Some(stats.zones_freed),
            instances: InstanceCounts::of(stats),
            verified_pages: run.verified_pages,
            samples: run.samples,
            repeats: None,
        }
    }

    /// Returns true if the policy cleans, but its figures don't include cleaning because no zone
    /// was reused. Zones whose pages have all been superseded are reused without moving a page.
    pub fn is_before_cleaning(&self) -> bool {
        self.policy.has_zones() && self.zones_freed == Some(0)
    }

    /// Adds the speed-up over `direct`, given the time of `direct`.
    #[must_use]
    pub(crate) fn with_speedup(mut self, direct_ns: Option<u64>) -> Self {
        self.speedup_over_direct =
            direct_ns.map(|direct_ns| direct_ns as f64 / self.elapsed_ns.max(1) as f64);
        self
    }
}
