//! Output paths are checked before anything is measured, so a refusal is immediate.

use std::time::{Duration, Instant};

use crate::common::{MIB, Outcome, Place};

/// A long probe.
const LONG: &str = "probe . --budget 20s --file-size 1MiB";

/// Runs a command that must be refused immediately.
#[track_caller]
fn at_once(place: &Place, arguments: &str) -> Outcome {
    let began = Instant::now();
    let outcome = place.nandle(arguments);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}: {arguments}", began.elapsed());
    outcome
}

#[test]
fn foreign_files_are_left_alone() {
    let place = Place::new();
    let binary: Vec<u8> = (0..=255).collect();
    for (name, contents) in [
        ("notes.txt", b"my notes".as_slice()),
        ("other.json", b"{\"made_by\": \"another program\"}"),
        ("binary", &binary),
        ("damaged.json", b"{\"made_by\": \"nandle 0.1.0\", \"cells\": ["),
    ] {
        place.write(name, contents);
        for option in ["--profile", "--report"] {
            at_once(&place, &format!("{LONG} {option} {name}"))
                .refused(2, &[name, "left alone", "name another"]);
        }
        assert_eq!(place.read(name), contents);
    }
    assert_eq!(place.names(), ["binary", "damaged.json", "notes.txt", "other.json"]);
}

#[test]
fn a_huge_foreign_file_is_not_read_whole() {
    let place = Place::new();
    // Sparse file larger than any process's memory.
    let file = std::fs::File::create(place.path("huge")).unwrap();
    file.set_len(1 << 43).unwrap();
    for option in ["--profile", "--report"] {
        at_once(&place, &format!("{LONG} {option} huge")).refused(2, &["huge", "left alone"]);
    }
}

#[test]
fn an_empty_file_may_be_written() {
    let place = Place::new();
    place.write("p.json", "");
    place.nandle("probe . --budget 1s --file-size 4MiB --profile p.json").done();
    assert_eq!(place.json("p.json")["target"], place.name());
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let place = Place::new();
    std::fs::create_dir(place.path("directory")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, place.path("pipe"), fifo, 0o600.into(), 0).unwrap();
    for option in ["--profile", "--report"] {
        at_once(&place, &format!("{LONG} {option} directory")).refused(2, &["directory", "name a file"]);
        at_once(&place, &format!("{LONG} {option} pipe"))
            .refused(2, &["pipe", "no regular file", "name a file"]);
        at_once(&place, &format!("{LONG} {option} no/such/file")).refused(2, &["no/such", "no directory"]);
        at_once(&place, &format!("{LONG} {option} .")).refused(2, &["name a file"]);
    }
    assert_eq!(place.names(), ["directory", "pipe"]);
}

#[test]
fn a_place_that_takes_no_files_is_known_before_the_measuring() {
    let place = Place::new();
    for option in ["--profile", "--report"] {
        at_once(&place, &format!("{LONG} {option} /proc/self/result")).refused(2, &["/proc/self/result"]);
    }
    at_once(&place, "sweep . --output /proc/self/cells.csv --file-size 1MiB")
        .refused(2, &["/proc/self/cells.csv"]);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn profile_and_report_are_two_files() {
    let place = Place::new();
    at_once(&place, &format!("{LONG} --profile both --report both"))
        .refused(2, &["both", "--profile", "--report"]);
    at_once(&place, &format!("{LONG} --profile both --report ./both")).refused(2, &["both"]);
}

#[test]
fn a_link_stays_a_link() {
    let place = Place::new();
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere/p.json", place.path("link.json")).unwrap();
    for _ in 0..2 {
        place.nandle("probe . --budget 1s --file-size 4MiB --profile link.json").done();
        assert!(std::fs::symlink_metadata(place.path("link.json")).unwrap().is_symlink());
        assert_eq!(place.json("elsewhere/p.json")["target"], place.name());
    }
}

#[test]
fn a_target_is_no_place_for_results() {
    let place = Place::new();
    let contents = place.write_noise("data", 2 * MIB);
    at_once(&place, "probe data --budget 20s --profile data").refused(2, &["data", "left alone"]);
    at_once(&place, "probe data --budget 20s --report data").refused(2, &["data", "left alone"]);
    assert!(place.read("data") == contents);
}

#[test]
fn a_sweeps_output_replaces_nothing() {
    let place = Place::new();
    place.write("cells.csv", "mine");
    at_once(&place, "sweep . --output cells.csv").refused(2, &["cells.csv", "already", "--resume cells.csv"]);
    at_once(&place, "sweep . --output cells.txt").refused(2, &["cells.txt", ".csv or .json"]);
    at_once(&place, "sweep . --output no/such/cells.csv").refused(2, &["no/such", "no directory"]);
    at_once(&place, "sweep . --output .").refused(2, &["name"]);
    assert_eq!(place.read("cells.csv"), b"mine");
    assert_eq!(place.names(), ["cells.csv"]);
}
