//! Risks of a device for a database.

use nandle_profile::{Interval, ROTATIONAL_LATENCY_NS_MIN};

use super::finding::{Finding, Threshold, ThresholdSide, capitalised, times};
use super::kind::{DeviceClass, Kind};
use super::strengths::PAGE_BYTES;
use crate::figures::words::{number, time};
use crate::figures::{Figures, PROGRAM_NS_MIN, SMALLEST_WRITE};
use crate::settings::Figure;

const LONG_READ: Threshold = Threshold {
    key: "latency_ns_min",
    value: ROTATIONAL_LATENCY_NS_MIN as f64,
    says: "2 ms and more",
    source: "half a rotation of the fastest disk at 15 000 revolutions a minute",
};
const UNEVEN_READS: Threshold = Threshold {
    key: "read_p99_by_median_ratio_min",
    value: 10.0,
    says: "10 times and more",
    source: "Nandle's authors",
};
const DEEP_QUEUE: Threshold = Threshold {
    key: "depth_gain_ratio_min",
    value: 16.0,
    says: "16 times and more",
    source: "the sessions that the advice assumes for short transactions",
};
const COSTLY_RANDOM_READS: Threshold = Threshold {
    key: "random_by_sequential_page_cost_ratio_min",
    value: 40.0,
    says: "40 times and more",
    source: "the ratio behind PostgreSQL's default of random_page_cost, with 90 % of the reads \
        cached (documentation)",
};
const SLOW_FIRST_READS: Threshold = Threshold {
    key: "first_by_again_ratio_max",
    value: 0.5,
    says: "half and less",
    source: "Nandle's authors",
};
const ROUGH_FIGURES: Threshold = Threshold {
    key: "variation_share_min",
    value: 0.2,
    says: "20 % and more",
    source: "rounds that vary by more aren't steady (SNIA Solid State Storage Performance Test \
        Specification)",
};
const LONG_COMMIT: Threshold = Threshold {
    key: "commit_p99_ns_min",
    value: 10e6,
    says: "10 ms and more",
    source: "etcd requires 99 % of fdatasync within 10 ms (etcd, Hardware recommendations)",
};
const QUICKER_THAN_FLASH: Threshold = Threshold {
    key: "commit_ns_max",
    value: PROGRAM_NS_MIN,
    says: "less than 100 us",
    source: "the least time to program flash (about 220 us for single-level cells; data sheets of \
        the X25-E's chips)",
};
const LONG_FLUSH: Threshold = Threshold {
    key: "flush_of_full_cache_by_commit_ratio_min",
    value: 10.0,
    says: "10 times and more",
    source: "Nandle's authors",
};
const COSTLY_RANDOM_WRITES: Threshold = Threshold {
    key: "random_by_sequential_write_ratio_min",
    value: 4.0,
    says: "4 times and more",
    source: "costlier patterns don't count as cheap in StableBuffer, §3.1",
};
const FADING_WRITES: Threshold = Threshold {
    key: "steady_by_first_ratio_max",
    value: 0.5,
    says: "half and less",
    source: "Nandle's authors",
};
const WEARING_WRITES: Threshold = Threshold {
    key: "write_amplification_ratio_min",
    value: 4.0,
    says: "4 and more",
    source: "Nandle's authors",
};
const DISTURBING_WRITES: Threshold =
    Threshold { key: "write_share_max", value: 0.1, says: "a tenth and less", source: "Nandle's authors" };
const SHORT_BURSTS: Threshold = Threshold {
    key: "burst_by_sustained_ratio_min",
    value: 2.0,
    says: "2 times and more",
    source: "Nandle's authors",
};
const LARGE_WRITE_UNIT: Threshold = Threshold {
    key: "smallest_write_bytes_min",
    value: 8192.0,
    says: "8KiB and more",
    source: "larger than a page of 4KiB, which SQLite and file systems use",
};

