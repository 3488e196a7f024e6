//! Experiment findings of the synthetic drives.

use nandle_profile::experiments::{
    CommitCost, CommitMethod, DiscardCost, DiscardCosts, FillChange, FillLevel, FillLevels, FlushCosts,
    InterferenceCell, InterferenceMap, LargeWriteCell, LargeWrites, MicroBenchmark, PatternCost, ReadAhead,
    Scaling, ScalingCell, SyncRead, SyncReads, WriteCacheFindings, WritePatterns,
};
use nandle_profile::{Conducted, Experiments, Interval, LatencySummary, OperationKind};
use serde_json::json;

use super::{Drive, SIZES, about, read};

pub(crate) fn conducted<T>(findings: T) -> Conducted<T> {
    Conducted {
        complete: true,
        ended_by: None,
        failed: None,
        elapsed_ns: 1,
        bytes_written: 1,
        remarks: Vec::new(),
        findings,
    }
}

impl Drive {
    pub(super) fn experiments(&self) -> Experiments {
        Experiments {
            write_patterns: Some(conducted(WritePatterns {
                patterns: self.writes(),
                ..WritePatterns::default()
            })),
            large_writes: Some(conducted(LargeWrites { cells: self.large_writes() })),
            flush: Some(conducted(FlushCosts { commits: self.commits(), ..FlushCosts::default() })),
            interference: Some(conducted(InterferenceMap {
                write_block_bytes: 4096,
                cells: vec![self.busy(0.9, 0.0), self.busy(0.1, 0.9), self.busy(0.5, 0.5)],
                ..InterferenceMap::default()
            })),
            discard: self.discards(),
            fill_level: self.fill_levels(),
            write_cache: Some(conducted(self.write_cache())),
            scaling: Some(conducted(self.scaling())),
            sync_reads: Some(conducted(self.sync_reads())),
            read_ahead: Some(conducted(ReadAhead::default())),
            ..Experiments::default()
        }
    }

    /// The disk has no discards. The other drive discards 16 MiB in 40 ms, and reads behind a
    /// discard take half as long again.
    fn discards(&self) -> Option<Conducted<DiscardCosts>> {
        let latency = |ns: f64| LatencySummary { p99: Some(ns as u64), ..LatencySummary::default() };
        let cost = |discard_bytes: u64, ns: f64| DiscardCost {
            discard_bytes,
            observations: 1000,
            bandwidth_bytes_per_s: discard_bytes as f64 / ns * 1e9,
            latency_ns: latency(ns),
        };
        (!self.is_disk()).then(|| {
            conducted(DiscardCosts {
                discards: vec![
                    cost(4 << 10, 50e3),
                    cost(64 << 10, 60e3),
                    cost(1 << 20, 3e6),
                    cost(16 << 20, 40e6),
                ],
                read_latency_alone_ns: latency(2.0 * self.read_ns),
                read_latency_beside_ns: latency(3.0 * self.read_ns),
            })
        })
    }

    fn fill_levels(&self) -> Option<Conducted<FillLevels>> {
        let level = |fill_share: f64, of_steady: f64| FillLevel {
            fill_share,
            changes: vec![FillChange {
                pattern: "random".into(),
                operation: OperationKind::Write,
                before_bytes_per_s: self.bytes_per_s,
                after_bytes_per_s: of_steady * self.steady_write_bytes_per_s,
            }],
            ..FillLevel::default()
        };
        let levels = vec![level(0.5, 1.8), level(0.7, 1.5), level(0.95, 1.0)];
        (!self.is_disk()).then(|| conducted(FillLevels { levels, ..FillLevels::default() }))
    }

    /// Writes after the cache is full proceed at the steady-state rate.
    fn write_cache(&self) -> WriteCacheFindings {
        WriteCacheFindings {
            block_bytes: 32 << 10,
            queue_depth: 1,
            absorbed_bytes: Some(Interval::exact(1 << 30)),
            absorbing_bytes_per_s: Some(about(self.bytes_per_s)),
            sustained_bytes_per_s: Some(about(self.steady_write_bytes_per_s)),
            drain_ns: Some(Interval::exact(5_120_000_000)),
            flush_of_full_cache_ns: Some((self.flush_ns * 3.0) as u64),
            settings: Vec::new(),
        }
    }

