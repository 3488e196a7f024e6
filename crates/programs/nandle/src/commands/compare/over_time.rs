//! Compares a profile with an older one of the same device.

use comfy_table::{Table, presets};
use nandle_advise::compare::{Change, DeviceMatch, Outcome, Unit, changes, same_device};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{fitting, paragraph, to_the_right};
use serde_json::json;

use super::SCHEMA_VERSION;
use super::args::CompareArgs;
use super::cell::cell;
use super::named::Named;
use crate::error::CliError;

/// Default bound below which changes aren't mentioned.
const TOLERATED_PERCENT: f64 = 5.0;

pub(super) fn run(old: &Named, new: &Named, args: &CompareArgs, common: Common) -> Result<(), CliError> {
    warn(old, new);
    let tolerated = args.fail_on_regression.unwrap_or(TOLERATED_PERCENT);
    let changes = changes(&old.profile, &new.profile, tolerated);
    if common.json {
        output::json(&json!({
            "schema_version": SCHEMA_VERSION, "old": old.name, "new": new.name,
            "tolerated_percent": tolerated, "changes": changes,
        }))?;
    } else {
        output::result(&format!(
            "{}\n{}",
            fitting(&table(old, new, &changes)),
            otherwise_measured(&changes)
        ))?;
    }
    let regressed: Vec<&str> = changes
        .iter()
        .filter(|change| change.verdict == Outcome::Regressed)
        .map(|change| change.name.as_str())
        .collect();
    if args.fail_on_regression.is_none() || regressed.is_empty() {
        return Ok(());
    }
    Err(CliError::failed(format!(
        "{} is worse than {} by more than {tolerated} % in {}",
        new.name,
        old.name,
        regressed.join(", ")
    )))
}

/// Warns of differences that impair the comparison of two profiles.
fn warn(old: &Named, new: &Named) {
    let (before, now) = (&old.profile, &new.profile);
    match same_device(&before.identity, &now.identity) {
        DeviceMatch::Different(how) => {
            output::note(&format!("WARNING: these are profiles of two devices: {how}"));
        }
        DeviceMatch::Unknown => output::note("note: whether these are profiles of one device can't be told"),
        DeviceMatch::Same => {}
    }
    if before.made_at_unix_s > now.made_at_unix_s {
        output::note(&format!("WARNING: {} is older than {}; the older one comes first", new.name, old.name));
    }
    let way = |named: &Named| {
        let backend = &named.profile.backend;
        format!("{} ({})", backend.io, if backend.direct { "direct" } else { "buffered" })
    };
    if way(old) != way(new) {
        output::note(&format!("WARNING: requests went another way: {}, then {}", way(old), way(new)));
    }
}

fn table(old: &Named, new: &Named, changes: &[Change]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["", old.name.as_str(), new.name.as_str(), "gain", ""]);
    for change in changes {
        table.add_row([
            change.name.clone(),
            cell(change.unit, &change.old, None),
            change.new.map_or_else(|| "–".into(), |new| cell(change.unit, &new, None)),
            gain(change),
            verdict(change.verdict).into(),
        ]);
    }
    to_the_right(&mut table, 1..4);
    table
}

/// Note on figures that were measured with different requests.
fn otherwise_measured(changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let Some([old, new]) = &change.measured_on else { continue };
        paragraph(&mut text, "! ", &format!("{}: first measured on {old}, then on {new}.", change.name));
    }
    text
}

/// Improvement of the newer profile: in per cent up to a hundred, as a factor beyond.
fn gain(change: &Change) -> String {
    let (Some(percent), Some(new)) = (change.gain_percent, change.new) else { return String::new() };
    let [least, most] = [change.old.value.min(new.value), change.old.value.max(new.value)];
    if percent.abs() <= 100.0 || least <= 0.0 {
        return format!("{percent:+.1} %");
    }
    let word = match change.unit {
        _ if percent > 0.0 => "better",
        Unit::Nanoseconds => "slower",
        _ => "worse",
    };
    format!("{:.1} × {word}", most / least)
}

fn verdict(verdict: Outcome) -> &'static str {
    match verdict {
        Outcome::Regressed => "WORSE",
        Outcome::Improved => "better",
        Outcome::Unchanged => "",
        Outcome::Gone => "not measured",
    }
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    #[test]
    fn a_large_change_is_told_as_a_factor() {
        let told = |old, new, gain_percent| {
            gain(&Change {
                name: "latency".into(),
                unit: Unit::Nanoseconds,
                old: Interval::exact(old),
                new: Some(Interval::exact(new)),
                gain_percent: Some(gain_percent),
                verdict: Outcome::Unchanged,
                measured_on: None,
            })
        };
        assert_eq!(told(100.0, 633.8, -533.8), "6.3 × slower");
        assert_eq!(told(633.8, 100.0, 84.2), "+84.2 %");
        assert_eq!(told(0.0, 5.0, -200.0), "-200.0 %", "of nothing there is no multiple");
        assert_eq!(told(100.0, 110.0, -10.0), "-10.0 %");
        assert_eq!(told(100.0, 0.0, 100.0), "+100.0 %");
    }
}
