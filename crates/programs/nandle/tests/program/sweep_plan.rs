use crate::common::{MIB, Place};

const SWEEP: &str = "--file-size 64MiB --patterns random --block-sizes 4KiB,8KiB --queue-depths 1,2 --plan";

#[test]
fn a_plan_names_the_cells_the_time_and_the_bytes() {
    let place = Place::new();
    let outcome = place.nandle(&format!("sweep . {SWEEP} --time-per-run 30s")).done();
    for part in
        ["random read 4KiB, depth 1\n", "random read 8KiB, depth 2\n", "4 cells, 0 skipped", "2m ", "64MiB"]
    {
        assert!(outcome.stdout.contains(part), "{part:?} is missing in {}", outcome.stdout);
    }
    assert!(outcome.stdout.contains("the cells write nothing"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("to be written, which takes about "), "{}", outcome.stdout);
    let written = place.nandle(&format!("sweep . {SWEEP} --operation write --bytes-per-run 10MiB")).done();
    assert!(written.stdout.contains("the cells write about 40MiB"), "{}", written.stdout);
    let unbounded = place.nandle(&format!("sweep . {SWEEP} --operation write")).done();
    assert!(unbounded.stdout.contains("--bytes-per-run"), "{}", unbounded.stdout);
}

#[test]
fn a_plan_is_json_too() {
    let place = Place::new();
    let sweep = format!("sweep . {SWEEP} --operation mixed:75 --bytes-per-run 4MiB --time-per-run 5s --json");
    let plan = place.nandle(&sweep).done().json();
    assert_eq!(plan["cells"].as_array().unwrap().len(), 4);
    assert_eq!(
        (&plan["fill_bytes"], &plan["cells_time_ns_max"]),
        (&(64 * MIB).into(), &20_000_000_000_u64.into())
    );
    assert!(plan["fill_time_ns"].as_u64().is_some_and(|time| time > 0), "{plan}");
    assert_eq!(plan["cells_write_bytes"], 4 * MIB, "a quarter of four times 4 MiB");
}

#[test]
fn a_plan_changes_nothing() {
    let place = Place::new();
    let contents = place.write_noise("data", 2 * MIB);
    place.nandle(&format!("sweep . {SWEEP} --output cells.csv")).done();
    place.nandle(&format!("sweep data {SWEEP} --operation write --overwrite --output cells.json")).done();
    assert!(place.read("data") == contents);
    assert_eq!(place.names(), ["data"]);
    place.nandle(&format!("sweep new {SWEEP} --operation write --overwrite")).done();
    assert_eq!(place.names(), ["data"], "a file that would be made isn't made for a plan");
}

#[test]
fn a_plan_of_what_can_not_be_is_refused_like_the_sweep() {
    let place = Place::new();
    place.write_noise("data", 2 * MIB);
    place.nandle(&format!("sweep data {SWEEP} --operation write")).refused(2, &["data", "--overwrite"]);
    place.nandle(&format!("sweep missing {SWEEP}")).refused(2, &["missing", "nearest directory"]);
}
