//! Strengths of a device.

use super::finding::{Finding, Threshold, ThresholdSide};
use crate::figures::Figures;
use crate::settings::Figure;

/// Page size for rates and tails: PostgreSQL's.
pub(super) const PAGE_BYTES: u64 = 8 << 10;

const QUICK_READ: Threshold = Threshold {
    key: "latency_ns_max",
    value: 200e3,
    says: "at most 200 us",
    source: "a tenth of half a rotation of the fastest disk (2 ms at 15 000 revolutions a minute)",
};
const MANY_READS: Threshold = Threshold {
    key: "random_read_iops_min",
    value: 10e3,
    says: "at least 10 000",
    source: "the rate of about fifty disks with 7200 revolutions a minute (200 each with a deep \
        queue)",
};
const EVEN_READS: Threshold = Threshold {
    key: "read_p99_by_median_ratio_max",
    value: 2.0,
    says: "at most twice as long",
    source: "the probe's own limit for reads during writes",
};
const SMALL_EFFICIENT_BLOCK: Threshold = Threshold {
    key: "efficient_block_bytes_max",
    value: 16_384.0,
    says: "at most 16KiB",
    source: "the largest default page of a database (InnoDB)",
};
const QUICK_COMMIT: Threshold = Threshold {
    key: "commit_p99_ns_max",
    value: 1e6,
    says: "at most 1 ms",
    source: "a tenth of etcd's limit for its log (99 % of fdatasync within 10 ms; etcd, Hardware \
        recommendations)",
};
const CHEAP_RANDOM_WRITES: Threshold = Threshold {
    key: "random_by_sequential_write_ratio_max",
    value: 2.0,
    says: "at most twice",
    source: "cheap in StableBuffer, §3.1",
};
const LASTING_WRITES: Threshold = Threshold {
    key: "steady_by_first_ratio_min",
    value: 0.8,
    says: "at least 80 %",
    source: "rounds that vary by 20 % count as equal (SNIA Solid State Storage Performance Test \
        Specification)",
};
const QUIET_WRITES: Threshold = Threshold {
    key: "write_share_min",
    value: 0.5,
    says: "at least half of the peak write rate",
    source: "Nandle's authors",
};
const SHARED_COMMITS: Threshold = Threshold {
    key: "group_commit_gain_ratio_min",
    value: 4.0,
    says: "at least 4 times as many",
    source: "Nandle's authors",
};
const FAST_SCANS: Threshold = Threshold {
    key: "sequential_bandwidth_bytes_per_s_min",
    value: 1e9,
    says: "at least 1 000 MB/s",
    source: "the sequential bandwidth of ten disks (100 MB/s each)",
};

/// Strengths from measured figures.
pub(super) fn measured(figures: &Figures<'_>) -> Vec<Finding> {
    [reads(figures), writes(figures)].concat()
}

fn reads(figures: &Figures<'_>) -> Vec<Finding> {
    let few = ThresholdSide::Below;
    let many = ThresholdSide::Above;
    let found = [
        figures.random_read_latency().ok().and_then(|figure| {
            Finding::of(
                "Short reads",
                figure,
                few,
                &QUICK_READ,
                "A page that isn't cached \
                arrives quickly.",
            )
        }),
        figures.random_read_iops(PAGE_BYTES).ok().and_then(|figure| {
            Finding::of(
                "Many random reads",
                figure,
                many,
                &MANY_READS,
                "Index lookups are cheap \
                if many run at once.",
            )
        }),
        figures.read_tail_ratio(PAGE_BYTES).and_then(|figure| {
            Finding::of("Even reads", figure, few, &EVEN_READS, "Queries take predictable time.")
        }),
        figures.efficient_block_bytes().ok().and_then(|figure| {
            let means = "A random page costs hardly more than a sequential one, so indexes pay \
                off early.";
            Finding::of("Small blocks are efficient", figure, few, &SMALL_EFFICIENT_BLOCK, means)
        }),
        figures.sequential_read_bandwidth().ok().and_then(|figure| {
            Finding::of(
                "Fast scans",
                figure,
                many,
                &FAST_SCANS,
                "Scans, backups and restores are \
                fast.",
            )
        }),
    ];
    found.into_iter().flatten().collect()
}

fn writes(figures: &Figures<'_>) -> Vec<Finding> {
    let few = ThresholdSide::Below;
    let many = ThresholdSide::Above;
    let cost = figures.profile.derived.write_pattern_cost;
    let is_by_cache = cost.is_some_and(|cost| figures.cache_answers_random_writes(cost.block_bytes));
    let found = [
        figures.commit_tail().ok().and_then(|figure| {
            Finding::of(
                "Short commits",
                figure,
                few,
                &QUICK_COMMIT,
                "Transactions hardly wait \
                for the log.",
            )
        }),
        figures.random_by_sequential_write().ok().and_then(|figure| {
            let means = if is_by_cache {
                "Pages can be updated in place, as long as the cache absorbs the writes."
            } else {
                "Pages can be updated in place."
            };
            Finding::of("Cheap random writes", figure, few, &CHEAP_RANDOM_WRITES, means)
        }),
        figures.steady_by_first().filter(|_| figures.steady_state_is_shown()).and_then(|figure| {
            Finding::of(
                "Writes keep their speed",
                figure,
                many,
                &LASTING_WRITES,
                "Today's measurements still hold after hours of writing.",
            )
        }),
        figures.undisturbing_write_share().and_then(|figure| {
            Finding::of(
                "Writes hardly disturb reads",
                figure,
                many,
                &QUIET_WRITES,
                "Checkpoints need no throttling for readers.",
            )
        }),
        shared_commits(figures).and_then(|figure| {
            Finding::of(
                "Commits share flushes",
                figure,
                many,
                &SHARED_COMMITS,
                "Many sessions together commit far more often than one.",
            )
        }),
    ];
    found.into_iter().flatten().collect()
}

/// Gain from group commit.
fn shared_commits(figures: &Figures<'_>) -> Option<Figure> {
    let gain = figures.profile.derived.group_commit?;
    let figure = figures.group_commit().ok()?;
    let ratio = gain.together_per_s.over(&gain.alone_per_s);
    Some(Figure { key: "group_commit_gain_ratio", value: ratio, ..figure })
}
