//! Synthetic findings, one for each experiment.

use nandle_profile::experiments::{
    AlignmentCost, ArrayLayout, AtomicWriteFindings, BlockRate, CacheSetting, CommitCost, CommitMethod,
    Departure, DepartureKind, DiscardCosts, ExtentState, FillChange, FillLevel, FillLevels, FlushCosts,
    GroupCommitCost, InterferenceCell, InterferenceMap, LargeWriteCell, LargeWrites, MicroBenchmark,
    PatternCost, ReadAhead, Scaling, ScalingCell, SmallestBlock, SteadyRound, SteadyState, StreamCost,
    SyncRead, SyncReads, WriteCacheFindings, WritePatterns,
};
use nandle_profile::{
    CommitTime, Conducted, Derived, Experiments, GroupCommitGain, Interval, LatencySummary, OperationKind,
    SecondSample, SkippedExperiment, WritePatternCost,
};

fn conducted<T>(findings: T) -> Option<Conducted<T>> {
    let remarks = vec!["A made-up remark.".to_owned()];
    Some(Conducted {
        complete: true,
        ended_by: None,
        failed: None,
        elapsed_ns: 1_000_000_000,
        bytes_written: 1 << 30,
        remarks,
        findings,
    })
}

fn about(value: f64) -> Interval<f64> {
    Interval { value, low: 0.9 * value, high: 1.1 * value }
}

fn latency(median_ns: u64) -> LatencySummary {
    LatencySummary {
        mean: Some(median_ns as f64),
        p50: Some(median_ns),
        p90: Some(median_ns * 2),
        p99: Some(median_ns * 5),
        p999: None,
        max: Some(median_ns * 30),
    }
}

pub(crate) fn all() -> Experiments {
    Experiments {
        write_patterns: conducted(WritePatterns {
            block_bytes: 32 << 10,
            area_bytes: 1 << 30,
            patterns: patterns(),
            ..WritePatterns::default()
        }),
        large_writes: conducted(large_writes()),
        flush: conducted(flush()),
        write_cache: conducted(write_cache()),
        steady_state: conducted(steady_state()),
        fill_level: conducted(fill_levels()),
        interference: conducted(interference()),
        smallest_block: conducted(smallest_block()),
        atomic_write: conducted(AtomicWriteFindings { stated: None, source: "Nobody says so.".to_owned() }),
        discard: conducted(DiscardCosts::default()),
        read_ahead: conducted(read_ahead()),
        scaling: conducted(scaling()),
        array_layout: conducted(ArrayLayout {
            chunk_bytes: Some(64 << 10),
            members: Some(4),
            ..ArrayLayout::default()
        }),
        sync_reads: conducted(sync_reads()),
        transactions: None,
        skipped: vec![SkippedExperiment {
            name: "teleportation".to_owned(),
            reason: "it is made up".to_owned(),
        }],
    }
}

pub(crate) fn derived(reads: Derived) -> Derived {
    Derived {
        write_pattern_cost: Some(WritePatternCost {
            block_bytes: 32 << 10,
            sequential_ns: about(520_000.0),
            random: about(20.0),
            focused: Some(about(1.6)),
            partitioned: Some(about(1.1)),
            ordered: Some(about(1.5)),
        }),
        focused_area_bytes: Some(Interval { value: 8 << 20, low: 4 << 20, high: 8 << 20 }),
        partition_count_max: Some(Interval::exact(8)),
        cheap_strides_blocks: vec![-1, 0],
        flush_ns: Some(CommitTime {
            method: CommitMethod::DurableWrite,
            in_file: false,
            write_bytes: 4096,
            median_ns: about(290_000.0),
            p99_ns: Some(900_000),
        }),
        group_commit: Some(GroupCommitGain {
            alone_per_s: about(2300.0),
            writers: Interval::exact(16),
            together_per_s: about(9000.0),
        }),
        ..reads
    }
}

fn patterns() -> Vec<PatternCost> {
    let row = |benchmark, pattern: &str, operation, cost: f64| PatternCost {
        micro_benchmark: benchmark,
        pattern: pattern.to_owned(),
        operation,
        block_bytes: 32 << 10,
        shift_bytes: 512,
        queue_depth: 4,
        pause_ns: 1_000_000,
        burst_requests: 10,
        start_up_requests: 3,
        requests: 100,
        request_ns: about(cost * 520_000.0),
        relative_cost: Some(about(cost)),
        latency_ns: latency(500_000),
    };
    let write = OperationKind::Write;
    let mut rows = Vec::new();
    for (area, cost) in [("1MiB", 1.5), ("8MiB", 1.6), ("64MiB", 17.0)] {
        rows.push(row(MicroBenchmark::Locality, &format!("focused:{area}"), write, cost));
    }
    for (streams, cost) in [(2, 1.0), (8, 1.1), (64, 19.0)] {
        rows.push(row(MicroBenchmark::Partitioning, &format!("partitioned:{streams}"), write, cost));
    }
    for (stride, cost) in [(-1, 1.5), (0, 1.5), (16, 10.0)] {
        rows.push(row(MicroBenchmark::Order, &format!("ordered:{stride}"), write, cost));
    }
    for benchmark in [
        MicroBenchmark::Granularity,
        MicroBenchmark::Alignment,
        MicroBenchmark::Parallelism,
        MicroBenchmark::Pause,
        MicroBenchmark::Bursts,
    ] {
        rows.push(row(benchmark, "random", write, 20.0));
    }
    rows.push(row(MicroBenchmark::Mix, "sequential", OperationKind::Mixed { read_percent: 50 }, 1.3));
    rows
}

