use std::fmt::Write as _;

use crate::common::Place;

/// Writes scattered over 8 MiB, repeated `times` times, with syncs and a rewrite.
fn trace(times: u64) -> String {
    let mut text = String::from("time_us,op,address,length\n");
    for number in 0..600_u64 {
        let page = number.wrapping_mul(7919) % 2_048;
        let _ = writeln!(text, "{number},write,{},4096", page * times * 4096);
        if number % 50 == 49 {
            let _ = writeln!(text, "{number},sync,0,8388608\n{number},write,0,8192");
        }
    }
    text
}

#[test]
fn a_trace_is_replayed_on_the_disk_under_every_policy() {
    let place = Place::new();
    place.write("a.csv", trace(1));
    let outcome = place.nandle("replay a.csv --on . --queue-depth 4").done().fits_80_columns();
    for word in
        ["direct", "doublewrite", "stable-ring", "was read back", "Fastest here", "may be torn", "longest"]
    {
        assert!(outcome.stdout.contains(word), "{}", outcome.stdout);
    }
    let words = outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Each policy ran once") && words.contains("--repeats 5"), "{words}");
    let json = place.nandle("replay a.csv --on . --json --limit 500 --durability each").done().json();
    assert_eq!((&json["schema_version"], &json["durability"]), (&2.into(), &"each".into()));
    let policies = json["policies"].as_array().unwrap();
    assert!(policies.len() >= 3);
    for policy in policies {
        assert!(policy["writes"].as_u64().unwrap() >= 500, "{policy}");
        assert!(policy["elapsed_ns"].as_u64().unwrap() > 0 && policy["flushes"].as_u64().unwrap() > 0);
        assert!(policy["verified_pages"].as_u64().unwrap() > 400, "{policy}");
    }
    assert_eq!(policies[0]["speedup_over_direct"], 1.0);
    assert_eq!(place.names(), ["a.csv"], "the test files are gone");
}

#[test]
fn runs_that_are_repeated_are_told_with_the_least_and_the_greatest() {
    let place = Place::new();
    place.write("a.csv", trace(1));
    let command = "replay a.csv --on . --policies direct,doublewrite --repeats 3";
    let told = place.nandle(&format!("{command} --report page.html")).done().fits_80_columns().stdout;
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["least greatest", "Of 3 runs the one with the median time", "Each policy ran 3 times, in turns"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(String::from_utf8(place.read("page.html")).unwrap().contains("3 per policy"));
    let json = place.nandle(&format!("{command} --json")).done().json();
    assert_eq!(json["repeats"], 3);
    for policy in json["policies"].as_array().unwrap() {
        let (elapsed, speedup) =
            (&policy["repeats"]["elapsed_ns"], &policy["repeats"]["speedup_over_direct"]);
        assert_eq!(elapsed["value"], policy["elapsed_ns"], "{policy}");
        let [low, value, high] = ["low", "value", "high"].map(|bound| elapsed[bound].as_u64().unwrap());
        assert!(low <= value && value <= high, "{elapsed}");
        assert!(speedup["low"].as_f64() <= speedup["high"].as_f64(), "{speedup}");
        assert_eq!(policy["repeats"]["runs"], 3);
    }
    let refused = place.nandle("replay a.csv --on model:mtron-16 --repeats 2");
    refused.refused(2, &["--repeats", "takes the same each time"]);
}

#[test]
fn a_replay_on_a_model_fits_a_terminal_and_tells_what_was_erased() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    let told = place.nandle("replay a.csv --on model:mtron-16 --durability each").done();
    let told = told.fits_80_columns().stdout;
    assert!(!told.contains("a sync: p50") && told.contains("one durable write where"), "{told}");
    let synced =
        place.nandle("replay a.csv --on model:mtron-16 --buffer 8MiB").done().fits_80_columns().stdout;
    assert!(synced.contains("a sync: p50") && synced.contains("direct waits for the drive"), "{synced}");
    assert!(told.contains("8MiB to stage in") && told.contains(" erased ("), "{told}");
}

