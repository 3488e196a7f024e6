//! Experiments, most of them writing.

use std::collections::HashMap;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{MIB, Place};

#[test]
fn a_modelled_drive_is_written_to_without_asking() {
    let place = Place::new();
    let outcome =
        place.nandle("probe model:mtron-16 --only write-patterns --budget 90s").done().fits_80_columns();
    let profile = place.json("profile.json");
    assert_eq!(profile["derived"]["focused_area_bytes"]["value"], 8 * MIB);
    assert_eq!(profile["derived"]["partition_count_max"]["value"], 8);
    assert_eq!(profile["experiments"]["write_patterns"]["complete"], true);
    assert_eq!(profile["cells"], Value::Array(Vec::new()), "reads were not asked for");
    assert!(outcome.stdout.contains("at random within 8MiB"), "{}", outcome.stdout);
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

#[test]
fn a_real_one_only_with_a_yes() {
    let place = Place::new();
    place
        .nandle("probe . --only write-patterns --budget 31s --file-size 32MiB")
        .refused(2, &["write up to", "--yes", "--read-only"]);
    assert!(place.names().is_empty());
    let yes = "probe . --only write-patterns --budget 31s --file-size 32MiB --write-limit 256MiB --yes";
    place.nandle(yes).done().says(&["write up to 256MiB"]);
    let conducted = &place.json("profile.json")["experiments"]["write_patterns"];
    let written = conducted["bytes_written"].as_u64().unwrap();
    assert!((MIB..=256 * MIB).contains(&written), "{conducted}");
    assert!(!conducted["findings"]["patterns"].as_array().unwrap().is_empty());
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

/// The one-minute probe writes to its own file without asking, and says so; the user's file is only
/// read.
#[test]
fn a_minute_times_commits_in_a_file_of_its_own() {
    let place = Place::new();
    place.write_noise("data.bin", 32 * MIB);
    let planned = |arguments: &str| {
        let plan = place.nandle(&format!("probe {arguments} --experiments --json")).done().json();
        plan["chosen"].as_array().unwrap().iter().any(|chosen| chosen["name"] == "transactions")
    };
    assert!(planned(". --file-size 64MiB") && planned("model:mtron-16"));
    for left_out in [
        ". --read-only",
        ". --write-limit 0",
        ". --skip transactions",
        ". --budget 30s",
        "data.bin",
        "data.bin --overwrite",
    ] {
        assert!(!planned(left_out), "{left_out}");
    }
    assert!(planned("data.bin --overwrite --only transactions"), "it was asked for");
    place.nandle("probe data.bin --overwrite --only transactions").refused(2, &["write up to", "--yes"]);
    let probed = place.nandle("probe . --file-size 64MiB --only transactions --budget 10s").done();
    probed.says(&["a mixed load write up to", "--read-only"]);
    let conducted = &place.json("profile.json")["experiments"]["transactions"];
    assert_eq!(conducted["findings"]["commits"][0]["method"], "fdatasync", "{conducted}");
    assert!(conducted["bytes_written"].as_u64().unwrap() > 8 * MIB, "{conducted}");
    assert_eq!(place.names(), ["data.bin", "profile.json", "report.html"]);
}

/// The commit file alone is eight times as large.
#[test]
fn no_more_is_written_than_may_be() {
    let place = Place::new();
    let line = "probe . --file-size 64MiB --only transactions --budget 10s --write-limit 1MiB --yes";
    place.nandle(line).done();
    let conducted = &place.json("profile.json")["experiments"]["transactions"];
    let written_bytes = conducted["bytes_written"].as_u64().unwrap();
    assert!((1..=MIB).contains(&written_bytes), "{conducted}");
    assert_ne!(conducted["findings"]["commits"][0]["in_file"], true, "{conducted}");
}

#[test]
fn what_is_named_beside_reads_has_its_share_of_the_budget() {
    let place = Place::new();
    let arguments = "probe model:x25-m-g2 --only reads,flush --budget 20s --write-limit 1GiB";
    place.nandle(arguments).done().says_not("Not measured");
    let profile = place.json("profile.json");
    assert_eq!(profile["conditions"]["reads_complete"], true);
    assert_eq!(profile["experiments"]["flush"]["complete"], true, "{}", profile["experiments"]);
    let short = place.nandle("probe model:x25-m-g2 --only reads,flush --budget 3s --write-limit 1GiB").done();
    let said = short.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("flush it takes at least") && !said.contains("--write-limit"), "{said}");
}

#[test]
fn what_does_not_fit_is_planned_with_the_budget_that_is_named() {
    let place = Place::new();
    let plan = |budget_s: u64| {
        place
            .nandle(&format!("probe . --budget {budget_s}s --file-size 64MiB --experiments --json"))
            .done()
            .json()
    };
    for (name, budget_s) in budgets_named(&plan(60)) {
        assert!(!budgets_named(&plan(budget_s)).contains_key(&name), "{name} with {budget_s} s");
        assert!(budgets_named(&plan(budget_s - 1)).contains_key(&name), "{name} with a second less");
    }
    assert!(budgets_named(&plan(60)).contains_key("scaling"));
}

/// Skipped experiments, with the budget in seconds that each needs.
fn budgets_named(plan: &Value) -> HashMap<String, u64> {
    let skipped = plan["skipped"].as_array().unwrap().iter();
    let of = |skipped: &Value| {
        let (_, rest) = skipped["reason"].as_str()?.split_once("--budget ")?;
        let budget = nandle_units::parse_duration(rest.split([' ', ',']).next()?).unwrap();
        Some((skipped["name"].as_str()?.to_owned(), budget.0 / 1_000_000_000))
    };
    skipped.filter_map(of).collect()
}

#[test]
fn a_short_budget_and_foreign_data_are_left_alone() {
    let place = Place::new();
    let skipped = |arguments: &str| {
        let outcome = place.nandle(&format!("probe {arguments} --experiments --json")).done();
        let json = outcome.json();
        let of = |skipped: &Value| skipped["name"] == "write-patterns";
        let found = json["skipped"].as_array().unwrap().iter().find(|skipped| of(skipped)).cloned();
        found.map(|skipped| skipped["reason"].as_str().unwrap().to_owned())
    };
    assert!(skipped(". --budget 60s").unwrap().contains("a budget below 5m"));
    assert!(skipped(". --budget 10m --read-only").unwrap().contains("--read-only"));
    place.write_noise("data.bin", 32 * MIB);
    assert!(skipped("data.bin --budget 10m").unwrap().contains("--overwrite"));
    assert_eq!(skipped("data.bin --budget 10m --overwrite"), None);
    assert_eq!(skipped(". --budget 10m --file-size 64MiB"), None);
    assert!(
        skipped(". --budget 10m --file-size 64MiB --skip write-patterns").unwrap().contains("not asked for")
    );
    assert_eq!(place.names(), ["data.bin"]);
}

#[test]
fn a_wrong_name_is_answered_with_the_right_ones() {
    let place = Place::new();
    for option in ["--only", "--skip"] {
        let outcome = place.nandle(&format!("probe model:mtron-16 {option} write-pattern"));
        outcome.refused(2, &["\"write-pattern\"", "write-patterns", "steady-state", "reads"]);
    }
}

#[test]
fn what_is_complete_is_not_measured_again() {
    let place = Place::new();
    place.nandle("probe model:mtron-16 --only write-patterns --budget 40s").done();
    let first = place.json("profile.json");
    place.nandle("probe model:mtron-16 --only reads,write-patterns,write-cache --budget 80s --resume").done();
    let second = place.json("profile.json");
    assert_eq!(first["experiments"]["write_patterns"], second["experiments"]["write_patterns"]);
    assert_eq!(second["experiments"]["write_cache"]["complete"], true);
    assert_eq!(second["conditions"]["reads_complete"], true);
    let cells = &second["cells"];
    assert!(!cells.as_array().unwrap().is_empty());
    place.nandle("probe model:mtron-16 --only reads,steady-state --budget 80s --resume").done();
    let third = place.json("profile.json");
    assert_eq!(&third["cells"], cells, "the reads were complete");
    assert!(
        !third["experiments"]["steady_state"].is_null() && !third["experiments"]["write_cache"].is_null()
    );
}

#[test]
fn a_profile_of_something_else_is_not_gone_on_with() {
    let place = Place::new();
    place.nandle("probe model:mtron-16 --budget 2s --resume").done().says(&["profile.json: not there yet"]);
    place
        .nandle("probe model:sd-card --budget 60s --resume")
        .refused(2, &["--resume", "mtron-16", "sd-card"]);
    place.nandle("probe model:mtron-16 --budget 60s --resume --seed 2").refused(2, &["--seed 1"]);
}

#[test]
fn an_interruption_keeps_what_was_found() {
    let place = Place::new();
    let running =
        place.start("probe . --only write-patterns --budget 60s --file-size 16MiB --write-limit 1GiB --yes");
    running.wait_until_written(64 * MIB);
    std::thread::sleep(Duration::from_secs(2));
    let outcome = running.end_after(Signal::INT);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    outcome.says(&["interrupted", "profile.json", "--resume"]);
    let profile = place.json("profile.json");
    let conducted = &profile["experiments"]["write_patterns"];
    assert_eq!((&conducted["complete"], &conducted["ended_by"]), (&false.into(), &"interrupted".into()));
    assert!(!conducted["findings"]["patterns"].as_array().unwrap().is_empty());
    assert!(profile["partial"].to_string().contains("experiments ended early: write-patterns"), "{profile}");
}

#[test]
fn a_drive_that_fails_in_the_middle_says_so_and_what_it_gave_is_kept() {
    let place = Place::new();
    place.write("fails.toml", "[[fault]]\nkind = \"failed-write\"\noperation = 1000\nlasts = \"sticky\"\n");
    let outcome = place.nandle("probe model:mtron-16:faults=fails.toml --only write-patterns --budget 90s");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["failed", "profile.json", "--resume"]);
    let experiments = &place.json("profile.json")["experiments"];
    assert_eq!(experiments["write_patterns"]["complete"], false);
    assert!(experiments["write_patterns"]["ended_by"].as_str().unwrap().contains("failed"), "{experiments}");
}

