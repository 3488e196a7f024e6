use nandle_profile::{Interval, ROTATIONAL_LATENCY_NS_MIN};
use nandle_units::format_bytes;
use serde::Serialize;

use super::finding::{capitalised, times};
use super::limits::{bandwidth_limit, request_limit};
use super::write_cache::{WriteCacheEvidence, write_cache_evidence};
use crate::figures::words::{bandwidth, bounded, number, time};
use crate::figures::{Array, Figures, ReadShape};

/// Kind of a device as measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kind {
    /// Device class.
    pub class: DeviceClass,
    /// Class in words, as a noun with its article: `a spinning disk`.
    pub name: String,
    /// Reasons from the measurements, one sentence each.
    pub reasons: Vec<String>,
}

/// Device class that read figures can identify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceClass {
    /// A single disk with an arm.
    SpinningDisk,
    /// Several disks, or a remote volume with read-ahead.
    SpinningDisks,
    /// Volume with a limit on requests per second, whatever their size.
    RequestLimit,
    /// Volume with a limit on bytes per second, whatever the request size.
    BandwidthLimit,
    /// Reads served from memory.
    Memory,
    /// Flash that serves one request at a time.
    SerialFlash,
    /// Flash within the bandwidth of SATA and its queue of 32.
    SataFlash,
    /// Flash beyond the limits of SATA.
    NvmeFlash,
    /// The figures don't determine the class.
    Undecided,
}

/// Latency below which reads come from this machine's memory. The fastest drives ever (3D `XPoint`)
/// take 10 us according to their data sheets.
const MEMORY_LATENCY_NS: f64 = 5e3;
/// Least read time of flash with three bits per cell. Vendors state 45 us and more for the cell
/// array alone (announcement of Samsung's sixth generation of V-NAND, 2019).
const TLC_READ_NS_MIN: f64 = 45e3;
/// Least speed-up of small sequential reads over random ones that need a seek. The disk or its
/// controller has the rest of the track in memory. Read-ahead on flash saves at most the latency,
/// which is below 2 ms.
const ARM_GAIN_MIN: f64 = 8.0;
/// Greatest gain of a single arm from a sorted queue. Disks of 7200 and 15 000 revolutions a minute
/// gain 2.5 to 3 times with 32 outstanding requests.
const ONE_ARM_GAIN_MAX: f64 = 6.0;
/// Greatest gain from a queue on a device that serves one request at a time. A second die would
/// double the rate.
const SERIAL_GAIN_MAX: f64 = 1.5;
/// Bandwidth of SATA's fastest link: 6 Gb/s, 10 bits per byte (Serial ATA 3.0).
const SATA_BYTES_PER_S: f64 = 600e6;
/// Queue depth of SATA (Serial ATA 2.5, native command queuing).
const SATA_DEPTH: u32 = 32;
/// Greatest read rate of a SATA drive; the fastest state 98 000 a second (data sheet of Samsung's
/// 870 EVO).
const SATA_READS_PER_S: f64 = 100e3;

/// Classifies the device from its figures.
pub(super) fn kind(figures: &Figures<'_>) -> Kind {
    if !figures.profile.backend.direct {
        return undecided(vec!["All measurements used the page cache, so the figures include it.".into()]);
    }
    let Some(seen) = ReadShape::of(figures) else {
        return undecided(vec!["Random reads, which distinguish device types, weren't measured.".into()]);
    };
    let kind = classify_reads(&seen);
    let kind = match figures.array().filter(Array::is_sure) {
        Some(array) => kind.because(format!(
            "{}: drives of an array, or channels of a single drive.",
            capitalised(&array.one_member.says)
        )),
        None => kind,
    };
    match write_cache_evidence(figures) {
        Some(WriteCacheEvidence { by_cache: true, says }) => {
            let name = if kind.class == DeviceClass::Undecided {
                kind.name.clone()
            } else {
                format!("{} with a write cache", kind.name)
            };
            Kind { name, ..kind.because(says) }
        }
        Some(WriteCacheEvidence { by_cache: false, says }) => kind.because(says),
        None => kind,
    }
}

impl Kind {
    fn new(class: DeviceClass, name: impl Into<String>, reasons: Vec<String>) -> Self {
        Self { class, name: name.into(), reasons }
    }

    fn because(mut self, reason: String) -> Self {
        self.reasons.push(reason);
        self
    }
}

fn undecided(reasons: Vec<String>) -> Kind {
    Kind::new(DeviceClass::Undecided, "an undetermined device", reasons)
}

fn classify_reads(seen: &ReadShape) -> Kind {
    let waits = format!("A random read takes {} (median, depth 1)", time(seen.latency_ns));
    if seen.latency_ns < MEMORY_LATENCY_NS {
        let reason = format!("{waits}: faster than any device on a bus ({}).", time(MEMORY_LATENCY_NS));
        return Kind::new(DeviceClass::Memory, "memory, or a cache that serves reads", vec![reason]);
    }
    let is_slow = seen.latency_ns >= ROTATIONAL_LATENCY_NS_MIN as f64;
    if let Some(disk) = is_slow.then(|| classify_slow_reads(seen, &waits)).flatten() {
        return disk;
    }
    if let Some((name, reason)) = request_limit(seen) {
        return Kind::new(DeviceClass::RequestLimit, name, vec![reason]);
    }
    if let Some((name, reason)) = bandwidth_limit(seen) {
        return Kind::new(DeviceClass::BandwidthLimit, name, vec![reason]);
    }
    if is_slow {
        return undecided(vec![format!(
            "{waits}, as long as on a disk or a remote volume; the gains of sequential reads and \
            a deeper queue don't tell which."
        )]);
    }
    classify_fast_reads(seen, &waits)
}

