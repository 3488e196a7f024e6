//! Mixed reads and writes on current drives, bounded by mechanisms: link, channels, suspension,
//! buffer.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "test code")]

mod common;

use common::patterns::{Offsets, Pattern};
use nandle_model::flash::{FlashDrive, FlashParameters};
use nandle_model::library;
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

const MIB: u64 = 1 << 20;
const DRIVES: [&str; 2] = ["nvme-tlc", "nvme-plp"];

/// Sorted latencies in nanoseconds, and the data rate, of one direction.
struct Direction {
    latencies_ns: Vec<u64>,
    bytes_per_s: f64,
}

impl Direction {
    fn mean_us(&self) -> f64 {
        self.latencies_ns.iter().sum::<u64>() as f64 / self.latencies_ns.len() as f64 / 1e3
    }

    /// Latency in microseconds that `of_ten_thousand` of ten thousand requests stay below.
    fn quantile_us(&self, of_ten_thousand: usize) -> f64 {
        let last = self.latencies_ns.len() - 1;
        self.latencies_ns[last * of_ten_thousand / 10_000] as f64 / 1e3
    }
}

/// Reads and writes of a closed loop on a drive that was filled once.
fn mixed(parameters: &FlashParameters, block_bytes: u64, depth: u64, read_percent: u64) -> [Direction; 2] {
    let mut drive = FlashDrive::new(parameters).unwrap();
    drive.fill_sequentially(1.0).unwrap();
    let pattern = Pattern::RandomGroups { group: 1 };
    let mut offsets = Offsets::new(pattern, block_bytes, parameters.capacity_bytes, 1);
    let requests = (1_024 * MIB / block_bytes).clamp(4_000, 30_000);
    let mut submitted = Vec::new();
    let mut latencies_ns = [Vec::new(), Vec::new()];
    let (mut now_ns, mut done, mut completions) = (0, 0, Vec::new());
    let mut draw = 1_u64;
    while done < requests {
        while (submitted.len() as u64) < (done + depth).min(requests) {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let is_read = (draw >> 33) % 100 < read_percent;
            let operation =
                if is_read { TimedOperation::Read } else { TimedOperation::Write { durable: false } };
            let id = submitted.len() as u64;
            submitted.push((now_ns, is_read));
            let offset_bytes = offsets.next().unwrap();
            drive.arrive(now_ns, TimedRequest { id, operation, offset_bytes, length_bytes: block_bytes });
        }
        now_ns = drive.next_event_ns().unwrap();
        drive.advance(now_ns, &mut completions);
        for completion in completions.drain(..) {
            let (submitted_ns, is_read) = submitted[usize::try_from(completion.id).unwrap()];
            latencies_ns[usize::from(!is_read)].push(completion.completed_ns - submitted_ns);
            done += 1;
        }
    }
    latencies_ns.map(|mut latencies_ns| {
        latencies_ns.sort_unstable();
        let bytes_per_s = (latencies_ns.len() as u64 * block_bytes) as f64 / (now_ns as f64 / 1e9);
        Direction { latencies_ns, bytes_per_s }
    })
}

#[test]
fn no_direction_exceeds_its_link_and_both_together_not_the_channels_or_the_processor() {
    for name in DRIVES {
        let parameters = library::flash(name).unwrap();
        let (link, chips) = (&parameters.link, &parameters.chips);
        let channels_bytes_per_s = u64::from(chips.channels) * chips.channel_bytes_per_s;
        for (block_bytes, depth) in [(4 << 10, 256), (128 << 10, 16), (128 << 10, 256), (MIB, 4), (MIB, 64)] {
            let [reads, writes] = mixed(&parameters, block_bytes, depth, 70).map(|way| way.bytes_per_s);
            let cell =
                format!("{name}, {block_bytes} bytes at depth {depth}: {reads} and {writes} bytes a second");
            assert!(reads <= link.bytes_per_s as f64, "{cell}");
            assert!(writes <= link.write_bytes_per_s.unwrap() as f64, "{cell}");
            assert!(reads + writes <= channels_bytes_per_s as f64, "{cell}");
            let commands_per_s = 1e9 / parameters.firmware.read_ns as f64;
            assert!((reads + writes) / block_bytes as f64 <= commands_per_s * 1.001, "{cell}");
        }
    }
}

#[test]
fn deep_queues_of_large_blocks_fill_the_link_towards_the_host_beside_writes() {
    for name in DRIVES {
        let parameters = library::flash(name).unwrap();
        let [reads, writes] = mixed(&parameters, 128 << 10, 64, 70);
        assert!(
            reads.bytes_per_s > 0.95 * parameters.link.bytes_per_s as f64,
            "{name}: {}",
            reads.bytes_per_s
        );
        assert!(
            (writes.bytes_per_s / reads.bytes_per_s * 7.0 / 3.0 - 1.0).abs() < 0.1,
            "{}",
            writes.bytes_per_s
        );
    }
}

#[test]
fn reads_suffer_beside_writes_the_more_the_more_is_written() {
    for name in DRIVES {
        let parameters = library::flash(name).unwrap();
        // Means, since quantiles move in steps: one for each page type, with or without an
        // interruption.
        let means_us = [100, 70, 30].map(|percent| mixed(&parameters, 16 << 10, 16, percent)[0].mean_us());
        assert!(means_us.is_sorted_by(|fewer, more| *more > fewer * 1.02), "{name}: {means_us:?}");
    }
}

#[test]
fn a_read_alone_on_its_die_waits_for_the_interruption_of_a_program_operation_and_no_longer() {
    for name in DRIVES {
        let mut parameters = library::flash(name).unwrap();
        // A retried page waits twice.
        parameters.chips.read_retry = None;
        let suspend_us = parameters.chips.suspend_ns.unwrap() as f64 / 1e3;
        let alone_us = mixed(&parameters, 4 << 10, 1, 100)[0].quantile_us(10_000);
        let beside_us = mixed(&parameters, 4 << 10, 1, 70)[0].quantile_us(10_000);
        assert!((beside_us - alone_us - suspend_us).abs() < 1.0, "{name}: {alone_us} {beside_us}");
    }
}

#[test]
fn without_interruption_the_tail_of_reads_is_a_program_operation() {
    for (name, program_us) in [("nvme-tlc", 200.0), ("nvme-plp", 900.0)] {
        let mut parameters = library::flash(name).unwrap();
        parameters.chips.suspend_ns = None;
        let reads = &mixed(&parameters, 4 << 10, 4, 70)[0];
        let alone_us = mixed(&parameters, 4 << 10, 4, 100)[0].quantile_us(5_000);
        let waited_us = reads.quantile_us(9_999) - alone_us;
        assert!((0.8..2.5).contains(&(waited_us / program_us)), "{name}: {waited_us}");
        assert!(reads.quantile_us(5_000) < alone_us * 1.1, "{name}: most meet none");
    }
}

#[test]
fn writes_are_acknowledged_from_the_buffer_as_long_as_it_has_room() {
    for name in DRIVES {
        let parameters = library::flash(name).unwrap();
        let [reads, writes] = mixed(&parameters, 4 << 10, 16, 70);
        assert!(writes.quantile_us(9_900) < reads.quantile_us(5_000) / 3.0, "{name}");
    }
}
