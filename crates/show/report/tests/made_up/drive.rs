use nandle_profile::{
    AtomicWrite, Backend, BlockAtDepth, BlockQueue, Cell, Conditions, Contradiction, DepthForBlock, Derived,
    DeviceProfile, EqualRegion, FileSystem, FirstTouch, FitSummary, FittedCell, FlexibleIo, GroupPenalty,
    Identity, Interval, LatencySummary, MachineFacts, MeasuredCell, OperationKind, ReferenceCell,
    ReferenceSlice, RequestCost, SkippedCell, SplitObservation, SplitSize, SystemFacts,
};
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

const DEPTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const SHARPNESS: f64 = 2.5;

/// Parameters of a synthetic drive.
pub(crate) struct Drive {
    pub(crate) model: &'static str,
    pub(crate) request_ns: f64,
    pub(crate) ns_per_byte: f64,
    pub(crate) iops_max: f64,
    pub(crate) bandwidth_max: f64,
    /// Strength of the group penalty: 1 as on the X25-M of the DIAT paper, 0 for none.
    pub(crate) grouping: f64,
    pub(crate) seed: u64,
}

struct Noise {
    random: Xoshiro256PlusPlus,
    normal: Normal<f64>,
}

impl Noise {
    fn factor(&mut self) -> f64 {
        1.0 + self.normal.sample(&mut self.random)
    }
}

fn blocks() -> Vec<u64> {
    (12..=22).map(|power| 1 << power).collect()
}

impl Drive {
    /// Complete profile of the drive.
    pub(crate) fn profile(&self) -> DeviceProfile {
        let random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut noise = Noise { random, normal: Normal::new(0.0, 0.018).unwrap() };
        let (cells, fitted_cells) = self.cells(&mut noise);
        DeviceProfile {
            schema_version: nandle_profile::PROFILE_SCHEMA_VERSION,
            made_by: "made up for a test, not measured".into(),
            made_at_unix_s: 1_772_373_900,
            target: "/mnt/made-up/nandle.test".into(),
            partial: Vec::new(),
            identity: self.identity(),
            system: system(),
            contradictions: vec![contradiction()],
            backend: backend(),
            conditions: self.conditions(&mut noise),
            derived: self.derived(&cells),
            first_touch: Some(FirstTouch {
                block_bytes: 128 << 10,
                queue_depth: 16,
                first_bandwidth_bytes_per_s: self.bandwidth_max * 0.81,
                again_bandwidth_bytes_per_s: self.bandwidth_max * 0.95,
                ratio: around(0.853, 0.021),
            }),
            batches: Vec::new(),
            cells,
            fitted_cells,
            fit: Some(FitSummary {
                request_ns: self.request_ns,
                ns_per_byte: self.ns_per_byte,
                iops_max: self.iops_max,
                bandwidth_bytes_per_s_max: self.bandwidth_max,
                sharpness: SHARPNESS,
                error_median: 0.021,
                error_p90: 0.058,
            }),
            skipped: vec![SkippedCell {
                pattern: "sequential".into(),
                block_bytes: 4096,
                group_blocks: 1,
                queue_depth: 128,
                reason: "the time allowed was used up".into(),
            }],
            experiments: nandle_profile::Experiments::default(),
        }
    }

    /// Formula of [`FitSummary`], with the drop at a split size of 1 MiB.
    fn bandwidth(&self, block: u64, depth: u32) -> f64 {
        let (b, q) = (block as f64, f64::from(depth));
        let bounds = [
            (self.request_ns + b * self.ns_per_byte) / (q * b) / 1e9,
            1.0 / (self.iops_max * b),
            1.0 / self.bandwidth_max,
        ];
        let sum: f64 = bounds.iter().map(|bound| bound.powf(SHARPNESS)).sum();
        let split = if block > 1 << 20 { 0.86 } else { 1.0 };
        split / sum.powf(1.0 / SHARPNESS)
    }

    fn cells(&self, noise: &mut Noise) -> (Vec<MeasuredCell>, Vec<FittedCell>) {
        let (mut cells, mut fitted) = (Vec::new(), Vec::new());
        for (row, block) in blocks().into_iter().enumerate() {
            for (column, depth) in DEPTHS.into_iter().enumerate() {
                let bandwidth = self.bandwidth(block, depth);
                if (row + 2 * column).is_multiple_of(3) || row == 0 || depth == 1 {
                    cells.push(cell("random", block, 1, depth, bandwidth * noise.factor()));
                } else {
                    fitted.push(FittedCell {
                        block_bytes: block,
                        queue_depth: depth,
                        bandwidth_bytes_per_s: Interval {
                            value: bandwidth,
                            low: 0.9 * bandwidth,
                            high: 1.1 * bandwidth,
                        },
                    });
                }
            }
        }
        for block in blocks().into_iter().step_by(2) {
            for depth in [1, 4, 32] {
                let ahead = self.bandwidth((block * 8).min(1 << 20), depth).max(self.bandwidth(block, depth));
                cells.push(cell("sequential", block, 1, depth, ahead * noise.factor()));
            }
        }
        for penalty in self.penalties() {
            let alone = self.bandwidth(penalty.block_bytes, penalty.queue_depth);
            let bandwidth = alone * penalty.ratio.value;
            cells.push(cell(
                "random",
                penalty.block_bytes,
                penalty.group_blocks,
                penalty.queue_depth,
                bandwidth,
            ));
        }
        (cells, fitted)
    }