/// The drive turns read-only; earlier results stay valid.
#[test]
fn a_drive_that_goes_read_only_in_the_middle_is_read_on() {
    let place = Place::new();
    place.write(
        "latched.toml",
        "[[fault]]\nkind = \"failed-write\"\nper_million = 1000000\nlasts = \"sticky\"\n",
    );
    let target = "model:mtron-16:faults=latched.toml";
    let outcome = place.nandle(&format!("probe {target} --only reads,flush,read-ahead --budget 90s"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["failed", "profile.json"]);
    let profile = place.json("profile.json");
    let experiments = &profile["experiments"];
    assert_eq!(experiments["read_ahead"]["complete"], true, "{experiments}");
    assert_eq!(experiments["flush"]["complete"], false, "{experiments}");
    assert!(!profile["derived"]["efficient_block_bytes"].is_null());
    assert!(profile["partial"].to_string().contains("flush"), "{}", profile["partial"]);
    place.nandle("advise profile.json --for postgresql").done().says(&["lacks"]);
}

#[test]
fn a_drive_that_gets_full_in_the_middle_says_so() {
    let place = Place::new();
    place.write("full.toml", "[[fault]]\nkind = \"no-space\"\nper_million = 2000\n");
    let outcome =
        place.nandle("probe model:x25-e-64:faults=full.toml --only smallest-block,flush --budget 60s");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["No space left", "profile.json"]);
    let experiments = &place.json("profile.json")["experiments"];
    assert!(experiments["flush"]["ended_by"].as_str().unwrap().contains("No space left"), "{experiments}");
}