#[test]
fn a_replay_on_a_model_is_the_same_every_time_and_tells_what_the_drive_did() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    let once = || {
        place.nandle("replay a.csv --on model:mtron-16 --policies direct,stable-ring --json").done().json()
    };
    let json = once();
    assert_eq!(json, once());
    let flash =
        |policy: usize| json["policies"][policy]["drive"]["flash_bytes_by_page_bytes"].as_f64().unwrap();
    assert!(flash(0) > 10.0, "random writing in place makes a hybrid-mapped drive copy: {json}");
}

#[test]
fn what_can_not_be_replayed_is_refused() {
    let place = Place::new();
    place.write("far.csv", "time_us,op,address,length\n1,write,9000000000000,4096\n");
    let small = "model:mtron-16:capacity=2GiB --addresses keep";
    place.nandle(&format!("replay far.csv --on {small}")).refused(2, &["8.19TiB", "--wrap", "capacity="]);
    place.nandle(&format!("replay far.csv --on {small} --wrap")).done();
    place.write("reads.csv", "time_us,op,address,length\n1,read,0,4096\n");
    place.nandle("replay reads.csv --on .").refused(1, &["no writes"]);
    place.write("a.csv", trace(1));
    place.nandle("replay a.csv --on . --page 5000").refused(2, &["5000", "4KiB to 64KiB"]);
    place.nandle("replay a.csv --on . --page x").refused(2, &["4KiB to 64KiB"]);
    place.nandle("replay a.csv --on . --policies auto,direct,auto").refused(2, &["auto more than once"]);
    place.nandle("replay a.csv --on . --limit 0").refused(2, &["--limit", "at least 1"]);
    place
        .nandle("replay a.csv --on model:mtron-16:state=120%")
        .refused(2, &["state=120%", "0% to state=100%"]);
    place.nandle("replay a.csv --on . --policies fast").refused(2, &["fast", "stable-ring"]);
    place
        .nandle("replay a.csv --on . --policies stable-ring --buffer 4KiB")
        .refused(2, &["buffer of 4KiB", "least 64KiB"]);
    place.nandle("replay a.csv --on nowhere").refused(2, &["nowhere"]);
    let foreign = place.write("foreign", vec![7; 1 << 20]);
    place.nandle("replay a.csv --on foreign").says(&["foreign", "--overwrite"]);
    assert_eq!(std::fs::read(foreign).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn a_replay_makes_a_page_of_what_it_found() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    let policies = "--policies direct,stable-ring --limit 300";
    place.nandle(&format!("replay a.csv --on model:mtron-16 {policies} --report page.html")).done();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    for part in ["<!DOCTYPE html>", "direct", "stable-ring", "mtron-16"] {
        assert!(page.contains(part), "{part}");
    }
    place
        .nandle(&format!("replay a.csv --on model:mtron-16 {policies} --report a.csv"))
        .refused(2, &["a.csv", "left alone"]);
    assert_eq!(String::from_utf8(place.read("a.csv")).unwrap(), trace(100), "a page never replaces a trace");
}

#[test]
fn auto_measures_both_ways_and_a_report_names_it() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    let command =
        "replay a.csv --on model:nvme-plp --policies direct,auto --queue-depth 8 --report a.html --json";
    let json = place.nandle(command).done().json();
    let auto = &json["policies"][1];
    assert_eq!((&auto["policy"], &auto["atomic_batch"]), (&"auto".into(), &false.into()));
    let (straight, writes) = (auto["pages_straight"].as_u64().unwrap(), auto["writes"].as_u64().unwrap());
    assert!(straight <= writes && auto["verified_pages"].as_u64().unwrap() > 400, "{auto}");
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(page.contains("auto") && page.contains("direct"));
}

#[test]
fn a_profile_says_what_writing_costs_and_what_it_lacks_is_named() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    place.nandle("probe model:mtron-16 --budget 1s --file-size 16MiB").done();
    let command = "replay a.csv --on model:mtron-16 --policies auto --profile profile.json --json";
    let json = place.nandle(command).done().json();
    assert_eq!(json["write_costs"]["focused_area_bytes"], 8 << 20);
    let remarks = json["remarks"].to_string();
    assert!(remarks.contains("profile.json") && remarks.contains("doesn't say"), "{remarks}");
    place.nandle("replay a.csv --on model:mtron-16 --profile none.json").says(&["none.json"]);
}

