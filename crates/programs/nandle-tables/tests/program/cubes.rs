//! The cubes of the Dashboard paper, for real.

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
    place.generate("t", 2_500_000);
    let script = r#""$0" cubes t --only delay-airline-dest-month-origin --memory 32MiB --profile disk.json"#;
    let Some(outcome) = in_small_disk(&place, 4 << 20, &format!("{script} --temporary small")) else {
        return;
    };
    outcome.refused(1, &["t: delay-airline-dest-month-origin: ", "make room in small", "(--temporary)"]);
    let report = place.run(&format!("{} --json", script.replace("\"$0\" ", ""))).done().json();
    let spilled_bytes = report["paths"][0]["cubes"][0]["spilled_bytes"].as_u64().unwrap();
    assert!(spilled_bytes > 4 << 20, "with room it spills so much: {report}");
}
