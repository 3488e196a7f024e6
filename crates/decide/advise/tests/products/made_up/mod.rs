//! Complete profiles of synthetic drives, generated from a few figures.

pub(crate) mod experiments;

use nandle_profile::experiments::CommitMethod;
use nandle_profile::{
    Backend, BlockQueue, Cell, CommitTime, Conditions, DepthForBlock, Derived, DeviceProfile, Experiments,
    GroupCommitGain, Identity, Interval, LatencySummary, MachineFacts, MeasuredCell, OperationKind,
    PROFILE_SCHEMA_VERSION, SteadyStateFigures, SystemFacts, WritePatternCost,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Figures of a synthetic drive.
pub(crate) struct Drive {
    pub(crate) model: &'static str,
    pub(crate) rotational: bool,
    /// Time of a random read of a small block.
    pub(crate) read_ns: f64,
    /// Depth at which random reads reach their plateau.
    pub(crate) knee_depth: u32,
    /// Bandwidth of sequential reads and writes.
    pub(crate) bytes_per_s: f64,
    /// Time of a random write divided by that of a sequential one.
    pub(crate) random_by_sequential: f64,
    /// Random write bandwidth in the steady state.
    pub(crate) steady_write_bytes_per_s: f64,
    /// Time of a commit.
    pub(crate) flush_ns: f64,
}

/// Disk with 7200 revolutions a minute.
pub(crate) const DISK: Drive = Drive {
    model: "disk",
    rotational: true,
    read_ns: 12e6,
    knee_depth: 2,
    bytes_per_s: 100e6,
    random_by_sequential: 120.0,
    steady_write_bytes_per_s: 1.2e6,
    flush_ns: 8.3e6,
};

/// Good solid-state drive with a power-protected cache.
pub(crate) const NVME: Drive = Drive {
    model: "nvme",
    rotational: false,
    read_ns: 80e3,
    knee_depth: 64,
    bytes_per_s: 3e9,
    random_by_sequential: 1.6,
    steady_write_bytes_per_s: 600e6,
    flush_ns: 20e3,
};

const SIZES: [u64; 6] = [4 << 10, 8 << 10, 16 << 10, 128 << 10, 1 << 20, 4 << 20];

fn about(value: f64) -> Interval<f64> {
    Interval { value, low: value * 0.95, high: value * 1.05 }
}

impl Drive {
    /// Profile of a ten-minute probe.
    pub(crate) fn profile(&self) -> DeviceProfile {
        DeviceProfile { derived: self.derived(), experiments: self.experiments(), ..self.read_side() }
    }

    /// Profile of a one-minute probe, which doesn't write.
    pub(crate) fn read_side(&self) -> DeviceProfile {
        let derived = self.derived();
        DeviceProfile {
            schema_version: PROFILE_SCHEMA_VERSION,
            made_by: "nandle 0.0.0".into(),
            made_at_unix_s: 1_700_000_000,
            target: format!("model:{}", self.model),
            partial: Vec::new(),
            identity: Identity {
                model: Some(self.model.into()),
                kernel_name: Some("sdx".into()),
                ..Identity::default()
            },
            system: self.system(),
            contradictions: Vec::new(),
            backend: Backend {
                io: "io_uring".into(),
                features: Vec::new(),
                stepped_down: Vec::new(),
                direct: true,
            },
            conditions: Conditions::default(),
            derived: Derived {
                random_read_iops_max: derived.random_read_iops_max,
                sequential_bandwidth_bytes_per_s_max: derived.sequential_bandwidth_bytes_per_s_max,
                random_read_latency_ns: derived.random_read_latency_ns,
                efficient_block_bytes: derived.efficient_block_bytes,
                saturating_queue_depth: derived.saturating_queue_depth,
                ..Derived::default()
            },
            first_touch: None,
            batches: Vec::new(),
            cells: self.cells(),
            fitted_cells: Vec::new(),
            fit: None,
            skipped: Vec::new(),
            experiments: Experiments::default(),
        }
    }

    fn system(&self) -> SystemFacts {
        SystemFacts {
            queue: Some(BlockQueue {
                rotational: Some(self.rotational),
                scheduler: Some(if self.rotational { "none" } else { "mq-deadline" }.into()),
                schedulers_available: ["none", "mq-deadline"].map(str::to_owned).to_vec(),
                split_bytes: Some(512 << 10),
                hardware_split_bytes: Some(2 << 20),
                requests_max: Some(64),
                discard_bytes_max: Some(if self.rotational { 0 } else { 2 << 30 }),
                ..BlockQueue::default()
            }),
            machine: MachineFacts { processors: 8, ..MachineFacts::default() },
            ..SystemFacts::default()
        }
    }

    fn random_bytes_per_s(&self, block_bytes: u64, depth: u32) -> f64 {
        let time_s = self.read_ns / 1e9 / f64::from(depth.min(self.knee_depth))
            + block_bytes as f64 / self.bytes_per_s;
        block_bytes as f64 / time_s
    }

    fn cells(&self) -> Vec<MeasuredCell> {
        let random = SIZES.iter().flat_map(|size| {
            [1, 16].map(|depth| cell("random", *size, depth, self.random_bytes_per_s(*size, depth)))
        });
        let sequential = SIZES.iter().flat_map(|size| {
            [1, 4].map(|depth| {
                // The fixed time of a request, ten microseconds, is hidden if several are
                // outstanding.
                let request_s = 10e-6 / f64::from(depth);
                let rate = *size as f64 / (request_s + *size as f64 / self.bytes_per_s);
                cell("sequential", *size, depth, rate)
            })
        });
        random.chain(sequential).collect()
    }

    fn derived(&self) -> Derived {
        let plateau = |size: u64| about(self.random_bytes_per_s(size, self.knee_depth));
        Derived {
            random_read_iops_max: Some(about(plateau(4096).value / 4096.0)),
            sequential_bandwidth_bytes_per_s_max: Some(about(self.bytes_per_s)),
            random_read_latency_ns: Some(self.read_ns as u64),
            efficient_block_bytes: Some(Interval::exact(128 << 10)),
            saturating_queue_depth: SIZES
                .map(|block_bytes| DepthForBlock {
                    block_bytes,
                    queue_depth: Interval::exact(self.knee_depth),
                    plateau_bytes_per_s: plateau(block_bytes),
                    plateau_reached: true,
                })
                .to_vec(),
            write_pattern_cost: Some(WritePatternCost {
                block_bytes: 8192,
                sequential_ns: about(8192e9 / self.bytes_per_s),
                random: about(self.random_by_sequential),
                focused: None,
                partitioned: Some(about(self.random_by_sequential.sqrt())),
                ordered: None,
            }),
            flush_ns: Some(CommitTime {
                method: CommitMethod::Fdatasync,
                in_file: true,
                write_bytes: 4096,
                median_ns: about(self.flush_ns),
                p99_ns: Some((self.flush_ns * 2.0) as u64),
            }),
            group_commit: Some(GroupCommitGain {
                alone_per_s: about(1e9 / self.flush_ns),
                writers: Interval::exact(8),
                together_per_s: about(6e9 / self.flush_ns),
            }),
            steady_state: Some(SteadyStateFigures {
                block_bytes: 4096,
                random_write_bytes_per_s: about(self.steady_write_bytes_per_s),
                of_fresh: None,
                reached: true,
                write_amplification: None,
            }),
            interference: Some(read(json!({
                "read_rate_per_s": 100.0, "quantile": 0.99, "write_share": about(0.3),
                "write_rate_per_s": about(self.steady_write_bytes_per_s / 4096.0 * 0.3),
            }))),
            smallest_block_bytes: Some(Interval::exact(4096)),
            ..Derived::default()
        }
    }
}

/// Parses a part of a profile from its JSON.
fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn cell(pattern: &str, block_bytes: u64, queue_depth: u32, bytes_per_s: f64) -> MeasuredCell {
    let latency_ns = (f64::from(queue_depth) * block_bytes as f64 / bytes_per_s * 1e9) as u64;
    let cell = Cell {
        pattern: pattern.into(),
        operation: OperationKind::Read,
        block_bytes,
        group_blocks: 1,
        queue_depth,
        requests: 10_000,
        bytes: 10_000 * block_bytes,
        elapsed_ns: 1_000_000_000,
        bandwidth_bytes_per_s: bytes_per_s,
        iops: bytes_per_s / block_bytes as f64,
        latency_ns: LatencySummary {
            p50: Some(latency_ns),
            p99: Some(latency_ns * 2),
            ..LatencySummary::default()
        },
        cpu_ns_per_request: 0.0,
        mean_outstanding: f64::from(queue_depth),
        errors: 0,
        first_error: None,
        schedule_lag_ns: None,
        unsent: None,
        drive: None,
        seconds: Vec::new(),
    };
    MeasuredCell { cell, slices: 4, steady_bandwidth_bytes_per_s: about(bytes_per_s) }
}