/// A disk or several disks, if their seeks explain the latency.
fn classify_slow_reads(seen: &ReadShape, waits: &str) -> Option<Kind> {
    let (block, gain) = seen.sequential_gain.filter(|(_, gain)| *gain >= ARM_GAIN_MIN)?;
    let arm = format!(
        "{waits}, and no disk seeks and rotates in less than {}; sequential reads of {}, which \
        need neither, are {} as fast.",
        time(ROTATIONAL_LATENCY_NS_MIN as f64),
        format_bytes(block),
        times(gain)
    );
    let depth_gain = seen.depth_gain?;
    let queue = format!("A deeper queue gives {} as many small reads", gained(&depth_gain));
    Some(if depth_gain.value <= ONE_ARM_GAIN_MAX {
        let one =
            format!("{queue}: the gain of a single arm from sorting (at most {}).", times(ONE_ARM_GAIN_MAX));
        Kind::new(DeviceClass::SpinningDisk, "a spinning disk", vec![arm, one])
    } else {
        let many =
            format!("{queue}, more than a single arm gains from sorting ({}).", times(ONE_ARM_GAIN_MAX));
        let name = "several spinning disks, or a remote volume with read-ahead";
        Kind::new(DeviceClass::SpinningDisks, name, vec![arm, many])
    })
}

/// Class of a flash device by bandwidth, queue depth and rate.
fn classify_fast_reads(seen: &ReadShape, waits: &str) -> Kind {
    let quick =
        format!("{waits}: not a rotating disk (at least {}).", time(ROTATIONAL_LATENCY_NS_MIN as f64));
    let (Some(best), Some(gain)) = (seen.bytes_per_s, seen.depth_gain) else {
        return undecided(vec![
            quick,
            "Neither its bandwidth nor the gain of a deeper queue is \
            known."
                .into(),
        ]);
    };
    let link = bandwidth(SATA_BYTES_PER_S);
    if best.low > SATA_BYTES_PER_S {
        let fast = format!("It reads {}, more than SATA's link allows ({link}).", bounded(&best, bandwidth));
        return beyond_sata(seen, vec![quick, fast]);
    }
    if best.high > SATA_BYTES_PER_S {
        let open = format!(
            "It reads {}, which may or may not exceed SATA's link ({link}).",
            bounded(&best, bandwidth)
        );
        return undecided(vec![quick, open]);
    }
    within_sata(
        seen,
        &gain,
        quick,
        &format!("It reads {}, no more than SATA's link allows ({link})", bounded(&best, bandwidth)),
    )
}

fn within_sata(seen: &ReadShape, gain: &Interval<f64>, quick: String, within: &str) -> Kind {
    let small = format_bytes(seen.block_bytes);
    if gain.high <= SERIAL_GAIN_MAX {
        let serial = format!(
            "A deeper queue gives {} as many reads of {small}: the device serves one request at a \
            time.",
            gained(gain)
        );
        let name = "flash that serves one request at a time, like memory cards and early drives";
        return Kind::new(DeviceClass::SerialFlash, name, vec![quick, serial]);
    }
    match seen.knee_depth {
        Some(knee) if knee.high <= SATA_DEPTH && gain.low > SERIAL_GAIN_MAX => {
            let queue = format!(
                "{within}, and {} outstanding requests reach nearly the peak rate at {small}, {} \
                as many as one: SATA's queue of {SATA_DEPTH} is enough.",
                knee.value,
                gained(gain)
            );
            Kind::new(DeviceClass::SataFlash, "a SATA-class flash drive", vec![quick, queue])
        }
        Some(knee) if knee.high <= SATA_DEPTH => {
            let open = format!(
                "{within}; a deeper queue gives {} as many reads of {small}, so it may or may not \
                serve several at once.",
                gained(gain)
            );
            undecided(vec![quick, open])
        }
        Some(_) | None => {
            let deep = format!(
                "{within}, but reads of {small} may gain from more than SATA's {SATA_DEPTH} \
                outstanding requests: several drives, or a volume with a limit."
            );
            undecided(vec![quick, deep])
        }
    }
}

fn beyond_sata(seen: &ReadShape, mut reasons: Vec<String>) -> Kind {
    let rate = seen.reads_per_s;
    let is_often = rate.is_some_and(|rate| rate.low > SATA_READS_PER_S);
    if !is_often && !seen.host_is_limit {
        let rate = rate.map_or_else(|| "too few".into(), |rate| bounded(&rate, number));
        reasons.push(format!(
            "It does {rate} reads a second, which a SATA drive may reach, too (up to {}): several \
            such drives, a volume with a limit and a slow NVMe drive look the same.",
            number(SATA_READS_PER_S)
        ));
        return undecided(reasons);
    }
    let often = rate.map_or_else(String::new, |rate| format!("{} reads a second", bounded(&rate, number)));
    reasons.push(if is_often {
        format!("It does {often}, more than a SATA drive ({}).", number(SATA_READS_PER_S))
    } else {
        format!("It does {often}, limited by the submitting thread.")
    });
    if seen.latency_ns < TLC_READ_NS_MIN {
        reasons.push(format!(
            "Reads are faster than flash with three bits per cell ({}): single-level cells, or a \
            cache in front.",
            time(TLC_READ_NS_MIN)
        ));
        let name = "an NVMe-class drive with faster cells than TLC or a read cache";
        return Kind::new(DeviceClass::NvmeFlash, name, reasons);
    }
    Kind::new(DeviceClass::NvmeFlash, "an NVMe-class flash drive", reasons)
}

fn gained(gain: &Interval<f64>) -> String {
    format!("{} times", bounded(gain, number))
}