fn flush() -> FlushCosts {
    let commit = |method, extent, write_bytes, ns| CommitCost {
        method,
        extent,
        write_bytes,
        writes_per_commit: 1,
        in_file: extent != ExtentState::Overwritten,
        observations: 500,
        commit_ns: about(ns as f64),
        latency_ns: latency(ns),
        flush_latency_ns: None,
    };
    let sizes = [512, 4096, 16 << 10, 64 << 10];
    let ways = [
        (CommitMethod::WriteThenFlush, ExtentState::Overwritten, 400_000),
        (CommitMethod::DurableWrite, ExtentState::Overwritten, 300_000),
        (CommitMethod::Fdatasync, ExtentState::Extended, 2_000_000),
    ];
    let group = |scale: f64| {
        let cost = move |writers: u32| GroupCommitCost {
            writers,
            write_bytes: 4096,
            observations: 100,
            commits_per_s: about(scale * f64::from(writers).sqrt()),
            latency_ns: latency(400_000),
        };
        [1, 2, 4, 8, 16].map(cost).to_vec()
    };
    FlushCosts {
        commits: ways
            .iter()
            .flat_map(|(method, extent, ns)| {
                sizes.map(|bytes| commit(*method, *extent, bytes, ns + bytes * 8))
            })
            .collect(),
        group_commit: group(2300.0),
        each_durable: group(1800.0),
    }
}

fn write_cache() -> WriteCacheFindings {
    let setting = |cache_on, pattern: &str, bandwidth| CacheSetting {
        cache_on,
        pattern: pattern.to_owned(),
        operation: OperationKind::Write,
        block_bytes: 8192,
        queue_depth: 1,
        bandwidth_bytes_per_s: bandwidth,
        latency_ns: latency(100_000),
    };
    WriteCacheFindings {
        block_bytes: 32 << 10,
        queue_depth: 1,
        absorbed_bytes: Some(Interval { value: 16 << 20, low: 15 << 20, high: 17 << 20 }),
        absorbing_bytes_per_s: Some(about(2e8)),
        sustained_bytes_per_s: Some(about(3e7)),
        drain_ns: Some(Interval::exact(320_000_000)),
        flush_of_full_cache_ns: Some(90_000_000),
        settings: vec![
            setting(true, "sequential", 9e7),
            setting(false, "sequential", 4e7),
            setting(true, "random", 2e7),
            setting(false, "random", 1e7),
        ],
    }
}

fn steady_state() -> SteadyState {
    let round = |index: u32| SteadyRound {
        began_ns: 20_000_000_000 + u64::from(index) * 10_000_000_000,
        elapsed_ns: 10_000_000_000,
        bytes: 1 << 30,
        bandwidth_bytes_per_s: if index < 2 { 1e8 } else { 2.1e7 },
        iops: 5000.0,
        latency_ns_max: 90_000_000,
    };
    let second = |second: u64| SecondSample {
        requests: 5000,
        bytes: if second < 20 { 100_000_000 } else { 21_000_000 + second % 7 * 300_000 },
        latency_ns_max: 20_000_000,
    };
    let departure = |kind, at_ns| Departure {
        kind,
        at_ns,
        after_bytes: 2 << 30,
        before_bytes_per_s: 1e8,
        after_bytes_per_s: 2.1e7,
    };
    SteadyState {
        block_bytes: 4096,
        queue_depth: 32,
        sequential_fill_bytes: 8 << 30,
        area_bytes: 8 << 30,
        first_bytes_per_s: Some(1e8),
        rounds: (0..8).map(round).collect(),
        reached: true,
        steady_bytes_per_s: Some(about(2.1e7)),
        window_range: Some(0.05),
        window_slope: Some(-0.02),
        departures: vec![
            departure(DepartureKind::FastRegionFull, 9_000_000_000),
            departure(DepartureKind::CleaningBegan, 20_000_000_000),
        ],
        write_amplification: None,
        seconds: (0..80).map(second).collect(),
    }
}

