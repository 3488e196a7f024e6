use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::{Place, SHORT};

const PRODUCTS: [&str; 7] = ["postgresql", "mariadb", "mysql", "rocksdb", "sqlite", "seastar", "linux"];
const SQLITE_TRIAL: &str =
    "advise profile.json --for sqlite --verify --on . --verify-data 16MiB --no-progress";

/// Place with a profile of a modelled drive, probed by reads only.
fn with_profile() -> Place {
    let place = Place::new();
    place.nandle("probe model:x25-e-64 --budget 5s --read-only").done();
    place
}

#[test]
fn every_product_gets_its_fragment() {
    let place = with_profile();
    for product in PRODUCTS {
        let outcome = place.nandle(&format!("advise profile.json --for {product}"));
        if outcome.code == Some(1) {
            // A read-only profile may answer none of a product's questions; the message names them.
            outcome.refused(1, &["profile.json", "nothing can be advised", "nandle probe"]);
            continue;
        }
        let outcome = outcome.done();
        for part in ["measured:", "rule:", "confidence:", "x25-e-64"] {
            assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
        }
    }
}

#[test]
fn what_a_partial_profile_lacks_is_named() {
    let place = with_profile();
    let outcome = place.nandle("advise profile.json --for postgresql").done();
    assert!(outcome.stdout.contains("\n# effective_io_concurrency = "), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\n# not set:    the profile is partial"), "{}", outcome.stdout);
    assert!(
        outcome.stdout.contains("\nfull_page_writes = on"),
        "the same on every device: {}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("commit_delay: needs"), "{}", outcome.stdout);
    outcome.says(&["settings need figures that this profile lacks", "assumed: PostgreSQL 18", "16 sessions"]);
}

#[test]
fn the_json_has_the_advice_and_the_fragment() {
    let place = with_profile();
    let answer = place.nandle("advise profile.json --for linux --json").done().json();
    assert_eq!(answer["schema_version"], 1);
    assert_eq!(answer["advice"]["question"]["product"], "linux");
    let setting = &answer["advice"]["parts"][0]["settings"][0];
    for key in ["name", "value", "figures", "rule", "confidence", "confidence_reason"] {
        assert!(!setting[key].is_null(), "{key}: {setting}");
    }
    assert!(answer["fragment"].as_str().unwrap().contains(setting["name"].as_str().unwrap()));
}

/// A drive that slows down when full.
#[test]
fn space_follows_from_what_was_measured_of_it() {
    let place = Place::new();
    place
        .nandle("probe model:crucial-m4-256 --only discard,fill-level,write-cache,flush --budget 10m --profile profile.json")
        .done();
    let told = place.nandle("advise profile.json --for linux").done().stdout;
    for part in ["mkpart data 1MiB 70%", "/queue/discard_max_bytes", "A flush after many writes takes"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn sessions_and_versions_change_the_advice() {
    let place = with_profile();
    let concurrency = |options: &str| {
        let outcome = place.nandle(&format!("advise profile.json --for postgresql {options}")).done();
        outcome.stdout.split_once("effective_io_concurrency =").unwrap().0.to_owned()
    };
    assert_ne!(concurrency("--sessions 1"), concurrency("--sessions 64"));
    assert!(concurrency("--sessions 64").contains("64 concurrent sessions"));
    let old = place.nandle("advise profile.json --for postgresql --product-version 15.3").done();
    assert!(!old.stdout.contains("io_combine_limit"), "{}", old.stdout);
}

#[test]
fn bad_wishes_are_refused() {
    let place = with_profile();
    let refused = |options: &str, parts: &[&str]| {
        place.nandle(&format!("advise profile.json {options}")).refused(2, parts);
    };
    refused("--memory 1GiB", &["--for"]);
    refused("--for oracle", &["oracle", "postgresql", "linux"]);
    refused("--for postgresql --product-version new", &["\"new\"", "18 or 8.4"]);
    refused(
        "--for postgresql --product-version 9.6",
        &["--product-version", "PostgreSQL 9.6", "from 13 to 18"],
    );
    refused("--for postgresql --sessions 0", &["--sessions", "0"]);
    refused("--for postgresql --memory 1K", &["--memory", "16MiB"]);
    refused("--for postgresql --workload htap", &["htap", "oltp", "olap", "mixed"]);
    refused("--for postgresql --verify-pairs 9", &["--verify"]);
    refused("--for postgresql --on no/such/place", &["no/such/place", "No such file"]);
    refused("--for mariadb --verify --on .", &["--verify", "MariaDB", "postgresql and sqlite"]);
    refused("--for sqlite --verify", &["--verify", "model:x25-e-64", "--on"]);
    refused("--for sqlite --verify --verify-pairs 5", &["--verify-pairs", "5", "6"]);
    refused("--for sqlite --verify --verify-data 1M", &["--verify-data", "16MiB"]);
    place.nandle("advise").refused(2, &["<PROFILE>", "Usage"]);
}

#[test]
fn profiles_that_cannot_be_read_are_named() {
    let place = Place::new();
    for command in ["advise --for linux", "compare"] {
        let refused = |name: &str, parts: &[&str]| {
            place.nandle(&format!("{command} {name}")).refused(1, parts);
        };
        refused("none.json", &["none.json", "No such file", "nandle probe"]);
        place.write("damaged.json", "{\"schema_version\": 1, \"made_by\": \"nandle\"");
        refused("damaged.json", &["damaged.json", "not a nandle profile"]);
        place.write("newer.json", "{\"schema_version\": 99, \"made_by\": \"nandle 99.0.0\"}");
        refused("newer.json", &["newer.json", "version 99", "up to 1"]);
    }
}

#[test]
fn a_profile_of_the_read_side_alone_still_gives_advice() {
    let place = with_profile();
    let mut profile = place.json("profile.json");
    profile["schema_version"] = json!(0);
    profile.as_object_mut().unwrap().remove("experiments");
    place.write("old.json", profile.to_string());
    place.nandle("advise old.json --for postgresql").done();
}

/// Advice comes from the completed part of the probe, and the missing part is named.
#[test]
fn a_profile_that_was_ended_early_gives_what_it_has_and_says_so() {
    let place = Place::new();
    place.write("latched.toml", "[[fault]]\nkind = \"failed-write\"\noperation = 2000\nlasts = \"sticky\"\n");
    let probed =
        place.nandle("probe model:mtron-16:faults=latched.toml --only reads,write-patterns --budget 90s");
    assert_eq!(probed.code, Some(1), "{probed:?}");
    let outcome = place.nandle("advise profile.json --for mariadb").done();
    for part in ["The profile is partial: ", "doesn't support", "innodb_io_capacity: needs"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    outcome.says(&["settings need figures that this profile lacks"]);
}

/// The device name of a foreign profile ends up in a script that root runs.
#[test]
fn a_profile_with_a_name_that_no_kernel_gives_is_refused() {
    let place = with_profile();
    for (pointer, name, field) in [
        ("/identity/kernel_name", json!("vda; touch PWNED #"), "identity.kernel_name"),
        ("/identity/kernel_name", json!("../../etc"), "identity.kernel_name"),
        (
            "/system/queue",
            json!({ "scheduler": "$(id)", "schedulers_available": [] }),
            "system.queue.scheduler",
        ),
    ] {
        let mut profile = place.json("profile.json");
        *profile.pointer_mut(pointer).unwrap() = name;
        place.write("hostile.json", profile.to_string());
        for command in ["advise hostile.json --for linux", "report hostile.json", "compare hostile.json"] {
            place.nandle(command).refused(1, &["hostile.json", field, "only names that the kernel gives"]);
        }
    }
}

/// A name may hold control characters; they are shown escaped.
#[test]
fn no_name_reaches_the_terminal_as_it_is() {
    let place = with_profile();
    let mut profile = place.json("profile.json");
    let attack = "X\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\nrandom_page_cost = 0";
    profile["identity"]["model"] = json!(attack);
    profile["target"] = json!(attack);
    profile["conditions"]["remarks"] = json!([attack]);
    place.write("hostile.json", profile.to_string());
    let harmless = |text: &str| {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("random_page_cost = 0")), "{text}");
    };
    for command in [
        "advise hostile.json --for postgresql",
        "advise hostile.json --for linux --json",
        "compare hostile.json profile.json",
    ] {
        let outcome = place.nandle(command).done();
        harmless(&outcome.stdout);
        harmless(&outcome.stderr);
    }
    let outcome = place.nandle("advise hostile.json --for postgresql").done();
    assert!(outcome.stdout.contains("X\\u{1b}]0;owned"), "shown as an escape: {}", outcome.stdout);
}

/// Well-formed, with an invalid figure.
#[test]
fn a_profile_with_a_damaged_figure_is_refused_with_its_place() {
    let place = with_profile();
    for (key, wrong, says) in [
        ("made_at_unix_s", json!(-4), "made_at_unix_s is -4"),
        ("derived", json!(null), "not a nandle profile"),
        ("cells", json!("many"), "not a nandle profile"),
    ] {
        let mut profile = place.json("profile.json");
        profile[key] = wrong;
        place.write("damaged.json", profile.to_string());
        place.nandle("advise damaged.json --for sqlite").refused(1, &["damaged.json", says]);
    }
    let text = place.json("profile.json").to_string();
    place.write("half.json", &text[..text.len() / 2]);
    place
        .nandle("advise half.json --for sqlite")
        .refused(1, &["half.json", "not a nandle profile", "nandle probe"]);
}

#[test]
fn a_profile_of_another_device_is_warned_of() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT}")).done();
    place.nandle("advise profile.json --for postgresql").done().says_not("WARNING");
    let mut profile = place.json("profile.json");
    if profile["identity"]["capacity_bytes"].is_null() {
        return crate::common::skip("the system names no device under the disk of the build");
    }
    for unique in ["serial", "world_wide_name"] {
        profile["identity"][unique] = Value::Null;
    }
    profile["identity"]["capacity_bytes"] = json!(12_345);
    place.write("other.json", profile.to_string());
    let warned = place.nandle("advise other.json --for postgresql").done();
    warned.says(&["WARNING", "not of the device", "12345 bytes", "nandle probe"]);
    place.nandle("advise other.json --for postgresql --on .").done().says(&["WARNING"]);
}

/// Place with a profile that implies a non-default setting.
fn with_flushes() -> Place {
    let place = Place::new();
    place.nandle("probe model:x25-e-64 --only flush --budget 20s").done();
    place
}

#[test]
fn where_nothing_is_set_nothing_is_tried() {
    let place = with_profile();
    place.nandle(SQLITE_TRIAL).done().says(&["nothing to try"]);
}

#[test]
fn sqlite_is_tried_and_nothing_stays() {
    let place = with_flushes();
    let answer =
        place.nandle(&format!("{SQLITE_TRIAL} --verify-pairs 6 --workload mixed --json")).done().json();
    let verified = answer["verified"].as_array().unwrap();
    assert_eq!(verified.len(), 2);
    for trial in verified {
        for side in ["defaults_per_s", "advised_per_s"] {
            let results: Vec<f64> =
                trial["results"][side].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
            assert!(results.len() == 6 && results.iter().all(|rate| *rate > 0.0), "{trial}");
        }
        assert!(trial["outcome"]["ratio"].as_f64().unwrap() > 0.0);
        assert!(trial["verdict"].is_string());
    }
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

#[test]
fn a_trial_of_sqlite_that_is_interrupted_takes_its_files_away() {
    let place = with_flushes();
    let running = place.start(&format!("{SQLITE_TRIAL} --verify-pairs 1000"));
    running.wait_until("the trial works", || place.names().len() > 2);
    let outcome = running.end_after(Signal::INT);
    outcome.refused(130, &["interrupted"]);
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}
