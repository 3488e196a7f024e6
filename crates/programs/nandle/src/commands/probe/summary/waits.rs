//! Latency of commits, and of reads under writes.

use nandle_advise::verdict::TimeUnit;
use nandle_io::Nanos;
use nandle_profile::experiments::{CommitCost, ExtentState, InterferenceCell, InterferenceMap};
use nandle_profile::{DeviceProfile, GroupCommitGain, InterferenceLimit, LatencySummary};
use nandle_terminal::words::{fitting, in_unit, latency, paragraph, table, thousands, to_the_right};
use nandle_units::format_bytes;

use super::{lines_trimmed, with_bounds};

type Quantile = fn(&LatencySummary) -> Option<u64>;

const QUANTILES: [(&str, Quantile); 3] =
    [("p99", |latency| latency.p99), ("p90", |latency| latency.p90), ("p50", |latency| latency.p50)];
/// Read rate, as a share of the maximum, of the map's row that is shown.
const READ_SHARE: f64 = 0.5;

/// Cost of a database's commit.
pub(super) fn commit(profile: &DeviceProfile) -> Option<String> {
    profile.experiments.timed_commits().then_some(())?;
    let Some(commit) = profile.commit() else {
        return Some("too few commits were timed to tell".into());
    };
    let place = if commit.in_file { " on a file that is written over" } else { "" };
    let tail = commit
        .p99_ns
        .map_or_else(|| "too few for a p99".to_owned(), |p99| format!("p99 {}", latency(Some(Nanos(p99)))));
    let median = with_bounds(&commit.median_ns, |ns| time(*ns));
    Some(format!(
        "{median} in the median, {tail} ({} by {}{place})",
        format_bytes(commit.write_bytes),
        commit.method
    ))
}

/// Rows for each method of making a write of that size durable; `None` if none was timed.
pub(super) fn ways(profile: &DeviceProfile) -> Option<String> {
    let findings = &profile.experiments.flush.as_ref()?.findings;
    let told = profile.commit()?;
    let is_told = |commit: &&CommitCost| {
        let is_plain = commit.extent == ExtentState::Overwritten && commit.writes_per_commit == 1;
        is_plain && commit.write_bytes == told.write_bytes
    };
    let mut ways: Vec<&CommitCost> = findings.commits.iter().filter(is_told).collect();
    ways.sort_by_key(|way| !told.is_of(way));
    let tails = ways.iter().filter_map(|way| way.latency_ns.p99);
    let unit = TimeUnit::for_longest(tails.max().unwrap_or(0));
    let what = format!("durable writes of {}, {}", format_bytes(told.write_bytes), unit.name());
    let mut table = table([what.as_str(), "p50", "mean", "p99", "commits"]);
    for way in ways {
        table.add_row(row_of(way, unit));
    }
    to_the_right(&mut table, 1..);
    let mut text = String::new();
    let about = "Every way to make such a write durable. The first is the commit of all figures above: what databases call by default.";
    paragraph(&mut text, "", about);
    Some(text + &lines_trimmed(&fitting(&table)) + "\n")
}

/// A quantile of too few commits is shown as a dash.
fn row_of(commit: &CommitCost, unit: TimeUnit) -> [String; 5] {
    let place = if commit.in_file { " in a file" } else { "" };
    let told = |nanos: Option<f64>| nanos.map_or_else(|| "–".into(), |nanos| in_unit(nanos, unit));
    [
        format!("{}{place}", commit.method),
        with_bounds(&commit.commit_ns, |ns| in_unit(*ns, unit)),
        told(commit.latency_ns.mean),
        told(commit.latency_ns.p99.map(|nanos| nanos as f64)),
        thousands(commit.observations as f64),
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
fn time(nanos: f64) -> String {
    latency(Some(Nanos(nanos.round() as u64)))
}

/// Gain of sharing a flush.
pub(super) fn group(gain: &GroupCommitGain) -> String {
    format!(
        "{} commits/s by {} writers that share flushes, {} by one",
        with_bounds(&gain.together_per_s, |rate| thousands(*rate)),
        with_bounds(&gain.writers, u32::to_string),
        with_bounds(&gain.alone_per_s, |rate| thousands(*rate))
    )
}

/// Read latency at a quantile: alone, with the lowest write rate, and with the highest that the
/// device sustained.
pub(super) fn reads_beside_writes(profile: &DeviceProfile) -> Option<String> {
    let map = &profile.experiments.interference.as_ref()?.findings;
    Some(row(map).map_or_else(
        || "too few reads and writes came about to tell".into(),
        |row| row + &conclusion(profile, map),
    ))
}

fn row(map: &InterferenceMap) -> Option<String> {
    let of_reads = |cell: &&InterferenceCell| (cell.read_share - READ_SHARE).abs() < 1e-9;
    let mut row: Vec<&InterferenceCell> = map.cells.iter().filter(of_reads).collect();
    row.sort_by(|a, b| a.write_share.total_cmp(&b.write_share));
    let (alone, beside) = row.split_first().filter(|(alone, _)| alone.write_share <= 0.0)?;
    let fewest = beside.first()?;
    let most = beside.iter().skip(1).rfind(|cell| cell.rates_kept);
    let told = || [alone, fewest].into_iter().chain(most);
    let has_all =
        |(_, quantile): &&(&str, Quantile)| told().all(|cell| quantile(&cell.read_latency_ns).is_some());
    let (name, quantile) = *QUANTILES.iter().find(has_all)?;
    let figure = |cell: &InterferenceCell| latency(quantile(&cell.read_latency_ns).map(Nanos));
    let beside = told().skip(1).map(|cell| {
        let behind = if cell.rates_kept { "" } else { " (too many for it)" };
        format!(", {} beside {} writes/s{behind}", figure(cell), rate(cell.write_rate_per_s))
    });
    let beside: String = beside.collect();
    Some(format!("{name} of {} reads/s: {} alone{beside}", rate(alone.read_rate_per_s), figure(alone)))
}

/// Tolerable write rate, if known.
fn conclusion(profile: &DeviceProfile, map: &InterferenceMap) -> String {
    match profile.derived.interference {
        Some(InterferenceLimit { quantile, write_rate_per_s: writes, .. }) => {
            let within = format!("p{:.0} within twice that alone", quantile * 100.0);
            if writes.high <= 0.0 {
                format!("; no writes that were tried leave {within}")
            } else if writes.value <= 0.0 {
                format!(
                    "; with so few rounds it could be that up to {} writes/s leave {within}",
                    rate(writes.high)
                )
            } else {
                format!("; up to {} writes/s leave {within}", with_bounds(&writes, |writes| rate(*writes)))
            }
        }
        None if fell_behind_alone(map) => {
            "; the device fell behind these reads even without writes, so what writes do is not told".into()
        }
        None if !map.has_spread() => "; measured in one round, so how far that spreads is unknown".into(),
        None => String::new(),
    }
}

fn fell_behind_alone(map: &InterferenceMap) -> bool {
    let is_alone =
        |cell: &&InterferenceCell| cell.write_share <= 0.0 && (cell.read_share - READ_SHARE).abs() < 1e-9;
    map.cells.iter().find(is_alone).is_some_and(|cell| !cell.rates_kept)
}

/// Rate with a decimal if small, so that a memory card's isn't zero.
fn rate(per_s: f64) -> String {
    if per_s > 0.0 && per_s < 10.0 { format!("{per_s:.1}") } else { thousands(per_s) }
}
