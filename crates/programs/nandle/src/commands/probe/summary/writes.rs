//! Results of the write experiments.

use std::fmt::Write as _;

use nandle_advise::verdict::{Load, Verdict};
use nandle_io::Nanos;
use nandle_profile::experiments::{FillLevel, FillLevels, WriteCacheFindings};
use nandle_profile::{
    Cheap, DeviceProfile, Interval, LongWriting, ROTATIONAL_LATENCY_NS_MIN, Steadiness, SteadyStateFigures,
    WritePatternCost,
};
use nandle_terminal::words::{bandwidth, paragraph};
use nandle_units::{format_bytes, format_duration};

use super::{label, megabytes, waits, with_bounds};

/// A line per experiment, and a table of commit times; empty if none was run.
pub(super) fn sentences(profile: &DeviceProfile, verdict: &Verdict) -> String {
    let (derived, experiments) = (&profile.derived, &profile.experiments);
    let cache = experiments.write_cache.as_ref().map(|conducted| &conducted.findings);
    let fill = experiments.fill_level.as_ref().map(|conducted| &conducted.findings);
    let large = derived.sequential_write_bandwidth_bytes_per_s_max;
    let cached = |load: Load| {
        let is_it = verdict.figures.iter().any(|row| row.load == load && row.by_cache);
        if is_it { " (absorbed by a write cache)" } else { "" }
    };
    let lines = [
        (
            "Sequential writes, max:",
            large.as_ref().map(|large| megabytes(large) + cached(Load::SequentialWrite)),
        ),
        ("Random writes cost:", derived.write_pattern_cost.as_ref().map(random)),
        ("Cheap writes:", cheap(profile)),
        ("Sustained random writes:", derived.steady_state.as_ref().map(|figures| steady(profile, figures))),
        ("Write cache:", cache.and_then(cache_sentence)),
        ("Filled and fragmented:", fill.and_then(filled)),
        ("Commit:", waits::commit(profile)),
        ("Group commit:", derived.group_commit.as_ref().map(waits::group)),
        ("Reads beside writes:", waits::reads_beside_writes(profile)),
    ];
    let mut text = String::new();
    for (what, sentence) in lines {
        if let Some(sentence) = sentence {
            paragraph(&mut text, &label(what), &sentence);
        }
    }
    if let Some(table) = waits::ways(profile) {
        text = format!("{text}\n{table}");
    }
    if text.is_empty() { text } else { text + "\n" }
}

fn times(cost: &Interval<f64>) -> String {
    with_bounds(cost, |cost| format!("{cost:.1}"))
}

fn random(cost: &WritePatternCost) -> String {
    format!("{} times a sequential one of {}", times(&cost.random), format_bytes(cost.block_bytes))
}

/// Patterns with cheap writes and their costs, and those left unclear.
fn cheap(profile: &DeviceProfile) -> Option<String> {
    let derived = &profile.derived;
    let focused = one_way(derived.cheap_area_bytes()?, "at random within a small area", |area| {
        format!("at random within {}", with_bounds(area, |bytes| format_bytes(*bytes)))
    });
    let partitioned = one_way(derived.cheap_streams()?, "in several streams", |count| {
        format!("in up to {} streams", with_bounds(count, u32::to_string))
    });
    let strides = profile.cheap_strides();
    let at = |strides: &[i64]| (!strides.is_empty()).then(|| in_steps(strides));
    let unclear = at(&strides.unclear).map(|which| which + ": not clear");
    let all: Vec<String> =
        [focused, partitioned, at(&strides.clear), unclear].into_iter().flatten().collect();
    Some(if all.is_empty() { "none but sequential ones".into() } else { all.join("; ") })
}

/// Formats `backwards, in one place, in steps of 2, 4 blocks`.
fn in_steps(strides: &[i64]) -> String {
    let special = [(-1, "backwards"), (0, "over and over in one place")];
    let named =
        special.iter().filter(|(stride, _)| strides.contains(stride)).map(|(_, name)| (*name).to_owned());
    let others = strides.iter().filter(|stride| special.iter().all(|(own, _)| own != *stride));
    let others: Vec<String> = others.map(i64::to_string).collect();
    let others = (!others.is_empty()).then(|| format!("in steps of {} blocks", others.join(", ")));
    named.chain(others).collect::<Vec<_>>().join(", ")
}

