use nandle_io::DriveCounters;
use nandle_pages::{AutoStats, PolicyKind, Promises, Stats};
use nandle_profile::LatencySummary;
use serde::{Deserialize, Serialize};

use crate::Repeats;
use crate::times::Times;

/// What a policy took for the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyOutcome {
    /// Which one.
    #[serde(with = "crate::file::policy_name")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub policy: PolicyKind,
    /// After a power cut a page is wholly old or wholly new.
    pub torn_page_safe: bool,
    /// After a power cut a batch is there as a whole or not at all.
    pub atomic_batch: bool,
    /// Size of its staging area; 0 where it has none.
    pub buffer_bytes: u64,
    /// Length of a page.
    pub page_bytes: u64,
    /// Page writes.
    pub writes: u64,
    /// The most pages that went into one batch.
    pub batch_pages_max: u32,
    /// Writes of the trace that are longer than that and took several batches: a power cut may leave a part of such a write.
    pub split_writes: u64,
    /// Time for all of it, the final checkpoint included.
    pub elapsed_ns: u64,
    /// Of that, the final checkpoint.
    pub checkpoint_ns: u64,
    /// `direct`'s time by this one's; `null` when `direct` didn't run.
    pub speedup_over_direct: Option<f64>,
    /// Latency of a write as its client sees it: until it was accepted, or durable where each is.
    pub latency_ns: LatencySummary,
    /// Latency of the trace's syncs that had something to make durable; `null` where none was replayed.
    pub sync_latency_ns: Option<LatencySummary>,
    /// Bytes written to the device.
    pub device_written_bytes: u64,
    /// Bytes read from the device, the store's own reading back included.
    pub device_read_bytes: u64,
    /// Writes sent to the device.
    pub device_writes: u64,
    /// Flushes sent to the device.
    pub flushes: u64,
    /// Bytes at the device by bytes of page writes.
    pub write_amplification: f64,
    /// What the drive itself counted, where it tells.
    pub drive: Option<DriveFigures>,
    /// Page writes that a later one replaced before they were destaged.
    pub pages_absorbed: u64,
    /// Page writes that `auto` sent straight home; 0 with the other policies.
    pub pages_straight: u64,
    /// What `auto` found out and chose; `null` with the other policies.
    pub auto: Option<AutoFindings>,
    /// Pages destaged; files of schema version 1 say `pages_homed`.
    #[serde(alias = "pages_homed")]
    pub pages_destaged: u64,
    /// Pages that cleaning moved, which only `out-of-place` does; `null` in older files.
    #[serde(default)]
    pub pages_cleaned: Option<u64>,
    /// Zones that became free again, which only `out-of-place` has; `null` in older files.
    #[serde(default)]
    pub zones_freed: Option<u64>,
    /// What the decompositors found, where there are any.
    pub instances: InstanceCounts,
    /// Pages read back and found to hold what was written last.
    pub verified_pages: u64,
    /// How it went over time.
    pub samples: Vec<Sample>,
    /// What several runs gave, of which the other figures are the median one's; `null` where it ran once, and in older files.
    #[serde(default)]
    pub repeats: Option<Repeats>,
}

/// What a drive counted during the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveFigures {
    /// Programmed into flash: the store's writes, what cleaning and merging moved, and padding.
    pub flash_written_bytes: u64,
    /// Flash that was erased.
    pub erased_bytes: u64,
    /// Flash written by bytes that the store wrote.
    pub write_amplification: Option<f64>,
    /// Flash written by bytes of page writes: ours and the drive's amplification together.
    pub flash_bytes_by_page_bytes: f64,
}

/// What `auto` knew at the end of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AutoFindings {
    /// What works when nothing is being tried; `null` until both were tried.
    pub chosen: Option<Method>,
    /// Trials of either way.
    pub trials: u64,
    /// How often another way was chosen than before.
    pub changes: u64,
    /// What a page took the last time that staging was measured, as clients waited for it.
    pub staged_page_ns: Option<u64>,
    /// The same for going straight home.
    pub straight_page_ns: Option<u64>,
}

/// How a page gets home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By the staging area.
    Staging,
    /// Straight.
    Straight,
}

/// How often each decompositor's instance was written, and the pages in all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InstanceCounts {
    /// Runs of consecutive pages.
    pub sequential: u64,
    /// Pages in them.
    pub sequential_pages: u64,
    /// Groups of equal runs.
    pub partitioned: u64,
    /// Pages in them.
    pub partitioned_pages: u64,
    /// Pages at a constant distance.
    pub ordered: u64,
    /// Pages in them.
    pub ordered_pages: u64,
    /// Pages within a focused area.
    pub focused: u64,
    /// Pages in them.
    pub focused_pages: u64,
}

/// A stretch of the work.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Time that the work had taken at its end.
    pub elapsed_ns: u64,
    /// Page writes until then.
    pub writes: u64,
    /// Pages in the staging area or in memory at its end.
    pub staged_pages: u64,
    /// Page writes that `auto` had sent straight home until then.
    pub pages_straight: u64,
    /// Bytes written to the device until then.
    pub device_written_bytes: u64,
    /// What the decompositors had found until then.
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

/// What only the candidate knows; the rest is in the store's stats.
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

    /// Whether nothing of cleaning is in its figures, although it cleans: no zone had to be used again. Where zones die as wholes
    /// they are used again without a page being moved.
    pub fn is_before_cleaning(&self) -> bool {
        self.policy.has_zones() && self.zones_freed == Some(0)
    }

    /// The same with its speed-up over `direct`, which took so long.
    #[must_use]
    pub(crate) fn beside(mut self, direct_ns: Option<u64>) -> Self {
        self.speedup_over_direct =
            direct_ns.map(|direct_ns| direct_ns as f64 / self.elapsed_ns.max(1) as f64);
        self
    }
}