#[test]
fn a_page_that_the_writes_do_not_fit_is_said_before_the_work_and_in_the_result() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    let replay = |options: &str| {
        place
            .nandle(&format!("replay a.csv --on model:x25-e-64 --policies direct --limit 100 {options}"))
            .done()
    };
    let outcome = replay("--page 16K --json").says(&["note: All 100 writes", "--page 4KiB"]);
    let json = outcome.json();
    assert!(json["remarks"].to_string().contains("All 100 writes"), "{json}");
    assert_eq!((&json["trace_writes"], &json["page_writes"]), (&100.into(), &100.into()));
    replay("").says_not("note:");
    place.write("b.csv", trace(100).replace(",4096\n", ",16384\n"));
    let told = place.nandle("replay b.csv --on model:x25-e-64 --policies direct --limit 100").done();
    assert!(told.stdout.contains("100 writes (398 pages of 4KiB)"), "{}", told.stdout);
    told.says(&["note: Most writes are of 16KiB", "4 pages of 4KiB", "--page 16KiB"]);
}

#[test]
fn a_store_that_never_cleaned_is_said_and_more_passes_through_a_full_one_clean() {
    let place = Place::new();
    place.write("a.csv", random_writes(3000));
    let replay = "replay a.csv --on model:nvme-tlc --policies out-of-place";
    let new = place.nandle(replay).done().stdout;
    assert!(new.contains("nothing of cleaning") && new.contains("--passes"), "{new}");
    let full = place.nandle(&format!("{replay} --fill 90% --passes 4")).done().stdout;
    assert!(full.contains("4 passes of 3 000 writes of 4KiB"), "{full}");
    assert!(full.contains("Before the trace began"), "{full}");
    assert!(!full.contains("nothing of cleaning"), "{full}");
    let json = place.nandle(&format!("{replay} --fill 90% --passes 4 --json")).done().json();
    assert_eq!((&json["passes"], &json["policies"][0]["writes"]), (&4.into(), &12_000.into()));
    let pages = json["pages"].as_u64().unwrap();
    assert_eq!(json["filled_pages"].as_u64().unwrap(), pages * 9 / 10);
    assert!(json["policies"][0]["pages_cleaned"].as_u64().unwrap() > 1000, "{json}");
    place.nandle(&format!("{replay} --fill 101%")).refused(2, &["--fill"]);
}

/// Random writes in 16 MiB, in an order unlike any other pass.
fn random_writes(writes: u32) -> String {
    let mut text = String::from("time_us,op,address,length\n");
    let mut state = 7_u64;
    for number in 0..writes {
        state = state * 16_807 % 2_147_483_647;
        let _ = writeln!(text, "{number},write,{},4096", state % 4096 * 4096);
    }
    text
}

#[test]
fn a_profile_of_another_drive_is_said_and_what_is_assumed_is_marked() {
    let place = Place::new();
    place.write("a.csv", trace(100));
    place.nandle("probe model:mtron-16 --budget 1s --file-size 16MiB").done();
    let replay = |options: &str| {
        place
            .nandle(&format!(
                "replay a.csv --policies direct --limit 50 --json --profile profile.json {options}"
            ))
            .done()
    };
    let other =
        replay("--on model:x25-e-64").says(&["WARNING", "modelled mtron-16", "modelled x25-e-64"]).json();
    assert!(other["remarks"].to_string().contains("WARNING"), "{other}");
    let same = replay("--on model:mtron-16:capacity=2GiB");
    same.says_not("WARNING");
    let assumed = same.json()["write_costs"]["assumed"].to_string();
    assert!(assumed.contains("random_ns") && assumed.contains("focused_area_bytes"), "{assumed}");
    replay("--on .").says(&["is not of the device under .", "nandle probe ."]);
    replay("--on made --overwrite").says(&["is not of the device under made"]);
}
