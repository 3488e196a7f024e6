//! The request traces of three real disks, and what their models make of them.
//!
//! The demerit is that of Ruemmler and Wilkes, *An introduction to disk drive modeling* (IEEE Computer, March 1994):
//! the root mean square of the horizontal distance between the two cumulative distributions of response times. With
//! as many modelled requests as measured ones it is taken at every quantile `k / n`: both lists are sorted, and the
//! demerit is the root of the mean of the squared differences between their k-th elements.

use nandle_model::disk::{DiskParameters, MagneticDisk};
use nandle_model::timing::{TimedOperation, TimedRequest, Timing};

/// A drive with its trace, and the demerit of the best published simulator on it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static str,
    pub(crate) trace: &'static [u8],
    pub(crate) published_demerit_ms: f64,
}

pub(crate) const CASES: [Case; 3] = [
    Case {
        name: "cheetah-9lp",
        parameters: include_str!("../../drives/cheetah-9lp.toml"),
        trace: include_bytes!("../traces/cheetah-9lp.trace.zst"),
        published_demerit_ms: 0.107,
    },
    Case {
        name: "barracuda",
        parameters: include_str!("../../drives/barracuda.toml"),
        trace: include_bytes!("../traces/barracuda.trace.zst"),
        published_demerit_ms: 0.349,
    },
    Case {
        name: "atlas-iii",
        parameters: include_str!("../../drives/atlas-iii.toml"),
        trace: include_bytes!("../traces/atlas-iii.trace.zst"),
        published_demerit_ms: 0.378,
    },
];

#[derive(Clone, Copy)]
pub(crate) struct TracedRequest {
    pub(crate) is_read: bool,
    pub(crate) first_sector: u64,
    pub(crate) sectors: u64,
    pub(crate) measured_us: u64,
    pub(crate) think_us: u64,
}

pub(crate) fn parse(trace: &[u8]) -> Vec<TracedRequest> {
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

/// Response times in milliseconds. One request is outstanding at a time: each arrives the traced time after the one
/// before it has completed.
pub(crate) fn replay(parameters: &DiskParameters, trace: &[TracedRequest]) -> Vec<f64> {
    let mut disk = MagneticDisk::new(parameters).unwrap();
    let mut now_ns = 0;
    let mut completed = Vec::new();
    trace
        .iter()
        .zip(0..)
        .map(|(traced, id)| {
            now_ns += traced.think_us * 1_000;
            disk.advance(now_ns, &mut completed);
            disk.arrive(now_ns, timed(traced, id));
            while completed.is_empty() {
                disk.advance(disk.next_event_ns().unwrap(), &mut completed);
            }
            let done = completed.pop().unwrap();
            assert_eq!(done.id, id);
            let response_ms = (done.completed_ns - now_ns) as f64 / 1e6;
            now_ns = done.completed_ns;
            response_ms
        })
        .collect()
}

fn timed(traced: &TracedRequest, id: u64) -> TimedRequest {
    let operation =
        if traced.is_read { TimedOperation::Read } else { TimedOperation::Write { durable: false } };
    TimedRequest {
        id,
        operation,
        offset_bytes: traced.first_sector * 512,
        length_bytes: traced.sectors * 512,
    }
}

pub(crate) fn demerit(measured: &[f64], modelled: &[f64]) -> f64 {
    let sorted = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times
    };
    let squares: f64 = sorted(measured).iter().zip(sorted(modelled)).map(|(a, b)| (a - b).powi(2)).sum();
    (squares / measured.len() as f64).sqrt()
}

pub(crate) fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}