/// Risks from measured figures.
pub(super) fn measured(figures: &Figures<'_>, kind: &Kind) -> Vec<Finding> {
    let limit = limited(figures, kind);
    [faults(figures), reads(figures), commits(figures), writes(figures)]
        .concat()
        .into_iter()
        .chain(limit)
        .collect()
}

fn faults(figures: &Figures<'_>) -> Vec<Finding> {
    let failed = figures.failed_reads().map(|figure| {
        Finding::fault(
            "Reads failed",
            Some(figure),
            "Check the kernel log, and replace the \
            device.",
        )
    });
    let rough = figures.variation().and_then(|figure| {
        let means = "The figures are rough: other work was running, or the device is shared. \
            Probe again when it is idle.";
        Finding::of("Unsteady", figure, ThresholdSide::Above, &ROUGH_FIGURES, means)
    });
    failed.into_iter().chain(rough).collect()
}

/// Risk of an imposed limit on requests or bandwidth.
fn limited(figures: &Figures<'_>, kind: &Kind) -> Option<Finding> {
    /// Equal to unmeasured commits, because the limit hides everything else the device could do.
    const WEIGHT: f64 = 4.0;
    let means = match kind.class {
        DeviceClass::RequestLimit => {
            "Larger requests get more bandwidth, more sessions don't: let the database read ahead \
            and combine reads."
        }
        DeviceClass::BandwidthLimit => {
            "Neither larger requests nor more sessions get more bandwidth: backups and queries \
            share it."
        }
        DeviceClass::SpinningDisk
        | DeviceClass::SpinningDisks
        | DeviceClass::Memory
        | DeviceClass::SerialFlash
        | DeviceClass::SataFlash
        | DeviceClass::NvmeFlash
        | DeviceClass::Undecided => return None,
    };
    let figure = figures.random_read_iops(PAGE_BYTES).ok();
    Some(Finding {
        title: "The device is limited",
        figure,
        threshold: None,
        means: means.into(),
        weight_ratio: WEIGHT,
    })
}

fn reads(figures: &Figures<'_>) -> Vec<Finding> {
    let found = [
        figures.random_read_latency().ok().and_then(|figure| {
            let means = "Each cache miss costs that much, so such a device needs memory above all.";
            Finding::of("Long reads", figure, ThresholdSide::Above, &LONG_READ, means)
        }),
        figures.read_tail_ratio(PAGE_BYTES).and_then(|figure| {
            let means = "A query with a hundred reads is likely to hit one.";
            Finding::of("Uneven reads", figure, ThresholdSide::Above, &UNEVEN_READS, means)
        }),
        depth_gain(figures).and_then(|figure| {
            let means = "A single session gets a small part of it: use prefetching or more sessions.";
            Finding::of("Needs many concurrent requests", figure, ThresholdSide::Above, &DEEP_QUEUE, means)
        }),
        random_page_cost(figures).and_then(|figure| {
            let means = "Reading many rows by index is slower than a scan.";
            Finding::of("Costly random reads", figure, ThresholdSide::Above, &COSTLY_RANDOM_READS, means)
        }),
        figures.first_touch().and_then(|figure| {
            let means = "After a restore, read everything once before users connect.";
            Finding::of("Slow first reads", figure, ThresholdSide::Below, &SLOW_FIRST_READS, means)
        }),
    ];
    found.into_iter().flatten().collect()
}

/// Peak rate of page reads divided by the rate at depth 1.
fn depth_gain(figures: &Figures<'_>) -> Option<Figure> {
    let (most, knee) = (figures.random_read_iops(PAGE_BYTES).ok()?, figures.knee_depth(PAGE_BYTES).ok()?);
    let alone_ns = figures.random_page_ns(PAGE_BYTES).ok()?;
    let of = |rate: f64, ns: f64| rate * ns / 1e9;
    let gain = Interval {
        value: of(most.value.value, alone_ns.value),
        low: of(most.value.low, alone_ns.low),
        high: of(most.value.high, alone_ns.high),
    };
    let says = format!(
        "{} random reads a second at depth {}, {} at depth 1",
        number(most.value.value),
        number(knee.value.value),
        number(1e9 / alone_ns.value)
    );
    Some(Figure::new("depth_gain_ratio", gain, says))
}