    fn identity(&self) -> Identity {
        Identity {
            kernel_name: Some("nvme0n1".into()),
            model: Some(self.model.into()),
            vendor: Some("Nobody".into()),
            serial: Some(format!("NOT-A-SERIAL-{:04}", self.seed)),
            world_wide_name: Some("eui.0000000000000000".into()),
            firmware: Some("0.0".into()),
            capacity_bytes: Some(1_920_383_410_176),
        }
    }

    fn conditions(&self, noise: &mut Noise) -> Conditions {
        let bandwidth = self.bandwidth(32 << 10, 16);
        // One slice every 1.4 s, with a slow wave of 3 % below the noise.
        let slice = |index: u32| {
            let wave = 1.0 + 0.03 * (f64::from(index) / 9.0).sin();
            ReferenceSlice {
                began_ns: u64::from(index) * 1_400_000_000,
                bandwidth_bytes_per_s: bandwidth * wave * noise.factor(),
            }
        };
        Conditions {
            budget_ns: 90_000_000_000,
            elapsed_ns: 88_400_000_000,
            fill_ns: 9_800_000_000,
            file_bytes: 16 << 30,
            wanted_file_bytes: 32 << 30,
            contents_checked: true,
            seed: self.seed,
            threads: 1,
            rounds: 9,
            reads_complete: true,
            reference: Some(ReferenceCell {
                block_bytes: 32 << 10,
                queue_depth: 16,
                slices: 61,
                bandwidth_bytes_per_s: bandwidth,
                variation: 0.028,
                series: (0..61).map(slice).collect(),
            }),
            stolen_cpu_share: Some(0.004),
            io_pressure_share: Some(0.61),
            cpu_pressure_share: None,
            others_before: None,
            others_meanwhile: None,
            errors: 0,
            remarks: vec!["The file is smaller than wanted because the file system has no more room.".into()],
        }
    }

    fn derived(&self, cells: &[MeasuredCell]) -> Derived {
        let random = cells.iter().filter(|measured| measured.cell.pattern == "random");
        let best = random.map(|measured| measured.cell.bandwidth_bytes_per_s).fold(0.0, f64::max);
        let efficient =
            |depth: u32| blocks().into_iter().find(|block| self.bandwidth(*block, depth) >= 0.9 * best);
        let block = efficient(128).unwrap();
        Derived {
            random_bandwidth_bytes_per_s_max: Some(around(best, 0.02 * best)),
            sequential_bandwidth_bytes_per_s_max: Some(around(best * 1.01, 0.015 * best)),
            random_read_iops_max: Some(around(self.bandwidth(4096, 128) / 4096.0, 0.015 * self.iops_max)),
            random_read_latency_ns: cells[0].cell.latency_ns.p50,
            efficient_block_bytes: Some(Interval { value: block, low: block / 2, high: block }),
            efficient_block_by_depth: DEPTHS
                .into_iter()
                .filter_map(|queue_depth| {
                    Some(BlockAtDepth { queue_depth, block_bytes: Interval::exact(efficient(queue_depth)?) })
                })
                .collect(),
            saturating_queue_depth: blocks().into_iter().map(|block| self.knee(block)).collect(),
            random_equals_sequential: [32 << 10, 128 << 10, 512 << 10]
                .map(|block_bytes| EqualRegion {
                    block_bytes,
                    group_blocks: 1,
                    queue_depth_min: 32,
                    ratio: around(0.98, 0.02),
                })
                .to_vec(),
            group_penalty: self.penalties(),
            split_bytes: Some(SplitSize {
                stated_bytes: Some(1 << 20),
                seen: Some(SplitObservation {
                    whole_bytes: 1 << 20,
                    ratio: Some(around(0.86, 0.02)),
                    sign: "Bandwidth at depth 32 falls by 14 % from 1MiB to 2MiB.".into(),
                }),
            }),
            flexible_io: Some(self.flexible_io(block)),
            ..Derived::default()
        }
    }

    fn flexible_io(&self, group_bytes: u64) -> FlexibleIo {
        let cost = |block| block as f64 / self.bandwidth(block, 128) * 1e9;
        FlexibleIo {
            block_bytes: Interval::exact(4096),
            group_blocks: Interval::exact(group_bytes / 4096),
            break_even_blocks: around(cost(group_bytes) / cost(4096), 0.3),
            request_costs: blocks()
                .into_iter()
                .map(|block| RequestCost { block_bytes: block, cost_ns: Interval::exact(cost(block)) })
                .collect(),
        }
    }

