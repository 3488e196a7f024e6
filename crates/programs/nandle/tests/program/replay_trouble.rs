//! Targets that are too small, fill up or fail, and damaged traces.

use crate::common::{MIB, Place, scattered_writes};

#[test]
fn a_target_that_is_too_small_is_refused_before_it_is_written() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    let small = place.write_noise("small", 4 * MIB);
    let refused = |options: &str, parts: &[&str]| {
        place.nandle(&format!("replay a.csv --on small --overwrite {options}")).refused(2, parts);
    };
    refused("", &["beside what the stores need", "larger target", "smaller --buffer"]);
    refused("--wrap", &["(--wrap) takes 4MiB", "larger target"]);
    assert_eq!(place.read("small"), small, "nothing was written");
    place.write_noise("medium", 7 * MIB);
    let command = "replay a.csv --on medium --overwrite --policies direct --limit 300";
    place.nandle(command).refused(2, &["--wrap folds"]);
    let json = place.nandle(&format!("{command} --wrap --json")).done().json();
    assert_eq!(json["wrapped"], true);
    assert!(json["policies"][0]["verified_pages"].as_u64().unwrap() > 200, "{json}");
}

#[test]
fn a_file_that_does_not_exist_is_made_as_large_as_the_work_needs() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    place.nandle("replay a.csv --on pages").refused(2, &["pages"]);
    let command = "replay a.csv --on pages --overwrite --policies direct,stable-ring,out-of-place --json";
    let json = place.nandle(command).done().json();
    for policy in json["policies"].as_array().unwrap() {
        assert_eq!(policy["verified_pages"], 600, "{policy}");
    }
    assert_eq!(place.names(), ["a.csv", "pages"]);
}

#[test]
fn a_file_system_without_room_for_all_stores_is_left_as_it_is() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    std::fs::create_dir(place.path("small")).unwrap();
    let mount = "mount -t tmpfs -o size=40m none small";
    let Some(outcome) = place.nandle_after(mount, "replay a.csv --on small") else { return };
    outcome.refused(1, &["small: ", "all policies together", "40MiB available", "--policies", "--limit"]);
    let Some(outcome) = place.nandle_after(mount, "replay a.csv --on small --policies direct --json") else {
        return;
    };
    assert_eq!(outcome.done().json()["policies"][0]["verified_pages"], 600);
}

/// Thin-provisioned drive: the staged writes fit, the destaged ones don't.
#[test]
fn a_drive_that_gets_full_during_a_drain_ends_the_replay() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(2000));
    place.write("full.toml", "space_bytes = 5242880\n");
    let on = "--on model:mtron-16:faults=full.toml --durability each";
    for policy in ["doublewrite", "stable-buffer", "stable-ring"] {
        let outcome = place.nandle(&format!("replay a.csv {on} --policies {policy} --buffer 2MiB --json"));
        outcome.refused(1, &[&format!("{policy}, "), "writing pages home", "No space left"]);
    }
}

#[test]
fn a_drive_whose_flush_fails_ends_the_replay() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(100));
    place.write("bad.toml", "[[fault]]\nkind = \"failed-flush\"\nper_million = 1000000\n");
    let on = "--on model:x25-e-64:faults=bad.toml --policies stable-ring";
    place.nandle(&format!("replay a.csv {on}")).refused(1, &["stable-ring, making the store", "flush"]);
}

#[test]
fn damaged_lines_of_a_trace_are_named_or_counted() {
    let place = Place::new();
    place.write("bad.csv", format!("{}x,write,0,4096\n9,scribble,0,4096\n", scattered_writes(100)));
    let command = "replay bad.csv --on model:x25-e-64 --policies direct";
    place.nandle(command).refused(1, &["bad.csv, line 102", "--skip-bad"]);
    let json = place.nandle(&format!("{command} --skip-bad --json")).done().json();
    assert_eq!((&json["bad_lines"], &json["page_writes"]), (&2.into(), &100.into()));
}

#[test]
fn a_report_that_can_not_be_written_is_known_before_the_work() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(100));
    place.write("notes.txt", "mine");
    for command in ["replay a.csv --on model:x25-e-64 --policies direct", "trace stat a.csv"] {
        place.nandle(&format!("{command} --report notes.txt")).refused(2, &["notes.txt", "left alone"]);
        place.nandle(&format!("{command} --report none/page.html")).says(&["none"]);
        place.nandle(&format!("{command} --report page.html")).done().says(&["page.html"]);
        // An own report is replaced.
        place.nandle(&format!("{command} --report page.html")).done();
    }
    assert_eq!(place.read("notes.txt"), b"mine");
}

#[test]
fn contents_that_compress_make_out_of_place_write_less_unless_it_is_told_not_to() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(2000));
    let written = |options: &str| {
        let command = "replay a.csv --on model:nvme-tlc --policies out-of-place --json";
        let json = place.nandle(&format!("{command} {options}")).done().json();
        assert!(json["policies"][0]["verified_pages"].as_u64().unwrap() > 1500, "{json}");
        (json["policies"][0]["write_amplification"].as_f64().unwrap(), json)
    };
    let (noise, _) = written("");
    let (half, json) = written("--compressible 50%");
    assert_eq!((&json["compressible_percent"], &json["compresses"]), (&50.into(), &true.into()));
    let (told, json) = written("--compressible 50% --no-compression");
    assert_eq!(json["compresses"], false);
    assert!(half < 0.7 * noise && told > 0.9 * noise, "{noise}, {half}, {told}");
    place.nandle("replay a.csv --on model:x25-e-64 --compressible 120%").refused(2, &["120%", "100%"]);
}
