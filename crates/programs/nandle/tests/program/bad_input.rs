use std::fs;

use crate::common::{MIB, ONE_CELL, Place};

#[test]
fn a_target_that_is_not_there_names_what_is() {
    let place = Place::new();
    for command in ["probe", "sweep"] {
        place
            .nandle(&format!("{command} no/such/place"))
            .refused(2, &["no/such/place", "nearest directory", "is ."]);
    }
    let here = place.path("").display().to_string();
    let here = here.trim_end_matches('/');
    place
        .nandle(&format!("probe {here}/none"))
        .refused(2, &[&format!("{here}/none"), &format!("is {here},")]);
    place.nandle("probe").refused(2, &["<TARGET>", "Usage"]);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_target_that_is_no_storage_is_refused() {
    let place = Place::new();
    place.nandle("probe /dev/null").refused(2, &["/dev/null", "character device", "expected a directory"]);
    std::os::unix::fs::symlink("nowhere", place.path("link")).unwrap();
    place.nandle("probe link").refused(2, &["link", "symbolic link to nowhere"]);
    place.nandle("probe raid0:64KiB").refused(2, &["raid0:64KiB", "names no members"]);
}

#[test]
fn a_name_that_is_no_text_is_a_name_all_the_same() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9");
    fs::create_dir(place.path("").join(name)).unwrap();
    let outcome = place.command(&format!("sweep {ONE_CELL}")).arg(name).output().unwrap();
    crate::common::Outcome::from(outcome).done();
}

#[test]
fn files_that_tell_nothing_of_a_device_are_refused() {
    let place = Place::new();
    place.write("empty", "");
    place.nandle("probe empty").refused(2, &["empty", "0B", "at least 1MiB"]);
    place.write_noise("small", 64 << 10);
    place.nandle("probe small").refused(2, &["small", "64KiB", "at least 1MiB"]);
    fs::File::create(place.path("sparse")).unwrap().set_len(4 * MIB).unwrap();
    place.nandle("probe sparse").refused(2, &["sparse", "hole of 4MiB", "cp --sparse=never"]);
    place.nandle("sweep . --file-size 0").refused(2, &[".", "--file-size"]);
    place.nandle("sweep . --file-size 64KiB").refused(2, &[".", "64KiB", "--file-size"]);
    assert_eq!(place.names(), ["empty", "small", "sparse"]);
}

#[test]
fn blocks_that_direct_requests_can_not_have_are_refused_with_what_they_can() {
    let place = Place::new();
    let sweep = "sweep . --file-size 4MiB --queue-depths 1 --bytes-per-run 64KiB";
    let outcome = place.nandle(&format!("{sweep} --block-sizes 4KiB,12345"));
    if outcome.code == Some(0) && outcome.stderr.contains("no direct I/O") {
        return crate::common::skip("there is no direct I/O on the disk of the build");
    }
    outcome.refused(2, &[".: ", "12345B", "multiples of", "--block-sizes"]);
    place.nandle(&format!("{sweep} --block-sizes 12345 --buffered")).done();
}

#[test]
fn lists_without_sense_are_refused() {
    let place = Place::new();
    let refused = |options: &str, parts: &[&str]| {
        place.nandle(&format!("sweep . --file-size 4MiB {options}")).refused(2, parts);
    };
    refused("--queue-depths 0", &["--queue-depths", "at least 1"]);
    refused("--queue-depths 1,0", &["--queue-depths", "at least 1"]);
    refused("--group-sizes 0", &["--group-sizes", "at least 1"]);
    refused("--block-sizes 0", &["--block-sizes", "at least 1"]);
    refused("--block-sizes=", &["--block-sizes", "4KiB"]);
    refused("--block-sizes 4KB", &["4KB", "4KiB"]);
    refused("--queue-depths -1", &["-1"]);
    refused("--patterns=", &["--patterns"]);
    refused("--block-sizes 64MiB", &[".: ", "64MiB", "4MiB", "--file-size"]);
    refused("--patience 0", &["--patience", "above 0"]);
}

#[test]
fn budgets_too_short_for_anything_are_refused() {
    let place = Place::new();
    place.nandle("probe . --budget 10ms").refused(2, &["--budget 10ms", "minimum is 1s", "60s"]);
    place.nandle("probe . --budget 60").refused(2, &["--budget", "60s"]);
    place.nandle("probe . --patience 0").refused(2, &["--patience", "above 0"]);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn unknown_words_are_answered_with_help() {
    let place = Place::new();
    place.nandle("prob .").refused(2, &["prob", "probe"]);
    place.nandle("probe . --bugdet 5s").refused(2, &["--bugdet", "--budget"]);
    place.nandle("").refused(2, &["Usage"]);
}
