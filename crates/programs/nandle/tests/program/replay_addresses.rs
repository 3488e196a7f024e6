//! Replays of sparse traces, long writes, and policies that can't take the work.

use std::fmt::Write as _;

use crate::common::{MIB, Place, scattered_writes};

/// Writes to 40 places of a 252 GB volume, some of them long, and a discard of nearly all of it.
fn volume() -> String {
    let mut text = String::from("time_us,op,address,length\n");
    for number in 0..300_u64 {
        let place = (number * 7919 % 40) * 6_000 * MIB;
        let _ = writeln!(text, "{number},write,{},4096", place + number % 9 * 4096);
        if number % 100 == 50 {
            let _ = writeln!(text, "{number},write,{place},{}\n{number},sync,0,0", 848 * 4096);
        }
    }
    text + "301,discard,50000000000,200000000000\n302,write,251000000000,4096\n"
}

#[test]
fn a_large_volume_is_replayed_by_the_areas_that_are_written() {
    let place = Place::new();
    place.write("volume.csv", volume());
    for on in ["model:mtron-16", "."] {
        let json = place.nandle(&format!("replay volume.csv --on {on} --json")).done().json();
        let policies = json["policies"].as_array().unwrap();
        assert_eq!((policies.len(), &json["left_out"]), (6, &serde_json::json!([])), "{json}");
        let addresses = &json["addresses"];
        assert_eq!((&addresses["mode"], &addresses["area_bytes"]), (&"compact".into(), &MIB.into()));
        assert!((40..60).contains(&addresses["area_count"].as_u64().unwrap()), "{addresses}");
        assert!(addresses["left_out_bytes"].as_u64().unwrap() > 200_000_000_000, "{addresses}");
        assert!(json["remarks"].to_string().contains("--addresses keep"), "{}", json["remarks"]);
        assert!(json["remarks"].to_string().contains("Split into several batches"), "{}", json["remarks"]);
        for policy in policies {
            let is_split = policy["split_writes"].as_u64().unwrap() > 0;
            let takes_all = policy["policy"] == "direct" || policy["policy"] == "out-of-place";
            assert_eq!(is_split, !takes_all, "{policy}");
            assert!(policy["verified_pages"].as_u64().unwrap() > 50, "{policy}");
        }
    }
    let told = place.nandle("replay volume.csv --on model:mtron-16 --policies direct,auto").done();
    let told = told.fits_80_columns().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("Addresses are compacted:") && told.contains("Split into"), "{told}");
}

#[test]
fn addresses_are_kept_for_who_wants_them() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    let replay = |options: &str| {
        let command = "replay a.csv --on model:mtron-16 --policies direct,stable-ring --json";
        place.nandle(&format!("{command} {options}")).done().json()
    };
    let (compact, keep) = (replay(""), replay("--addresses keep"));
    assert_eq!(
        (&compact["addresses"]["left_out_bytes"], &keep["addresses"]["mode"]),
        (&0.into(), &"keep".into())
    );
    assert!(!compact["remarks"].to_string().contains("compacted"), "nothing was left out: {compact}");
    assert_eq!(compact["policies"], keep["policies"], "where nothing is left out, nothing changes");
}