#[test]
fn requests_that_fail_now_and_then_are_in_the_profile_on_the_terminal_and_in_the_exit_code() {
    let place = Place::new();
    let fault = |kind: &str| format!("[[fault]]\nkind = \"{kind}\"\nper_million = 300\n");
    place.write("writes.toml", fault("failed-write"));
    let command = "probe model:x25-e-64:faults=writes.toml --only interference --budget 30s";
    let outcome = place.nandle(command);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let outcome = outcome.says(&["requests failed", "Input/output error", "profile.json", "--resume"]);
    assert!(outcome.stdout.contains("requests of experiments failed: interference ("), "{}", outcome.stdout);
    let profile = place.json("profile.json");
    let record = &profile["experiments"]["interference"];
    assert_eq!((&record["complete"], &record["ended_by"]), (&false.into(), &serde_json::Value::Null));
    assert!(record["failed"]["requests"].as_u64().unwrap() > 0, "{record}");
    let report = std::fs::read_to_string(place.path("report.html")).unwrap();
    assert!(report.contains("failed, the first with:"), "the report tells it beside the experiment");
    assert_eq!(
        place.nandle(&format!("{command} --resume")).code,
        Some(1),
        "it is measured again, and fails again"
    );
    place.write("reads.toml", fault("failed-read"));
    let outcome = place.nandle("probe model:x25-e-64:faults=reads.toml --budget 5s --profile reads.json");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("Partial: while reading, "), "{}", outcome.stdout);
    assert_eq!(place.json("reads.json")["conditions"]["reads_complete"], false);
}
