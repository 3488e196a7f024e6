use crate::common::{ONE_CELL, Place};

#[test]
fn a_full_disk_is_known_before_anything_is_written() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    let mount = "mount -t tmpfs -o size=8m none small";
    let Some(outcome) = place.nandle_after(mount, "probe small --budget 20s --file-size 64MiB") else {
        return;
    };
    outcome.refused(1, &["small: ", "64MiB", "8MiB available", "--file-size 7MiB or less"]);
    assert_eq!(place.names(), ["small"]);
}

#[test]
fn a_disk_without_room_for_the_results_is_no_success() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    let mount = "mount -t tmpfs -o size=1m none small && ! cat /dev/zero > small/ballast 2>/dev/null";
    let sweep = format!("sweep . {ONE_CELL} --output small/cells.json");
    let Some(outcome) = place.nandle_after(mount, &sweep) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["small/cells.json", "No space left"]);
}

#[test]
fn a_report_without_room_does_not_hide_the_profile() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    let script = "mount -t tmpfs -o size=172k none small || exit 99; cd small; \
                  \"$0\" probe model:x25-m-g2 --budget 5s; code=$?; cp profile.json ..; exit $code";
    let Some(outcome) = place.in_own_mounts(script) else { return };
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stdout.contains("random reads"), "{outcome:?}");
    outcome.says(&["profile: profile.json", "report.html: No space left", "nandle report profile.json"]);
    assert!(!place.json("profile.json")["cells"].as_array().unwrap().is_empty());
}

#[test]
fn a_result_that_can_not_be_printed_is_no_success() {
    let place = Place::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for arguments in [format!("sweep . {ONE_CELL}"), "completions bash".into(), "man".into()] {
        let output = place.command(&arguments).stdout(full()).output().unwrap();
        let outcome = crate::common::Outcome::from(output);
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        outcome.says(&["standard output", "No space left"]);
    }
}

/// The kernel dismantles a ring, and releases its files, some time after the program has ended.
#[test]
fn one_run_after_the_other_finds_the_room_that_the_one_before_had() {
    let place = Place::new();
    std::fs::create_dir(place.path("small")).unwrap();
    let sweep = format!("sweep small {} --json > /dev/null", ONE_CELL.replace("4MiB", "32MiB"));
    let script = format!(
        "mount -t tmpfs -o size=48m none small || exit 99; for run in 1 2 3 4; do \"$0\" {sweep} || exit 1; done"
    );
    let Some(outcome) = place.in_own_mounts(&script) else { return };
    outcome.done();
}
