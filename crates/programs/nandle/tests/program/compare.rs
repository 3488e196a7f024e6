use serde_json::{Value, json};

use crate::common::Place;

/// Place with profiles of two modelled drives.
fn with_profiles() -> Place {
    let place = Place::new();
    for model in ["x25-e-64", "barracuda-7200.10"] {
        let name = if model == "x25-e-64" { "ssd" } else { "disk" };
        let files = format!("--profile {name}.json --report {name}.html");
        place.nandle(&format!("probe model:{model} --budget 60s --read-only {files}")).done();
    }
    place
}

/// Profile of the solid-state drive with halved sequential rates.
fn slower(place: &Place) -> Value {
    let mut profile = place.json("ssd.json");
    let best = &mut profile["derived"]["sequential_bandwidth_bytes_per_s_max"];
    for key in ["value", "low", "high"] {
        best[key] = json!(best[key].as_f64().unwrap() / 2.0);
    }
    profile
}

#[test]
fn a_regression_fails_when_asked_to() {
    let place = with_profiles();
    place.write("later.json", slower(&place).to_string());
    let same = place.nandle("compare ssd.json ssd.json --fail-on-regression 0");
    same.done().fits_80_columns();
    let table = place.nandle("compare ssd.json later.json").done().fits_80_columns();
    assert!(table.stdout.contains("WORSE") && table.stdout.contains("-50.0 %"), "{}", table.stdout);
    let failed = place.nandle("compare ssd.json later.json --fail-on-regression 10 --json");
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let changes = failed.json()["changes"].as_array().unwrap().clone();
    assert_eq!(changes.iter().filter(|change| change["verdict"] == "regressed").count(), 1);
    failed.says(&["later is worse than ssd by more than 10 %", "sequential bandwidth"]);
    place.nandle("compare ssd.json later.json --fail-on-regression 60").done();
    place.nandle("compare later.json ssd.json --fail-on-regression 10").done();
}

#[test]
fn what_makes_profiles_hard_to_compare_is_said() {
    let place = with_profiles();
    let warned = place.nandle("compare ssd.json disk.json --fail-on-regression 100");
    warned.says(&["WARNING", "two devices", "x25-e-64"]);
    let mut buffered = place.json("ssd.json");
    buffered["backend"]["direct"] = json!(false);
    buffered["made_at_unix_s"] = json!(1);
    place.write("buffered.json", buffered.to_string());
    let warned = place.nandle("compare ssd.json buffered.json").done();
    warned.says(&["WARNING", "another way", "buffered", "the older one comes first"]);
}

#[test]
fn drives_stand_side_by_side() {
    let place = with_profiles();
    let prices = "--price ssd=624 --price disk=60 --memory-price 5 --read-share 100";
    let outcome = place.nandle(&format!("compare disk.json ssd.json {prices}")).done().fits_80_columns();
    for part in
        ["price", "for a unit of money", "Amdahl", "drives for a processor", "keep a page in memory", "index"]
    {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    for part in ["one by one", "many at a time", "random_page_cost", "its bounds below it"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert!(outcome.stdout.lines().any(|line| line.trim().starts_with('(') && line.contains('–')), "bounds");
    let answer = place.nandle(&format!("compare disk.json ssd.json {prices} --json")).done().json();
    assert_eq!(answer["schema_version"], 2);
    let share = |index: usize, way: &str| {
        let up_to = &answer["drives"][index]["sizing"][way];
        let number = |key: &str| up_to[key]["value"].as_f64().unwrap();
        assert!((number("page_share") * number("page_cost_ratio") - 1.0).abs() < 1e-9, "{up_to}");
        number("page_share")
    };
    assert!(share(1, "index_one_by_one") < share(1, "index_many_at_a_time"));
    let sizing = |index: usize, key: &str| answer["drives"][index]["sizing"][key]["value"].as_f64().unwrap();
    assert!((sizing(1, "read_iops_per_money") - sizing(1, "read_iops") / 624.0).abs() < 1e-6);
    assert!(sizing(1, "speed_up_of_first") > 2.0);
    assert!((sizing(0, "speed_up_of_first") - 1.0).abs() < 1e-9);
    assert_eq!(answer["placement"].as_array().unwrap().len(), 5);
}

#[test]
fn bad_wishes_are_refused() {
    let place = with_profiles();
    let refused = |options: &str, parts: &[&str]| {
        place.nandle(&format!("compare ssd.json disk.json {options}")).refused(2, parts);
    };
    refused("--price hdd=60", &["--price hdd", "no profile has that name", "ssd, disk"]);
    refused("--price ssd=60 --price ssd=70", &["--price ssd", "twice"]);
    refused("--price ssd", &["\"ssd\"", "NAME=AMOUNT"]);
    refused("--price ssd=-4", &["above 0", "-4"]);
    refused("--price ssd=nan", &["above 0"]);
    refused("--read-share 101", &["--read-share", "0 to 100"]);
    refused("--page 1", &["--page", "512B"]);
    refused("--mips 0", &["--mips", "above 0"]);
    refused("--mips 9 --cpi 2", &["--mips", "--cpi"]);
    refused("--table 0", &["--table", "above 0"]);
    refused("ssd.json --fail-on-regression 5", &["--fail-on-regression", "two profiles", "got 3"]);
    refused("--fail-on-regression 5 --price ssd=60", &["--fail-on-regression", "--price", "one of them"]);
    refused("--fail-on-regression much", &["per cent", "much"]);
    place.nandle("compare").refused(2, &["<PROFILE>", "Usage"]);
    place.nandle("compare ssd.json none.json").refused(1, &["none.json", "No such file"]);
}

#[test]
fn one_profile_and_two_of_one_name_are_fine() {
    let place = with_profiles();
    place.nandle("compare ssd.json --price ssd=624").done();
    std::fs::create_dir(place.path("old")).unwrap();
    std::fs::copy(place.path("ssd.json"), place.path("old/ssd.json")).unwrap();
    let outcome = place.nandle("compare old/ssd.json ssd.json --price old/ssd.json=10").done();
    assert!(outcome.stdout.contains("old/ssd.json"), "{}", outcome.stdout);
}

#[test]
fn a_profile_that_was_edited_into_nonsense_is_refused() {
    let place = with_profiles();
    for (figure, says) in [(json!(-5), "from 0 on"), (json!(0), "above 0")] {
        let mut profile = place.json("ssd.json");
        profile["derived"]["random_read_iops_max"]["value"] = figure.clone();
        place.write("edited.json", profile.to_string());
        let field = "derived.random_read_iops_max.value";
        let parts = ["edited.json", field, &format!("is {figure}"), says];
        place.nandle("compare edited.json ssd.json").refused(1, &parts);
        place.nandle("advise edited.json --for linux").refused(1, &parts);
        place.nandle("report edited.json").refused(1, &parts);
    }
}