/// Cost of a random page at the greatest depth, where random reads look best.
fn random_page_cost(figures: &Figures<'_>) -> Option<Figure> {
    let (alone, many) = figures.page_cost_ratios(PAGE_BYTES).ok()?;
    Some(many.unwrap_or(alone))
}

fn commits(figures: &Figures<'_>) -> Vec<Finding> {
    let commit = figures.commit().ok();
    let slowest = figures.commit_tail().ok().or_else(|| commit.clone());
    let long = slowest.and_then(|figure| {
        let means = "Each transaction waits that long; group commit, or a log on another device, helps.";
        Finding::of("Long commits", figure, ThresholdSide::Above, &LONG_COMMIT, means)
    });
    let volatile = figures.cache_is_volatile() == Some(true);
    let quick = commit.clone().filter(|_| volatile).and_then(|figure| {
        let means = "The kernel reports a volatile cache, so flushes may be ignored: check that \
            the device has power-loss protection before you rely on it.";
        Finding::of(
            "Commits are too fast for flash",
            figure,
            ThresholdSide::Below,
            &QUICKER_THAN_FLASH,
            means,
        )
    });
    let behind = commit.zip(figures.flush_of_full_cache().ok()).and_then(|(commit, flush)| {
        let says = format!(
            "A flush after many writes takes {}, a single commit {}",
            time(flush.value.value),
            time(commit.value.value)
        );
        let figure =
            Figure::new("flush_of_full_cache_by_commit_ratio", flush.value.over(&commit.value), says);
        let means = "Commits during a bulk load or a checkpoint wait that long: put the log on \
            another device, or write back early and evenly.";
        Finding::of("Commits wait behind bulk writes", figure, ThresholdSide::Above, &LONG_FLUSH, means)
    });
    [long, quick, behind].into_iter().flatten().collect()
}

fn writes(figures: &Figures<'_>) -> Vec<Finding> {
    let found = [
        figures.random_by_sequential_write().ok().and_then(|figure| {
            let means = "A store that updates pages in place pays this at each checkpoint.";
            Finding::of("Costly random writes", figure, ThresholdSide::Above, &COSTLY_RANDOM_WRITES, means)
        }),
        figures.steady_by_first().and_then(|figure| {
            let means = "A short benchmark overstates the sustained rate.";
            Finding::of("Writes slow down over time", figure, ThresholdSide::Below, &FADING_WRITES, means)
        }),
        figures.write_amplification().and_then(|figure| {
            let means = "Random writes wear the flash out that many times sooner than sequential \
                writes.";
            Finding::of(
                "Random writes wear out the flash",
                figure,
                ThresholdSide::Above,
                &WEARING_WRITES,
                means,
            )
        }),
        figures.undisturbing_write_share().and_then(|figure| {
            let means = "Checkpoints delay reads: spread them.";
            Finding::of("Writes disturb reads", figure, ThresholdSide::Below, &DISTURBING_WRITES, means)
        }),
        burst(figures),
        figures.smallest_write().ok().filter(|figure| figure.key == SMALLEST_WRITE).and_then(|figure| {
            let means = "Use pages of at least that size.";
            Finding::of("Small writes need a read", figure, ThresholdSide::Above, &LARGE_WRITE_UNIT, means)
        }),
    ];
    found.into_iter().flatten().collect()
}

/// Ratio of the burst rate that a cache absorbs to the sustained rate.
fn burst(figures: &Figures<'_>) -> Option<Finding> {
    let burst = figures.burst()?;
    let ratio = burst.taken.over(&burst.sustained);
    let says = format!("{}: {} less", capitalised(&burst.clause()), times(ratio.value));
    let figure = Figure::new("burst_by_sustained_ratio", ratio, says);
    let means = "Longer bursts get the lower figure.";
    Finding::of("Bursts outrun sustained writes", figure, ThresholdSide::Above, &SHORT_BURSTS, means)
}
