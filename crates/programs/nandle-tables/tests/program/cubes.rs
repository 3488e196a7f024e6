//! The cubes of the Dashboard paper, run for real.

use crate::common::Place;
use crate::full_disk::in_small_disk;

#[test]
fn cubes_have_a_row_for_each_group() {
    let place = Place::new();
    place.generate("t", 5000);
    let line = "cubes t --only delay-airline,cancelled-month --profile disk.json --record r.needs.zst --json";
    let report = place.run(line).done().json();
    let scan = &report["paths"][0];
    assert_eq!((&report["rows"], &scan["path"]), (&5000.into(), &"scan".into()));
    let rows = |column: &str| {
        let text = place.run(&format!("scan t --columns {column} --format csv")).done().stdout;
        text.lines().skip(1).map(str::to_owned).collect::<std::collections::BTreeSet<_>>().len()
    };
    for (number, name, columns) in
        [(0, "delay-airline", "Airline,ArrDelay"), (1, "cancelled-month", "Month,Cancelled")]
    {
        let cube = &scan["cubes"][number];
        assert_eq!((&cube["name"], &cube["result_rows"]), (&name.into(), &rows(columns).into()), "{cube}");
        assert_eq!(cube["actual"]["requests"].as_u64().map(|requests| requests > 0), Some(true), "{cube}");
    }
    assert!(place.path("r.needs.zst").exists());
}

#[test]
fn temporary_space_without_room_says_what_helps() {
    let place = Place::new();
    // Months in order would need none.
    place.run("table generate t --rows 2500000 --cluster sort:Origin --profile disk.json").done();
    let script = r#""$0" cubes t --only delay-airline-dest-month-origin --memory 32MiB --profile disk.json"#;
    let Some(outcome) = in_small_disk(&place, 4 << 20, &format!("{script} --temporary small")) else {
        return;
    };
    outcome.refused(1, &["t: delay-airline-dest-month-origin: ", "make room in small", "(--temporary)"]);
    let report = place.run(&format!("{} --json", script.replace("\"$0\" ", ""))).done().json();
    let spilled_bytes = report["paths"][0]["cubes"][0]["spilled_bytes"].as_u64().unwrap();
    assert!(spilled_bytes > 4 << 20, "with room it spills so much: {report}");
}

/// Two small B-trees on two devices.
const ON_TWO: &str = "cubes t --only delay-airline,delay-airline-dest-month-origin,diverted-airline --paths btree --index grown --page-size 512 \
                      --on model:crucial-m4-256,model:regola-raid10 --json";

#[test]
fn fewer_rows_have_smaller_caches_unless_told_otherwise() {
    let place = Place::new();
    place.generate("t", 70_000);
    let report = place.run(ON_TWO).done().json();
    // A thousandth of the memory would be too little.
    assert_eq!((&report["memory_bytes"], &report["scaling"]["share"]), (&(32 << 20).into(), &0.001.into()));
    let files =
        ["crucial-m4-256", "regola-raid10", "wd2003fyys"].map(|name| format!("{name}-70000-rows.toml"));
    let named: Vec<&str> = report["scaling"]["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["file"].as_str().unwrap())
        .collect();
    assert_eq!(named, files.each_ref().map(String::as_str));
    let disk = place.read(&files[2]);
    assert!(
        disk.starts_with("# Scaled by nandle cubes: wd2003fyys") && disk.contains("\nsegments = 1\n"),
        "{disk}"
    );
    assert!(place.read(&files[1]).contains("\"wd2003fyys-70000-rows.toml\""));
    // Figures keep the user's names, and differences are reported.
    let cube = &report["paths"][0]["cubes"][0];
    let times = |report: &serde_json::Value| {
        ["model:crucial-m4-256", "model:regola-raid10"]
            .map(|target| report["paths"][0]["cubes"][0]["targets"][target]["time_s"].as_f64().unwrap())
    };
    assert!(cube["targets"]["model:regola-raid10"]["time_s"].is_f64(), "{cube}");
    assert!(report["remarks"].to_string().contains("crucial-m4-256-70000-rows.toml: write_buffer.bytes"));

    let unscaled = place.run(&format!("{ON_TWO} --unscaled --scaled-models x")).refused(2, &["--unscaled"]);
    assert_eq!(unscaled.stdout, "");
    let unscaled = place.run(&format!("{ON_TWO} --unscaled")).done().json();
    assert_eq!(
        (&unscaled["memory_bytes"], &unscaled["scaling"]),
        (&(980 << 20).into(), &serde_json::Value::Null)
    );
    // They differ by four seeks, whatever the caches are.
    for [ssd, array] in [times(&report), times(&unscaled)] {
        assert!(array > 2.0 * ssd, "{ssd} {array}");
    }
    // A foreign file isn't overwritten.
    std::fs::write(place.path(&files[0]), "mine").unwrap();
    place.run(ON_TWO).refused(2, &[&files[0], "no scaled model of nandle's"]);
    assert_eq!(place.read(&files[0]), "mine");
}

#[test]
fn the_report_says_where_it_turns_and_what_holds_of_the_claims() {
    let place = Place::new();
    place.generate("t", 70_000);
    let report = place.run(&format!("{ON_TWO} --report cubes.html --scaled-models .")).done().json();
    let turning = &report["turning"][0];
    assert_eq!(turning["page_bytes"], 512);
    let share = turning["turns_at_share"].as_f64().unwrap();
    // The index fits the controller's memory for one stream, so jumps are cheap.
    assert!(0.0 < share && share < 1.0, "{turning}");
    let page = place.read("cubes.html");
    for said in [
        "At which share of jumps does the faster device change?",
        "C41, that one SSD beats the array, holds",
        "C42, time of delay cubes with partners",
    ] {
        assert!(page.contains(said), "{said:?} is missing");
    }
    let text = place.run(&ON_TWO.replace(" --json", "")).done().stdout.replace("\n  ", " ");
    assert!(text.contains("of jumps and model:crucial-m4-256 above"), "{text}");
    // In reverse order the array takes the SSD's role, and the measurements are the same.
    let swapped = ON_TWO
        .replace("model:crucial-m4-256,model:regola-raid10", "model:regola-raid10,model:crucial-m4-256")
        .replace(" --json", "");
    assert!(swapped.contains("model:regola-raid10,model:crucial"), "{swapped}");
    let text = place.run(&swapped).done().stdout.replace("\n  ", " ");
    assert!(text.contains("of jumps and model:crucial-m4-256 above"), "{text}");
    assert!(text.contains("doesn't hold on this path: model:regola-raid10 is faster"), "{text}");
}
