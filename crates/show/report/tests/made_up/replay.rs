use nandle_profile::LatencySummary;
use nandle_replay::{
    AddressesUsed, AutoFindings, DriveFigures, Durability, InstanceCounts, Method, PolicyDecision,
    PolicyOutcome, REPLAY_SCHEMA_VERSION, ReplayFile, Sample, StoreUsage, WriteCostsUsed,
};

/// Synthetic replay, as `nandle replay` writes it.
pub(crate) fn replay_file() -> ReplayFile {
    ReplayFile {
        schema_version: REPLAY_SCHEMA_VERSION,
        trace: "made-up <b>trace</b>.csv.zst".into(),
        target: "model:made-up".into(),
        trace_writes: 60_000,
        page_writes: 60_000,
        passes: Some(1),
        repeats: Some(1),
        filled_pages: Some(0),
        pages: 500_000,
        page_bytes: 4096,
        durability: Durability::Trace,
        queue_depth: 1,
        compressible_percent: 50,
        compresses: true,
        addresses: AddressesUsed::Keep,
        wrapped: false,
        enlarged_to_bytes: None,
        bad_lines: 0,
        write_costs: WriteCostsUsed {
            sequential_ns: 100_000,
            partitioned_ns: 150_000,
            ordered_ns: 250_000,
            focused_ns: 150_000,
            random_ns: 2_000_000,
            focused_area_bytes: 8 << 20,
            partition_count_max: 8,
            mapping_unit_bytes: 1 << 20,
            measured: Vec::new(),
            assumed: Vec::new(),
        },
        remarks: vec!["A remark.".into()],
        policies: policies(),
        left_out: Vec::new(),
        decision: PolicyDecision::of(&policies(), usage(), Vec::new()),
    }
}

fn usage() -> StoreUsage {
    StoreUsage { fill_percent: 50, living_percent: 60, batch_pages: 1.0, sync_pages: Some(16.0) }
}

/// Outcomes of three policies in a synthetic replay.
pub(crate) fn policies() -> Vec<PolicyOutcome> {
    vec![
        outcome("direct", 1.0, 0),
        outcome("doublewrite", 0.6, 4 << 20),
        outcome("stable-buffer", 3.4, 8 << 20),
        auto(),
    ]
}

/// Outcome of `auto` that staged at first and then wrote in place.
fn auto() -> PolicyOutcome {
    let outcome = outcome("auto", 1.02, 8 << 20);
    let samples = outcome
        .samples
        .iter()
        .map(|sample| Sample { pages_straight: sample.writes.saturating_sub(15_000) * 15 / 16, ..*sample });
    PolicyOutcome {
        torn_page_safe: false,
        pages_straight: 42_000,
        auto: Some(AutoFindings {
            chosen: Some(Method::Straight),
            trials: 5,
            changes: 1,
            staged_page_ns: Some(410_000),
            straight_page_ns: Some(180_000),
        }),
        samples: samples.collect(),
        ..outcome
    }
}

// long: a whole record, field by field
fn outcome(policy: &'static str, speedup: f64, buffer_bytes: u64) -> PolicyOutcome {
    let stretch_ns = (30e9 / speedup) as u64;
    let found = |stretch: u64| {
        if policy != "stable-buffer" {
            return InstanceCounts::default();
        }
        InstanceCounts {
            sequential: 40 * stretch,
            sequential_pages: 900 * stretch,
            partitioned: 12 * stretch,
            partitioned_pages: 700 * stretch + 30 * stretch * stretch,
            ordered: 20 * stretch,
            ordered_pages: 200 * stretch,
            focused: 9 * stretch,
            focused_pages: 1500 * stretch,
        }
    };
    let sample = |stretch: u64| Sample {
        elapsed_ns: stretch * stretch_ns,
        writes: stretch * 3750,
        staged_pages: if buffer_bytes > 0 { 1500 + stretch * 13 % 400 } else { 0 },
        pages_straight: 0,
        device_written_bytes: stretch * 20_000_000,
        instances: found(stretch),
    };
    PolicyOutcome {
        policy: policy.parse().unwrap(),
        torn_page_safe: buffer_bytes > 0,
        atomic_batch: false,
        buffer_bytes,
        page_bytes: 4096,
        writes: 60_000,
        batch_pages_max: 256,
        split_writes: 0,
        elapsed_ns: 16 * stretch_ns,
        checkpoint_ns: 5_000_000,
        speedup_over_direct: Some(speedup),
        latency_ns: LatencySummary {
            mean: Some(8e6 / speedup),
            p50: Some((9e6 / speedup) as u64),
            p90: Some(11_000_000),
            p99: Some((40e6 / speedup) as u64),
            p999: Some(90_000_000),
            max: Some(95_000_000),
        },
        sync_latency_ns: Some(syncs()),
        device_written_bytes: 320_000_000,
        device_read_bytes: 4096,
        device_writes: 60_000,
        flushes: 1700,
        write_amplification: 1.3,
        drive: Some(DriveFigures {
            flash_written_bytes: 5_000_000_000,
            erased_bytes: 5_000_000_000,
            write_amplification: Some(15.6),
            flash_bytes_by_page_bytes: 20.3 / speedup,
        }),
        pages_absorbed: if buffer_bytes > 0 { 4000 } else { 0 },
        pages_straight: 0,
        auto: None,
        pages_destaged: 56_000,
        pages_cleaned: None,
        zones_freed: None,
        instances: found(16),
        verified_pages: 53_000,
        samples: (1..=16).map(sample).collect(),
        repeats: None,
    }
}

fn syncs() -> LatencySummary {
    LatencySummary {
        mean: Some(4e6),
        p50: Some(3_500_000),
        p90: Some(6_000_000),
        p99: Some(12_000_000),
        p999: None,
        max: Some(41_000_000),
    }
}
