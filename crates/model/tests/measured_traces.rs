//! Replays the request traces of three real disks on their models and compares the distributions of response times.
//!
//! The demerit is that of Ruemmler and Wilkes, *An introduction to disk drive modeling* (IEEE Computer, March 1994):
//! the root mean square of the horizontal distance between the two cumulative distributions of response times. With
//! as many modelled requests as measured ones it is taken at every quantile `k / n`: both lists are sorted, and the
//! demerit is the root of the mean of the squared differences between their k-th elements.
//!
//! `cargo test -p nandle-model --test measured_traces -- --nocapture demerit` prints the table.

use nandle_model::disk::{DiskParameters, MagneticDisk};
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

/// A drive with its trace, and the most that its demerit may be: 1.25 times that of the best published simulator.
struct Case {
    name: &'static str,
    parameters: &'static str,
    trace: &'static [u8],
    demerit_ms_max: f64,
}

const CASES: [Case; 3] = [
    Case {
        name: "cheetah-9lp",
        parameters: include_str!("../drives/cheetah-9lp.toml"),
        trace: include_bytes!("traces/cheetah-9lp.trace.zst"),
        demerit_ms_max: 1.25 * 0.107,
    },
    Case {
        name: "barracuda",
        parameters: include_str!("../drives/barracuda.toml"),
        trace: include_bytes!("traces/barracuda.trace.zst"),
        demerit_ms_max: 1.25 * 0.349,
    },
    Case {
        name: "atlas-iii",
        parameters: include_str!("../drives/atlas-iii.toml"),
        trace: include_bytes!("traces/atlas-iii.trace.zst"),
        demerit_ms_max: 1.25 * 0.378,
    },
];

/// Means may differ by 5 %.
const MEAN_ERROR_MAX: f64 = 0.05;

#[derive(Clone, Copy)]
struct TracedRequest {
    is_read: bool,
    first_sector: u64,
    sectors: u64,
    measured_us: u64,
    think_us: u64,
}

fn parse(trace: &[u8]) -> Vec<TracedRequest> {
    let text = String::from_utf8(zstd::decode_all(trace).unwrap()).unwrap();
    text.lines()
        .map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| fields[index].parse().unwrap();
            TracedRequest {
                is_read: fields[0] == "R",
                first_sector: number(1),
                sectors: number(2),
                measured_us: number(3),
                think_us: number(4),
            }
        })
        .collect()
}

/// Response times in microseconds. One request is outstanding at a time: the next arrives the traced time after the
/// one before it has completed.
fn replay(parameters: &DiskParameters, trace: &[TracedRequest], start_ns: u64) -> Vec<f64> {
    let mut disk = MagneticDisk::new(parameters).unwrap();
    let mut now_ns = start_ns;
    let mut completed = Vec::new();
    trace
        .iter()
        .zip(0..)
        .map(|(traced, id)| {
            disk.advance(now_ns, &mut completed);
            disk.arrive(now_ns, timed(traced, id));
            while completed.is_empty() {
                disk.advance(disk.next_event_ns().unwrap(), &mut completed);
            }
            let done = completed.pop().unwrap();
            assert_eq!(done.id, id);
            let response_us = (done.completed_ns - now_ns) as f64 / 1_000.0;
            now_ns = done.completed_ns + traced.think_us * 1_000;
            response_us
        })
        .collect()
}

fn timed(traced: &TracedRequest, id: u64) -> TimedRequest {
    let operation = if traced.is_read { TimedOperation::Read } else { TimedOperation::Write { durable: false } };
    TimedRequest { id, operation, offset_bytes: traced.first_sector * 512, length_bytes: traced.sectors * 512 }
}

fn demerit(measured: &[f64], modelled: &[f64]) -> f64 {
    let sorted = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times
    };
    let squares: f64 = sorted(measured).iter().zip(sorted(modelled)).map(|(a, b)| (a - b).powi(2)).sum();
    (squares / measured.len() as f64).sqrt()
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn demerit_and_means_match_the_measured_disks() {
    println!("drive        phase  demerit ms (at most)   mean ms measured  modelled   error");
    for case in &CASES {
        let trace = parse(case.trace);
        let parameters = DiskParameters::from_toml(case.parameters).unwrap();
        let measured: Vec<f64> = trace.iter().map(|traced| traced.measured_us as f64).collect();
        // The platter's position when the trace began is not known, so the result must not depend on it.
        for phase in 0..4 {
            let modelled = replay(&parameters, &trace, phase * 1_500_000);
            let demerit_ms = demerit(&measured, &modelled) / 1_000.0;
            let error = mean(&modelled) / mean(&measured) - 1.0;
            println!(
                "{:12} {phase:5}  {demerit_ms:10.3} ({:.3})   {:16.3}  {:8.3}  {:+6.2}%",
                case.name,
                case.demerit_ms_max,
                mean(&measured) / 1_000.0,
                mean(&modelled) / 1_000.0,
                error * 100.0
            );
            assert!(demerit_ms <= case.demerit_ms_max, "{}: demerit {demerit_ms} ms", case.name);
            assert!(error.abs() <= MEAN_ERROR_MAX, "{}: mean off by {error}", case.name);
        }
    }
}
