//! Every number in JSON output has its unit in its key.

use serde_json::Value;

use crate::common::{ONE_CELL, Place, scattered_writes};

/// Suffixes of keys that name a unit, counted things included.
const UNITS: [&str; 17] = [
    "_iops",
    "_per_money",
    "_ns",
    "_us",
    "_s",
    "_bytes",
    "_bytes_per_s",
    "_per_byte",
    "_per_request",
    "_blocks",
    "_share",
    "_ratio",
    "_min",
    "_max",
    "_requests",
    "_depth",
    "_percent",
];

/// Counts and ratios whose names are complete.
const PURE_NUMBERS: [&str; 40] = [
    "bytes_written",
    "bad_lines",
    "share",
    "price",
    "sessions",
    "schema_version",
    "seed",
    "threads",
    "rounds",
    "slices",
    "errors",
    "unsent",
    "requests",
    "rows",
    "bytes",
    "processors",
    "profiles",
    "iops",
    "ratio",
    "variation",
    "sharpness",
    "error_median",
    "error_p90",
    "mean_outstanding",
    "dma_alignment_mask",
    "records",
    "result_records",
    "left_records",
    "right_records",
    "filtered_records",
    "runs",
    "merges_before_the_last",
    "fan_in",
    "last_fan_in",
    "fan_out",
    "rewrites",
    "spilled_partitions",
    "divided_pairs",
    "levels",
    "block_loops",
];

/// Keys of numbers without a unit. A distribution or interval inherits its key's unit.
fn without_unit(value: &Value, path: &str, unit_known: bool, found: &mut Vec<String>) {
    match value {
        Value::Number(_) if !unit_known => found.push(path.to_owned()),
        Value::Array(values) => {
            for value in values {
                without_unit(value, path, unit_known, found);
            }
        }
        Value::Object(entries) => {
            let part = |key: &str| {
                matches!(key, "value" | "low" | "high" | "mean" | "p50" | "p90" | "p99" | "p999" | "max")
            };
            for (key, value) in entries {
                let own =
                    UNITS.iter().any(|unit| key.ends_with(unit)) || PURE_NUMBERS.contains(&key.as_str());
                without_unit(value, &format!("{path}.{key}"), own || (unit_known && part(key)), found);
            }
        }
        _ => {}
    }
}

#[track_caller]
fn assert_units(value: &Value) {
    let mut found = Vec::new();
    without_unit(value, "", false, &mut found);
    found.dedup();
    assert_eq!(found, [""; 0], "these keys name no unit");
}

#[test]
fn every_number_of_a_profile_has_its_unit() {
    let place = Place::new();
    let profile = place.nandle("probe . --budget 3s --file-size 16MiB --json").done().json();
    assert_units(&profile);
    let report = place.nandle("report profile.json --json").done().json();
    assert_units(&report);
}

#[test]
fn every_number_of_a_sweep_and_of_its_plan_has_its_unit() {
    let place = Place::new();
    let sweep = format!("sweep . {ONE_CELL} --json");
    assert_units(&place.nandle(&sweep).done().json());
    assert_units(&place.nandle(&format!("{sweep} --plan")).done().json());
    let paced = "sweep . --json --file-size 4MiB --block-sizes 4KiB --rate 200 --time-per-run 2100ms";
    let paced =
        place.nandle(&format!("{paced} --patterns random --outstanding-max 8KiB --queue-depths 2,4")).done();
    assert_units(&paced.json());
    assert_eq!(paced.json()["skipped"].as_array().unwrap().len(), 1);
}

#[test]
fn every_number_of_the_models_has_its_unit() {
    let place = Place::new();
    for command in ["list", "show x25-m-g2", "show regola-raid10", "export sd-card"] {
        assert_units(&place.nandle(&format!("models {command} --json")).done().json());
    }
}

#[test]
fn the_walker_finds_what_has_no_unit() {
    let mut found = Vec::new();
    let value = serde_json::json!({ "latency": { "p50": 1 }, "size": 2, "latency_ns": { "p50": 3 } });
    without_unit(&value, "", false, &mut found);
    assert_eq!(found, [".latency.p50", ".size"]);
}

#[test]
fn every_number_of_advice_and_of_a_comparison_has_its_unit() {
    let place = Place::new();
    place.nandle("probe model:x25-e-64 --budget 5s --read-only").done();
    for product in ["postgresql", "linux"] {
        assert_units(&place.nandle(&format!("advise profile.json --for {product} --json")).done().json());
    }
    assert_units(&place.nandle("compare profile.json --price profile=9 --json").done().json());
    assert_units(&place.nandle("compare profile.json profile.json --json").done().json());
}

#[test]
fn every_number_of_a_trace_that_is_played_has_its_unit() {
    let place = Place::new();
    place.write("a.trace", "R Hit 800 8 5000.0 100.0\nW Hit 1600 8 900.0 100.0\n".repeat(200));
    let play = "trace play a.trace --on model:barracuda --json";
    assert_units(&place.nandle(&format!("{play} --timing think --compare")).done().json());
    place.write("b.csv", scattered_writes(300));
    assert_units(&place.nandle("trace play b.csv --on model:nvme-tlc --json").done().json());
}

#[test]
fn every_number_of_a_sort_and_of_a_join_has_its_unit() {
    let place = Place::new();
    let lines: String =
        (0..60_000_u32).map(|line| format!("{} x\n", line.wrapping_mul(2_654_435_761))).collect();
    place.write("in", lines);
    for command in ["sort in", "join in in"] {
        assert_units(&place.nandle(&format!("{command} -o out --memory 1MiB --json")).done().json());
    }
}

#[test]
fn every_number_of_a_workload_and_of_a_placement_has_its_unit() {
    let place = Place::new();
    let few = "--rows 20000 --memory 128KiB --json";
    for operator in ["sort", "join"] {
        let workload = format!("workload {operator} --temporary model:samsung-mcaqe32 {few}");
        assert_units(&place.nandle(&workload).done().json());
        let placed = format!("place {operator} --from model:samsung-mcaqe32 --to model:x25-e-64 {few}");
        assert_units(&place.nandle(&placed).done().json());
    }
}