    /// Groups of 4 lose bandwidth, longer ones recover. A deep queue hides the loss.
    fn penalties(&self) -> Vec<GroupPenalty> {
        let mut all = Vec::new();
        for (depth, strength) in [(4, 1.0), (32, 0.35)] {
            for block_bytes in [4096, 32 << 10, 256 << 10] {
                for (group_blocks, loss) in [(2, 0.03), (4, 0.31), (8, 0.24), (16, 0.13), (32, 0.05)] {
                    let size = if block_bytes == 32 << 10 { 1.0 } else { 0.7 };
                    let ratio = around(1.0 - loss * strength * size * self.grouping, 0.025);
                    all.push(GroupPenalty { block_bytes, queue_depth: depth, group_blocks, ratio });
                }
            }
        }
        all
    }

    fn knee(&self, block: u64) -> DepthForBlock {
        let plateau = self.bandwidth(block, 128);
        let near = |depth: &u32| self.bandwidth(block, *depth) >= 0.9 * plateau;
        let depth = DEPTHS.into_iter().find(near).unwrap();
        DepthForBlock {
            block_bytes: block,
            queue_depth: Interval { value: depth, low: depth, high: (2 * depth).min(128) },
            plateau_bytes_per_s: around(plateau, 0.02 * plateau),
            plateau_reached: depth < 128,
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "invented figures are small")]
fn whole(value: f64) -> u64 {
    value as u64
}

fn around(value: f64, half: f64) -> Interval<f64> {
    Interval { value, low: value - half, high: value + half }
}

pub(crate) fn cell(pattern: &str, block: u64, group: u64, depth: u32, bandwidth: f64) -> MeasuredCell {
    let iops = bandwidth / block as f64;
    let mean = f64::from(depth) / iops * 1e9;
    let at = |factor: f64| Some(whole(mean * factor));
    let requests = whole(iops * 0.9);
    MeasuredCell {
        cell: Cell {
            pattern: pattern.into(),
            operation: OperationKind::Read,
            block_bytes: block,
            group_blocks: group,
            queue_depth: depth,
            requests,
            bytes: requests * block,
            elapsed_ns: 900_000_000,
            bandwidth_bytes_per_s: bandwidth,
            iops,
            latency_ns: LatencySummary {
                mean: Some(mean),
                p50: at(0.94),
                p90: at(1.4),
                p99: at(2.1 + f64::from(depth).log2() * 0.2).filter(|_| requests >= 1000),
                p999: at(4.8).filter(|_| requests >= 10_000),
                max: at(9.0),
            },
            cpu_ns_per_request: 2_300.0,
            mean_outstanding: f64::from(depth),
            errors: 0,
            first_error: None,
            schedule_lag_ns: None,
            unsent: None,
            drive: None,
            seconds: Vec::new(),
        },
        slices: 9,
        steady_bandwidth_bytes_per_s: around(bandwidth, 0.035 * bandwidth),
    }
}

fn contradiction() -> Contradiction {
    Contradiction {
        stated: "the device calls itself rotational (/sys/block/nvme0n1/queue/rotational is 1).".into(),
        measured: "reads at random are as fast as in sequence from 64KiB on.".into(),
        advice: "Treat it as flash: set rotational to 0.".into(),
    }
}

fn backend() -> Backend {
    Backend {
        io: "io_uring".into(),
        features: vec!["SINGLE_ISSUER".into(), "DEFER_TASKRUN".into(), "registered files".into()],
        stepped_down: vec!["registered buffers: RLIMIT_MEMLOCK allows 8MiB, 64MiB were wanted".into()],
        direct: true,
    }
}

fn system() -> SystemFacts {
    SystemFacts {
        queue: Some(BlockQueue {
            rotational: Some(true),
            scheduler: Some("none".into()),
            schedulers_available: vec!["none".into(), "mq-deadline".into(), "kyber".into()],
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            minimum_io_bytes: Some(4096),
            optimal_io_bytes: None,
            split_bytes: Some(1 << 20),
            hardware_split_bytes: Some(2 << 20),
            segments_max: Some(127),
            requests_max: Some(1023),
            read_ahead_bytes: Some(128 << 10),
            write_cache: Some("write back".into()),
            forced_unit_access: Some(true),
            dma_alignment_mask: Some(3),
            discard_granularity_bytes: Some(4096),
            discard_bytes_max: Some(2_199_023_255_040),
            writeback_throttle_latency_us: Some(2000),
            merges: Some(true),
        }),
        file_system: Some(FileSystem {
            kind: "ext4".into(),
            source: "/dev/nvme0n1p1".into(),
            mount_point: "/mnt/made-up".into(),
            options: vec!["rw".into(), "noatime".into(), "discard".into()],
            capacity_bytes: Some(1_888_000_000_000),
            available_bytes: Some(17_179_869_184),
        }),
        atomic_write: Some(AtomicWrite { unit_bytes_min: 512, unit_bytes_max: 4096 }),
        direct_memory_alignment_bytes: Some(4),
        direct_offset_alignment_bytes: Some(512),
        machine: MachineFacts {
            processor: Some("Made-up processor".into()),
            processors: 8,
            memory_bytes: Some(64 << 30),
            kernel: "Linux 6.12.0-made-up".into(),
            hypervisor: None,
        },
    }
}
