use rustix::process::Signal;

use crate::common::{MIB, NANDLE, Place, Running};

#[test]
fn while_the_test_file_is_written_nothing_is_left() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let running = place.start("probe . --budget 60s --file-size 2GiB");
        running.wait_until_written(MIB);
        let outcome = running.end_after(signal);
        outcome.refused(130, &["interrupted while the test file was written"]);
        assert_eq!(place.names(), [""; 0]);
    }
}

#[test]
fn straight_after_the_writing_a_profile_is_whole_or_not_there() {
    let place = Place::new();
    let running = place.start("probe . --budget 30s --file-size 64MiB");
    running.wait_until_written(64 * MIB);
    let outcome = running.end_after(Signal::INT);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    if place.names().is_empty() {
        outcome.refused(130, &["interrupted"]);
    } else {
        assert_eq!(place.names(), ["profile.json", "report.html"]);
        assert!(place.json("profile.json")["partial"].to_string().contains("interrupted"));
    }
}

#[test]
fn while_measuring_what_was_measured_is_kept() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let place = Place::new();
        let running = place.start("probe . --budget 12s --file-size 8MiB");
        running.wait_until_written(8 * MIB);
        std::thread::sleep(std::time::Duration::from_millis(2500));
        let outcome = running.end_after(signal);
        assert_eq!(outcome.code, Some(130), "{outcome:?}");
        let profile = place.json("profile.json");
        assert!(profile["partial"].to_string().contains("interrupted"), "{}", profile["partial"]);
        assert!(!profile["cells"].as_array().unwrap().is_empty());
        assert!(outcome.stdout.contains("Partial: "), "{}", outcome.stdout);
        outcome.says(&["interrupted", "profile.json", "no part of it is complete", "--resume"]);
        assert_eq!(place.names(), ["profile.json", "report.html"]);
    }
}

#[test]
fn a_second_interruption_ends_it_at_once() {
    let place = Place::new();
    let running = place.start("probe . --budget 30s --file-size 8MiB");
    running.wait_until_written(8 * MIB);
    std::thread::sleep(std::time::Duration::from_millis(3500));
    // Both signals are pending while the program is stopped, so that it can't finish the first
    // before the second.
    running.signal(Signal::STOP);
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    let outcome = running.end_after(Signal::CONT);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(130), ""), "{outcome:?}");
    assert_eq!(place.names(), [""; 0], "nothing was written any more, and the test file is gone");
}

#[test]
fn a_sweep_that_is_interrupted_before_its_first_cell_leaves_nothing() {
    let place = Place::new();
    let running = place.start("sweep . --file-size 2GiB --output cells.csv");
    running.wait_until_written(MIB);
    running.end_after(Signal::INT).refused(130, &["interrupted while the test file was written"]);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_kept_file_that_was_half_written_is_written_again() {
    let place = Place::new();
    let running = place.start("sweep kept --overwrite --file-size 1GiB --block-sizes 4KiB");
    running.wait_until_written(4 * MIB);
    running.end_after(Signal::INT).refused(130, &["interrupted"]);
    assert_eq!(place.names(), ["kept"]);
    let plan = place.nandle("sweep kept --plan --json").done().json();
    assert_eq!(plan["fill_bytes"], 1024 * MIB);
}

#[test]
fn an_interrupted_probe_leaves_a_complete_profile_where_it_is() {
    let place = Place::new();
    place.nandle("probe model:x25-m-g2 --budget 20s").done();
    assert_eq!(place.json("profile.json")["partial"].as_array().unwrap().len(), 0);
    let (profile, report) = (place.read("profile.json"), place.read("report.html"));
    let running = place.start("probe . --budget 12s --file-size 8MiB --profile profile.json");
    running.wait_until_written(8 * MIB);
    std::thread::sleep(std::time::Duration::from_millis(2500));
    let outcome = running.end_after(Signal::INT);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    outcome.says(&["interrupted", "profile.partial.json"]);
    assert!(place.read("profile.json") == profile && place.read("report.html") == report);
    assert!(place.json("profile.partial.json")["partial"].to_string().contains("interrupted"));
    assert_eq!(place.names(), ["profile.json", "profile.partial.json", "report.html", "report.partial.html"]);
}

/// The terminal is gone, and with it the reader of the output.
#[test]
fn a_terminal_that_goes_away_leaves_the_profile_and_no_test_file() {
    let place = Place::new();
    let mut command = place.command_at_terminal("probe . --budget 12s --file-size 8MiB");
    let (reader, writer) = std::io::pipe().unwrap();
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let running = Running::new(command.spawn().unwrap());
    drop(command);
    running.wait_until_written(8 * MIB);
    std::thread::sleep(std::time::Duration::from_millis(2500));
    drop(reader);
    let outcome = running.end_after(Signal::HUP);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert!(!place.json("profile.json")["cells"].as_array().unwrap().is_empty());
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

#[test]
fn a_probe_under_nohup_outlives_its_terminal() {
    let place = Place::new();
    let words = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\"", NANDLE].map(str::to_owned);
    let running =
        Running::new(place.command_of(&words, "probe . --budget 3s --file-size 8MiB").spawn().unwrap());
    running.wait_until_written(8 * MIB);
    running.signal(Signal::HUP);
    let outcome = running.end().done();
    let partial = place.json("profile.json")["partial"].to_string();
    assert!(!partial.contains("interrupted"), "{partial} {outcome:?}");
}
