//! Request or bandwidth limits that are imposed in front of a device.

use nandle_profile::Interval;
use nandle_units::format_bytes;

use crate::figures::ReadShape;
use crate::figures::words::{bandwidth, number};

/// Least ratio of rates that count as equal. It is half the tolerance of "near full" (10 %),
/// because imposed limits are exact.
const SAME_SHARE: f64 = 0.95;
/// Least ratio of sizes with equal rates that shows a limit of requests.
const SAME_OVER_MIN: u64 = 8;
/// Least size up to which rates must be equal. Flash pages, which cost one read whatever part is
/// read, have at most 16 KiB.
const SAME_TO_BYTES_MIN: u64 = 32 << 10;
/// Largest size that reaches the full bandwidth only under a limit of bytes. Reads of 4 KiB reach
/// 57 % (Intel X25-E) to 72 % (Samsung 870 EVO) of a drive's bandwidth, by their data sheets.
const SMALL_BYTES_MAX: u64 = 4 << 10;
/// Least size of the large reads in the comparison.
const LARGE_BYTES_MIN: u64 = 1 << 20;

/// Name of a volume with a limit of requests, and the reason; `None` if there is no sign of a
/// limit.
pub(super) fn request_limit(seen: &ReadShape) -> Option<(String, String)> {
    let (first, last) = (seen.rates.first()?, constant_run(&seen.rates)?);
    let (from, to) = (first.0, last.0);
    if to < SAME_TO_BYTES_MIN || to / from < SAME_OVER_MIN {
        return None;
    }
    let per_s = number(first.1.value);
    let bytes = constant_bandwidth(seen).map(|rate| format!(" and {}", bandwidth(rate)));
    let reason = format!(
        "Reads of {} to {} all run at {per_s} a second, which no flash page explains ({} at \
        most): a limit on requests applies.",
        format_bytes(from),
        format_bytes(to),
        format_bytes(SAME_TO_BYTES_MIN / 2)
    );
    Some((format!("a volume with a limit of {per_s} requests a second{}", bytes.unwrap_or_default()), reason))
}

/// Largest size with the same rate as all smaller ones.
fn constant_run(rates: &[(u64, Interval<f64>)]) -> Option<&(u64, Interval<f64>)> {
    let best = rates.first()?.1.value;
    let is_same = |rate: &Interval<f64>| rate.value >= SAME_SHARE * best && rate.value <= best / SAME_SHARE;
    rates.iter().take_while(|(_, rate)| is_same(rate)).last()
}

/// Bandwidth of the largest reads, if it is the same for several sizes.
fn constant_bandwidth(seen: &ReadShape) -> Option<f64> {
    let rates: Vec<f64> = seen.rates.iter().map(|(bytes, per_s)| *bytes as f64 * per_s.value).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    let same = rates.iter().filter(|rate| **rate >= SAME_SHARE * best).count();
    (same >= 3).then_some(best)
}

/// Name of a volume with a limit of bytes, and the reason; `None` if there is no sign of a limit.
pub(super) fn bandwidth_limit(seen: &ReadShape) -> Option<(String, String)> {
    let best = seen.bytes_per_s?;
    let (small, rate) = seen.rates.iter().rfind(|(bytes, _)| *bytes <= SMALL_BYTES_MAX)?;
    let (large, _) = seen.rates.last().filter(|(bytes, _)| *bytes >= LARGE_BYTES_MIN)?;
    let of_small = *small as f64 * rate.low;
    (of_small >= SAME_SHARE * best.value).then(|| {
        let reason = format!(
            "Random reads of {} reach {}, like those of {}; small reads of a drive don't reach \
            its bandwidth: a limit on bytes applies.",
            format_bytes(*small),
            bandwidth(*small as f64 * rate.value),
            format_bytes(*large)
        );
        (format!("a volume with a limit of {}", bandwidth(best.value)), reason)
    })
}
