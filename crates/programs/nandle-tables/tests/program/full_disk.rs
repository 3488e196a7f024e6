//! Full file system: a small one in memory, mounted in a private namespace if the system permits
//! it.

use std::process::Command;

use crate::common::{Outcome, Place};

/// Runs a script with a file system `small` of `bytes`. `$0` is the program.
#[allow(clippy::print_stderr, reason = "a test that is skipped must be seen to be")]
pub(crate) fn in_small_disk(place: &Place, bytes: u64, script: &str) -> Option<Outcome> {
    let run = |script: &str| {
        let script = format!("mount -t tmpfs -o size={bytes} none small && {script}");
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", &script]);
        command.arg(env!("CARGO_BIN_EXE_nandle-tables")).current_dir(place.path("")).output()
    };
    std::fs::create_dir_all(place.path("small")).unwrap();
    if !run("true").is_ok_and(|tried| tried.status.success()) {
        eprintln!("skipped: no file system can be mounted by a user here");
        return None;
    }
    Some(run(script).unwrap().into())
}

#[test]
fn loads_and_compactions_without_room_change_nothing() {
    let place = Place::new();
    place.run("table generate --rows 20000 --seed 3 --parquet files").done();
    place.run("table generate --rows 60000 --seed 4 --parquet files").done();
    let bytes = |name: &str| place.path(&format!("files/{name}.parquet")).metadata().unwrap().len();
    // Room for the small table twice, but for neither the large one nor both once more.
    let room = bytes("flights-20000-3") * 3;
    assert!(room < bytes("flights-60000-4") * 2, "the large one doesn't fit");
    let script = r#"
        "$0" table load small/t files/flights-20000-3.parquet --profile disk.json > /dev/null 2>&1 || exit 90
        "$0" table load small/t files/flights-20000-3.parquet > /dev/null 2>&1 || exit 91
        before=$(ls small/t small/t/data)
        for command in "load small/t files/flights-60000-4.parquet" "load small/t files/flights-20000-3.parquet --replace Month" "compact small/t --always"; do
            "$0" table $command > /dev/null 2>> errors; echo "code $?"
            [ "$before" = "$(ls small/t small/t/data)" ] || exit 92
            "$0" table verify small/t > /dev/null || exit 93
        done
        "$0" scan small/t --columns Origin --format csv | wc -l
    "#;
    let Some(outcome) = in_small_disk(&place, room, script) else { return };
    let outcome = outcome.done();
    assert_eq!(
        outcome.stdout.split_whitespace().collect::<Vec<_>>(),
        ["code", "1", "code", "1", "code", "1", "40001"]
    );
    let errors = place.read("errors");
    for part in ["small/t: ", "data/", ".parquet", "No space left", "make room"] {
        assert_eq!(errors.matches(part).count(), 3, "{part:?} in {errors}");
    }
}
