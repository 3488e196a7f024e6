//! Valid ranges of a profile's figures. A probe writes only valid ones, but a file edited by hand
//! may not. Results computed from invalid figures (a rate of -5, a cost of nothing) would look like
//! findings.

use serde_json::{Map, Value};

/// Figures that may be negative: directions and slopes.
const SIGNED: [&str; 3] = ["cheap_strides_blocks", "window_slope", "correlation"];
/// Figures of `derived` that may be zero.
const MAY_BE_ZERO: [&str; 6] =
    ["write_rate_per_s", "write_share", "write_amplification", "stated_bytes", "whole_bytes", "low"];
/// Parameters of listed measurements, which must be positive. (Other figures of incomplete findings
/// may be zero.)
const MADE_WITH: [&str; 7] =
    ["block_bytes", "write_bytes", "queue_depth", "group_blocks", "writers", "threads", "streams"];
/// Bounds of an interval that must be positive.
const VALUE_AND_HIGH: [&str; 2] = ["value", "high"];

/// Invalid figure or name in a profile.
#[derive(Debug, PartialEq)]
pub(crate) struct InvalidFigure {
    /// Path to the value: keys, and list indices from 0.
    pub(crate) field: String,
    pub(crate) got: String,
    pub(crate) allowed: &'static str,
}

/// Returns an error for the first invalid figure of a profile.
pub(crate) fn check(profile: &Value) -> Result<(), InvalidFigure> {
    walk(profile, &mut Vec::new())
}

fn walk<'a>(value: &'a Value, keys: &mut Vec<Key<'a>>) -> Result<(), InvalidFigure> {
    let each = |key: Key<'a>, value: &'a Value, keys: &mut Vec<Key<'a>>| {
        keys.push(key);
        let checked = walk(value, keys);
        keys.pop();
        checked
    };
    match value {
        Value::Object(parts) => parts.iter().try_for_each(|(key, value)| {
            let is_interval = is_interval(parts);
            each(Key::Named { key, in_interval: is_interval }, value, keys)
        }),
        Value::Array(parts) => {
            parts.iter().enumerate().try_for_each(|(index, value)| each(Key::Index(index), value, keys))
        }
        Value::Number(number) => {
            figure(number.as_f64().unwrap_or(f64::NAN), keys).map_err(|allowed| InvalidFigure {
                field: keys.iter().map(Key::to_string).collect::<String>().trim_start_matches('.').to_owned(),
                got: number.to_string(),
                allowed,
            })
        }
        _ => Ok(()),
    }
}

/// One step of the path to a figure.
#[derive(Clone, Copy)]
enum Key<'a> {
    Named { key: &'a str, in_interval: bool },
    Index(usize),
}

impl std::fmt::Display for Key<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named { key, .. } => write!(formatter, ".{key}"),
            Self::Index(index) => write!(formatter, "[{index}]"),
        }
    }
}

fn is_interval(parts: &Map<String, Value>) -> bool {
    ["value", "low", "high"].iter().all(|key| parts.contains_key(*key))
}

/// Checks a figure. An error describes the valid range.
fn figure(figure: f64, keys: &[Key<'_>]) -> Result<(), &'static str> {
    let names =
        |of: &[&str]| keys.iter().any(|key| matches!(key, Key::Named { key, .. } if of.contains(key)));
    if !figure.is_finite() {
        return Err("finite figures");
    }
    if figure < 0.0 && !names(&SIGNED) {
        return Err("figures from 0 on");
    }
    if figure == 0.0 && is_positive(keys) && !names(&SIGNED) {
        return Err("figures above 0");
    }
    Ok(())
}

/// Returns true if the figure must be positive.
fn is_positive(keys: &[Key<'_>]) -> bool {
    let Some((first, last)) = keys.first().zip(keys.last()) else { return false };
    if let Key::Named { key: "derived" | "first_touch", .. } = first {
        return !keys.iter().any(|key| matches!(key, Key::Named { key, .. } if MAY_BE_ZERO.contains(key)));
    }
    let in_list = keys.iter().any(|key| matches!(key, Key::Index(_)));
    let is_needed = match last {
        Key::Named { key, in_interval: true } => VALUE_AND_HIGH.contains(key),
        Key::Named { key, in_interval: false } => MADE_WITH.contains(key),
        Key::Index(_) => false,
    };
    in_list && is_needed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_figures_are_named() {
        let interval = |value: f64| json!({ "value": value, "low": 0.0, "high": 9.0 });
        let cases = [
            (
                json!({ "derived": { "random_read_iops_max": interval(-5.0) } }),
                "derived.random_read_iops_max.value",
                "0 on",
            ),
            (
                json!({ "derived": { "random_read_iops_max": interval(0.0) } }),
                "derived.random_read_iops_max.value",
                "above 0",
            ),
            (
                json!({ "derived": { "random_read_latency_ns": 0 } }),
                "derived.random_read_latency_ns",
                "above 0",
            ),
            (
                json!({ "cells": [{ "block_bytes": 8 }, { "block_bytes": 0 }] }),
                "cells[1].block_bytes",
                "above 0",
            ),
            (
                json!({ "cells": [{ "steady_bandwidth_bytes_per_s": interval(0.0) }] }),
                "cells[0].steady_bandwidth_bytes_per_s.value",
                "above 0",
            ),
            (json!({ "conditions": { "file_bytes": -1 } }), "conditions.file_bytes", "0 on"),
        ];
        for (profile, field, allowed) in cases {
            let found = check(&profile).unwrap_err();
            assert_eq!(found.field, field);
            assert!(found.allowed.contains(allowed), "{found:?}");
        }
    }

    #[test]
    fn valid_zeros_and_signs_are_accepted() {
        let profile = json!({
            "schema_version": 0,
            "conditions": { "fill_ns": 0, "errors": 0 },
            "derived": {
                "cheap_strides_blocks": [-4, 0, 2],
                "interference": { "write_rate_per_s": { "value": 0.0, "low": 0.0, "high": 0.0 } },
                "steady_state": { "random_write_bytes_per_s": { "value": 1.0, "low": 0.0, "high": 2.0 } },
            },
            "experiments": {
                "steady_state": { "findings": { "block_bytes": 0, "window_slope": -0.1, "seconds": [{ "requests": 0 }] } },
                "write_patterns": { "findings": { "patterns": [{ "pause_ns": 0 }] } },
            },
        });
        assert_eq!(check(&profile), Ok(()));
    }
}
