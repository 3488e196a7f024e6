//! The page in a real browser, following an airport manager's tasks. `NANDLE_SCREENSHOTS=FOLDER`
//! saves screenshots.

use std::process::Command;

use super::site::Site;

/// Runs a part of `browser/manager.py` against a server of its own.
#[track_caller]
fn run(part: &str, arguments: &[&str]) {
    if std::env::var_os("NANDLE_SKIP_BROWSER").is_some_and(|value| value == "1") {
        eprintln!("skipped: NANDLE_SKIP_BROWSER is set");
        return;
    }
    let Some(python) = std::env::var_os("NANDLE_PYARROW") else {
        eprintln!("skipped: NANDLE_PYARROW names no Python with playwright and axe-playwright-python");
        return;
    };
    let site = Site::start(arguments);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/program/dashboard/browser/manager.py");
    let address = format!("http://127.0.0.1:{}", site.port);
    // Inherits the output, so that it appears immediately and in order.
    let status = Command::new(python).args(["-B", script, part, &address]).status().unwrap();
    assert!(status.success(), "{part}: {status}; what it is about stands above");
}

#[test]
fn a_manager_comes_from_the_start_page_to_a_city_pair_and_back() {
    run("story", &[]);
}

#[test]
fn the_keyboard_alone_is_enough() {
    run("keyboard", &[]);
}

#[test]
fn the_map_has_what_the_table_has() {
    run("map_points", &[]);
}

#[test]
fn tabs_that_are_not_seen_leave_their_connections_to_others() {
    run("tabs", &[]);
}

#[test]
fn what_is_open_and_has_the_focus_keeps_it_when_there_are_new_data() {
    run("news", &[]);
}

#[test]
fn what_could_not_begin_begins_when_it_is_tried_again() {
    run("begun_again", &[]);
}

#[test]
fn the_page_fits_phones_and_walls_light_and_dark_and_has_no_barriers() {
    run("looks", &[]);
}

#[test]
fn a_token_opens_the_page() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "a-token-of-27-plain-letters\n").unwrap();
    run("sign_in", &["--token-file", file.path().to_str().unwrap()]);
}
