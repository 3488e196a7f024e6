use std::fs;

use crate::common::{LoopDevice, MIB, Place, is_root, skip};

const CELLS: &str = "--patterns random --block-sizes 4KiB --queue-depths 4";

#[test]
fn a_file_that_is_cut_short_meanwhile_gives_errors_that_are_counted() {
    for io in ["auto", "threads"] {
        let place = Place::new();
        place.write_noise("data", 8 * MIB);
        let running =
            place.start(&format!("sweep data {CELLS} --time-per-run 1s --io {io} --output cells.json"));
        running.wait_until("it reads", || running.disk_bytes().is_none_or(|(read, _)| read > MIB));
        fs::OpenOptions::new().write(true).open(place.path("data")).unwrap().set_len(4 * MIB).unwrap();
        let outcome = running.end();
        assert_eq!(outcome.code, Some(1), "{outcome:?}");
        let cell = &place.json("cells.json")["cells"][0];
        assert!(cell["errors"].as_u64().unwrap() > 0 && cell["requests"].as_u64().unwrap() > 0, "{cell}");
        assert!(cell["first_error"].as_str().unwrap().contains("cut short"), "{cell}");
        assert_ne!(&outcome.rows()[0][22], "0");
        outcome.says(&[
            "random read 4KiB, depth 4",
            "requests failed",
            "cut short",
            "of 1 of 1 cells failed",
        ]);
    }
}

#[test]
fn a_probe_counts_them_too_and_fails() {
    let place = Place::new();
    place.write_noise("data", 8 * MIB);
    let running = place.start("probe data --budget 3s");
    running.wait_until("it reads", || running.disk_bytes().is_none_or(|(read, _)| read > MIB));
    fs::OpenOptions::new().write(true).open(place.path("data")).unwrap().set_len(6 * MIB).unwrap();
    let outcome = running.end();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let outcome = outcome.says(&["data: ", "requests failed", "cut short", "profile.json"]);
    let profile = place.json("profile.json");
    assert!(profile["conditions"]["errors"].as_u64().unwrap() > 0);
    assert!(profile["partial"].to_string().contains("cut short"), "{}", profile["partial"]);
    assert!(outcome.stdout.contains("requests failed"), "{}", outcome.stdout);
}

#[test]
fn a_device_with_a_bad_half_is_measured_and_its_errors_are_shown() {
    let place = Place::new();
    if !is_root() {
        return skip("only an administrator has loop devices");
    }
    place.write_noise("image", 8 * MIB);
    let Some(device) = LoopDevice::new(&place.path("image")) else { return };
    fs::OpenOptions::new().write(true).open(place.path("image")).unwrap().set_len(4 * MIB).unwrap();
    let target = device.path.display();
    let table = place
        .nandle(&format!("sweep {target} {CELLS} --bytes-per-run 4MiB --format table"))
        .fits_80_columns();
    assert_eq!(table.code, Some(1), "{table:?}");
    assert!(table.stdout.contains("errors)"), "{}", table.stdout);
    table.says(&["requests failed", "offset"]);
    assert_eq!(
        place.nandle(&format!("probe {target} --budget 1s")).code,
        Some(1),
        "its errors are an exit code, too"
    );
    assert!(place.json("profile.json")["conditions"]["errors"].as_u64().unwrap() > 0);
}

#[test]
fn a_cell_in_which_everything_fails_ends_the_sweep_and_what_was_measured_is_kept() {
    let place = Place::new();
    place.write_noise("data", 8 * MIB);
    let running = place.start(&format!(
        "sweep data {CELLS} --patterns random,ordered:-1,sequential --time-per-run 700ms --json"
    ));
    running.wait_until("it reads", || running.disk_bytes().is_none_or(|(read, _)| read > MIB));
    fs::OpenOptions::new().write(true).open(place.path("data")).unwrap().set_len(0).unwrap();
    let outcome = running.end();
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let file = outcome.json();
    assert_eq!(file["cells"].as_array().unwrap().len(), 1, "what was measured is kept");
    outcome.says(&["data: ", "requests failed", "cut short"]);
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let place = Place::new();
    let script = format!("set -o pipefail; {} completions bash | head -c 10", crate::common::NANDLE);
    let words = ["bash", "-c", &script].map(str::to_owned);
    let outcome: crate::common::Outcome = place.command_of(&words, "").output().unwrap().into();
    assert_eq!(outcome.done().stderr, "");
}