fn fill_levels() -> FillLevels {
    let change = |pattern: &str, operation, after| FillChange {
        pattern: pattern.to_owned(),
        operation,
        before_bytes_per_s: 1e8,
        after_bytes_per_s: after,
    };
    let level = |fill_share: f64| FillLevel {
        fill_share,
        random_bytes_written: 1 << 30,
        sequential_bytes_written: 1 << 30,
        changes: vec![
            change("sequential", OperationKind::Read, 8e7),
            change("random", OperationKind::Read, 1e8),
            change("sequential", OperationKind::Write, 6e7),
            change("random", OperationKind::Write, 1e8 * (1.0 - 0.9 * fill_share)),
        ],
    };
    FillLevels { block_bytes: 8192, queue_depth: 32, levels: [0.5, 0.7, 0.95].map(level).to_vec() }
}

fn large_writes() -> LargeWrites {
    let cell = |block_bytes: u64, queue_depth: u32, bytes_per_s: f64| LargeWriteCell {
        block_bytes,
        queue_depth,
        requests: 500,
        bandwidth_bytes_per_s: about(bytes_per_s),
        latency_ns: latency(400_000),
    };
    LargeWrites { cells: vec![cell(128 << 10, 16, 500e6), cell(1 << 20, 16, 520e6), cell(1 << 20, 1, 300e6)] }
}

fn interference() -> InterferenceMap {
    let shares = [0.1, 0.5, 0.9];
    let cell = |read: f64, write: f64| InterferenceCell {
        read_share: read,
        write_share: write,
        read_rate_per_s: 8000.0 * read,
        write_rate_per_s: 900.0 * write,
        read_achieved_per_s: 8000.0 * read,
        write_achieved_per_s: 900.0 * write,
        rates_kept: read + write < 1.35,
        read_latency_ns: latency((150_000.0 * (1.0 + 60.0 * write * read)) as u64),
        write_latency_ns: latency(1_000_000),
        read_slowdown: None,
    };
    InterferenceMap {
        read_block_bytes: 4096,
        write_block_bytes: 4096,
        read_iops_max: 8000.0,
        write_iops_max: 900.0,
        cells: shares.iter().flat_map(|read| [0.0, 0.5, 0.9].map(|write| cell(*read, write))).collect(),
    }
}

fn smallest_block() -> SmallestBlock {
    let rate = |operation, block_bytes: u64| BlockRate {
        operation,
        block_bytes,
        queue_depth: 8,
        iops: about(1e9 / (100_000.0 + block_bytes as f64 * 8.0)),
    };
    let sizes = [512, 1024, 2048, 4096, 8192];
    let shifted = |operation, cost| AlignmentCost {
        operation,
        block_bytes: 4096,
        shift_bytes: 512,
        relative_cost: about(cost),
    };
    SmallestBlock {
        rates: [OperationKind::Read, OperationKind::Write]
            .iter()
            .flat_map(|operation| sizes.map(|bytes| rate(*operation, bytes)))
            .collect(),
        read_bytes: Some(Interval::exact(512)),
        read_flat_to_bytes: Some(Interval::exact(1024)),
        write_bytes: Some(Interval::exact(4096)),
        read_modify_write_below_bytes: Some(Interval::exact(4096)),
        alignments: vec![shifted(OperationKind::Read, 1.3), shifted(OperationKind::Write, 2.4)],
    }
}

fn read_ahead() -> ReadAhead {
    let stream = |streams: u32| StreamCost {
        streams,
        iops: about(40_000.0 / f64::from(streams)),
        gain: about(5.0 / f64::from(streams)),
    };
    ReadAhead {
        block_bytes: 4096,
        random_iops: Some(about(8000.0)),
        streams: [1, 2, 4, 8].map(stream).to_vec(),
        stream_count_max: Some(Interval::exact(2)),
        latency_by_position_ns: vec![120_000, 121_000, 60_000, 30_000, 30_000],
        detected_after_requests: Some(2),
    }
}

fn scaling() -> Scaling {
    let cell = |threads: u32, depth: u32| ScalingCell {
        threads,
        queue_depth_per_thread: depth,
        iops: about(8000.0 * f64::from(threads * depth).sqrt()),
        cpu_ns_per_request: 2000.0,
    };
    let cells = [1, 2, 4].iter().flat_map(|threads| [1, 16].map(|depth| cell(*threads, depth)));
    Scaling { block_bytes: 4096, cells: cells.collect() }
}

fn sync_reads() -> SyncReads {
    let read = |block_bytes: u64, outstanding: u32| SyncRead {
        block_bytes,
        outstanding,
        sync_bytes_per_s: Some(about(block_bytes as f64 * 7000.0)),
        async_bytes_per_s: about(block_bytes as f64 * 8000.0 * f64::from(outstanding).sqrt()),
        sync_cpu_ns_per_request: Some(3000.0),
        async_cpu_ns_per_request: 2000.0,
    };
    let sizes = [4096, 16 << 10, 64 << 10];
    SyncReads { reads: sizes.iter().flat_map(|bytes| [1, 16].map(|depth| read(*bytes, depth))).collect() }
}