fn one_way<T>(found: Cheap<T>, of_any: &str, which: impl Fn(&Interval<T>) -> String) -> Option<String> {
    match found {
        Cheap::UpTo { extent, cost } => {
            let cost = cost.map_or_else(String::new, |cost| format!(", {} times", times(&cost)));
            Some(which(&extent) + &cost)
        }
        Cheap::Unclear => Some(format!("{of_any}: not clear")),
        Cheap::Nowhere => None,
    }
}

fn steady(profile: &DeviceProfile, figures: &SteadyStateFigures) -> String {
    let mut text = format!(
        "{} in blocks of {}",
        megabytes(&figures.random_write_bytes_per_s),
        format_bytes(figures.block_bytes)
    );
    if let Some(share) = figures.of_fresh {
        let _ = write!(text, ", {:.0} % of the first second's", share * 100.0);
    }
    if let Some(amplification) = &figures.write_amplification {
        let _ = write!(text, "; {:.1} bytes written to flash for one", amplification.factor);
    }
    match profile.long_writing() {
        Some(writing) => format!("{text}; {}", how_long(&writing, turns(profile))),
        None if figures.reached => text,
        None => text + "; the steady state was not reached",
    }
}

/// Returns true if reads wait for rotating media.
fn turns(profile: &DeviceProfile) -> bool {
    profile.derived.random_read_latency_ns.is_some_and(|ns| ns >= ROTATIONAL_LATENCY_NS_MIN)
}

/// Amount and duration of the writing, and whether it reached steady state.
fn how_long(writing: &LongWriting, turns: bool) -> String {
    let share = writing.of_capacity().map_or_else(String::new, |share| {
        let percent = 100.0 * share;
        let percent = match percent {
            ..0.1 => "less than 0.1".to_owned(),
            0.1..10.0 => format!("{percent:.1}"),
            _ => format!("{percent:.0}"),
        };
        format!(", {percent} % of the device")
    });
    let amount = format!(
        "{} in {}{share}",
        format_bytes(writing.written_bytes),
        format_duration(Nanos(writing.elapsed_ns))
    );
    match writing.steadiness {
        // Rotating media have no spare blocks to use up.
        Steadiness::TooShort if turns => format!("after {amount}"),
        Steadiness::Steady => format!("steady after {amount}"),
        Steadiness::Unsteady => format!("not steady after {amount}"),
        Steadiness::TooShort => {
            let needed = format_bytes(writing.needed_bytes);
            format!("that is after {amount}, which can't show a steady state (about {needed} can)")
        }
    }
}

fn cache_sentence(cache: &WriteCacheFindings) -> Option<String> {
    let sustained = cache.sustained_bytes_per_s?;
    let Some((absorbed, speed)) = cache.absorbed_bytes.as_ref().zip(cache.absorbing_bytes_per_s) else {
        return Some("none that fills up showed".into());
    };
    let drained = cache.drain_ns.map_or(String::new(), |idle| {
        format!("; after {} of rest it absorbs again", format_duration(Nanos(idle.value)))
    });
    Some(format!(
        "absorbs {} at {} MB/s, then goes on at {}{drained}",
        with_bounds(absorbed, |bytes| format_bytes(*bytes)),
        bandwidth(speed.value),
        megabytes(&sustained)
    ))
}

/// Typical fill level of a database's drive.
fn filled(fill: &FillLevels) -> Option<String> {
    let distance = |level: &&FillLevel| (level.fill_share - 0.7).abs();
    let level = fill.levels.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let changes = level
        .changes
        .iter()
        .map(|change| format!("{} {}s {:+.0} %", change.pattern, change.operation, change.change() * 100.0));
    let changes: Vec<String> = changes.collect();
    Some(format!("{:.0} % full: {}", level.fill_share * 100.0, changes.join(", ")))
}