#[test]
fn a_modelled_drive_grows_to_what_the_work_needs() {
    let place = Place::new();
    // A page in every MiB of 3 GiB: more than the default capacity of mtron-16.
    let wide = (0..3072).fold(String::from("time_us,op,address,length\n"), |mut text, number| {
        let _ = writeln!(text, "{number},write,{},4096", number * 7919 % 3072 * MIB);
        text
    });
    place.write("wide.csv", wide);
    let command = "replay wide.csv --policies direct,out-of-place --json --on";
    for on in ["model:mtron-16", "raid10:64KiB:model:samsung-mcaqe32,model:mtron-16"] {
        let json = place.nandle(&format!("{command} {on}")).done().json();
        assert!(
            json["enlarged_to_bytes"].as_u64().unwrap() >= 3072 * MIB || on.starts_with("raid0"),
            "{json}"
        );
        assert_eq!(json["policies"].as_array().unwrap().len(), 2, "{on}: {}", json["left_out"]);
    }
    let said = place.nandle(&format!("{command} model:mtron-16")).done().json()["remarks"].to_string();
    assert!(said.contains("model:mtron-16 is modelled with 3."), "{said}");
    // An explicit capacity isn't enlarged, and a disk never is.
    place
        .nandle(&format!("{command} model:mtron-16:capacity=2GiB"))
        .refused(2, &["need 3.0GiB", "--wrap", "capacity="]);
    place.write("far.csv", "time_us,op,address,length\n1,write,9000000000000,4096\n");
    let farther = "replay far.csv --addresses keep --on model:mtron-16";
    place.nandle(farther).refused(2, &["8.19TiB", "where they are", "leave out --addresses keep"]);
    let far = "replay far.csv --policies direct --on model:wd2003fyys";
    place.nandle(far).done();
    place
        .nandle(&format!("{far} --addresses keep"))
        .refused(2, &["8.19TiB", "where they are", "--addresses keep"]);
    let wrapped = place.nandle(&format!("{far} --addresses keep --wrap --json")).done().json();
    assert_eq!(wrapped["wrapped"], true);
}

#[test]
fn who_can_not_take_the_work_is_left_out_with_the_reason() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    let command = "replay a.csv --on model:x25-e-64 --policies direct,stable-ring --buffer 32KiB";
    let json =
        place.nandle(&format!("{command} --json")).done().says(&["note: stable-ring is left out"]).json();
    assert_eq!(json["policies"].as_array().unwrap().len(), 1);
    let left_out = &json["left_out"][0];
    assert_eq!((&left_out["policy"], &left_out["failed"]), (&"stable-ring".into(), &false.into()));
    assert!(left_out["reason"].as_str().unwrap().contains("at least 64KiB"), "{left_out}");
    let told = place.nandle(command).done().fits_80_columns().stdout;
    assert!(told.contains("stable-ring is left out: a buffer of 32KiB"), "{told}");
    // Only the staging area doesn't fit.
    place.write_noise("pages", 12 * MIB);
    let command = "replay a.csv --on pages --overwrite --policies direct,doublewrite --json";
    let json = place.nandle(command).done().json();
    assert_eq!(
        (&json["policies"][0]["policy"], &json["left_out"][0]["policy"]),
        (&"direct".into(), &"doublewrite".into())
    );
    // Pages too large for the default buffer get a larger one.
    let json =
        place.nandle("replay a.csv --on model:x25-e-64 --page 64KiB --queue-depth 1024 --json").done().json();
    assert_eq!(json["policies"].as_array().unwrap().len(), 6, "{}", json["left_out"]);
}

#[test]
fn a_store_that_fails_is_out_and_the_program_fails_after_the_others_figures() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(2000));
    // The writes of `direct` fit; the additional writes of the others don't.
    place.write("full.toml", "space_bytes = 9437184\n");
    let command = "replay a.csv --on model:mtron-16:faults=full.toml --buffer 2MiB --durability each";
    let outcome = place
        .nandle(&format!("{command} --policies direct,stable-ring,doublewrite --json --report page.html"));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let outcome = outcome.says(&["stable-ring failed", "doublewrite failed", "No space left"]);
    let json = outcome.json();
    assert_eq!(
        (json["policies"].as_array().unwrap().len(), &json["policies"][0]["policy"]),
        (1, &"direct".into())
    );
    let failed: Vec<_> =
        json["left_out"].as_array().unwrap().iter().map(|left_out| &left_out["failed"]).collect();
    assert_eq!(failed, [&serde_json::Value::Bool(true); 2]);
    let page = std::fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains("stable-ring failed and has no figures"), "the page says so");
}