    fn scaling(&self) -> Scaling {
        let iops = self.random_bytes_per_s(4096, self.knee_depth) / 4096.0;
        let cell = |threads: u32, share: f64| ScalingCell {
            threads,
            queue_depth_per_thread: 32,
            iops: about(share * iops),
            cpu_ns_per_request: 2000.0,
        };
        Scaling { block_bytes: 4096, cells: vec![cell(1, 0.99), cell(2, 1.0), cell(4, 1.0), cell(8, 1.0)] }
    }

    fn sync_reads(&self) -> SyncReads {
        let read = |outstanding: u32| {
            let bytes_per_s = self.random_bytes_per_s(4096, outstanding);
            SyncRead {
                block_bytes: 4096,
                outstanding,
                sync_bytes_per_s: Some(about(bytes_per_s)),
                async_bytes_per_s: about(bytes_per_s * 1.05),
                sync_cpu_ns_per_request: Some(9000.0),
                async_cpu_ns_per_request: 3000.0,
            }
        };
        SyncReads { reads: [1, 4, 16, 32].map(read).to_vec() }
    }

    fn is_disk(&self) -> bool {
        self.random_by_sequential > 4.0
    }

    fn large_writes(&self) -> Vec<LargeWriteCell> {
        let cell = |block_bytes: u64, queue_depth: u32, share: f64| LargeWriteCell {
            block_bytes,
            queue_depth,
            requests: 1000,
            bandwidth_bytes_per_s: about(share * self.bytes_per_s),
            latency_ns: LatencySummary::default(),
        };
        vec![
            cell(32 << 10, 16, 0.8),
            cell(128 << 10, 16, 0.98),
            cell(1 << 20, 16, 1.0),
            cell(1 << 20, 1, 0.6),
        ]
    }

    fn writes(&self) -> Vec<PatternCost> {
        let row = |block_bytes: u64| PatternCost {
            micro_benchmark: MicroBenchmark::Granularity,
            pattern: "sequential".into(),
            operation: OperationKind::Write,
            block_bytes,
            shift_bytes: 0,
            queue_depth: 1,
            pause_ns: 0,
            burst_requests: 0,
            start_up_requests: 0,
            requests: 100,
            request_ns: about(10e3 + block_bytes as f64 / self.bytes_per_s * 1e9),
            relative_cost: None,
            latency_ns: LatencySummary::default(),
        };
        let random = |block_bytes: u64| PatternCost {
            pattern: "random".into(),
            request_ns: about(self.random_write_ns(block_bytes)),
            ..row(block_bytes)
        };
        SIZES.into_iter().flat_map(|size| [row(size), random(size)]).collect()
    }

    /// If random writes are expensive, a larger one takes no longer.
    fn random_write_ns(&self, block_bytes: u64) -> f64 {
        if self.is_disk() { 10e6 } else { block_bytes as f64 / 600e6 * 1e9 }
    }

    fn commits(&self) -> Vec<CommitCost> {
        let timed = |method: CommitMethod, in_file: bool, write_bytes: u64, slower: f64| {
            let median_ns = self.flush_ns * slower;
            read(json!({
                "method": method, "extent": "overwritten", "in_file": in_file, "write_bytes": write_bytes,
                "writes_per_commit": 1, "observations": 1000, "commit_ns": about(median_ns),
                "latency_ns": LatencySummary {
                    mean: Some(median_ns * 1.1),
                    p99: Some((median_ns * 2.0) as u64),
                    ..LatencySummary::default()
                },
            }))
        };
        vec![
            timed(CommitMethod::WriteThenFlush, false, 4096, 1.0),
            timed(CommitMethod::WriteThenFlush, false, 8192, 1.0),
            timed(CommitMethod::WriteThenFlush, false, 16_384, 1.0),
            timed(CommitMethod::Fdatasync, true, 8192, 1.0),
            timed(CommitMethod::Fsync, true, 8192, 1.5),
            timed(CommitMethod::DurableWrite, true, 8192, 0.5),
        ]
    }

    fn busy(&self, read_share: f64, write_share: f64) -> InterferenceCell {
        let latency = LatencySummary { p99: Some((self.read_ns * 5.0) as u64), ..LatencySummary::default() };
        read(json!({
            "read_share": read_share, "write_share": write_share,
            "read_rate_per_s": read_share, "write_rate_per_s": write_share,
            "read_achieved_per_s": read_share, "write_achieved_per_s": write_share,
            "rates_kept": true, "read_latency_ns": latency, "write_latency_ns": latency,
        }))
    }
}
