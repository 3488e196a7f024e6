//! Trials in `PostgreSQL` leave nothing behind, however they end.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::{Place, Running, skip};

const TRIAL: &str = "advise profile.json --for postgresql --verify --on . --verify-pairs 6 --verify-data 16MiB \
                     --sessions 2 --no-progress";

/// Place with a profile that the server's user can reach; `None` if there is no server.
fn place() -> Option<Place> {
    let wanted = !std::env::var("NANDLE_SKIP_POSTGRESQL").is_ok_and(|value| value == "1");
    if !wanted || !fs::exists("/usr/lib/postgresql").unwrap() {
        skip("no PostgreSQL here; install the Debian package postgresql");
        return None;
    }
    let place = Place::for_everybody();
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    place.nandle("probe model:x25-e-64 --budget 60s --read-only").done();
    Some(place)
}

/// Returns true if a process has this place among its arguments.
fn works_there(place: &Place) -> bool {
    let name = place.name();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| fs::read(process.path().join("cmdline")).ok())
        .any(|words| String::from_utf8_lossy(&words).contains(&name))
}

fn is_clean(place: &Place) -> bool {
    place.names() == ["profile.json", "report.html"]
}

/// Starts a trial and waits until its server runs.
fn with_a_server(place: &Place) -> Running {
    // Leftovers of a killed program are deleted with the place.
    let started = place.command(TRIAL).env("TMPDIR", place.path("")).spawn();
    let running = Running::new(started.unwrap());
    running.wait_until("a server runs", || {
        let homes = fs::read_dir(place.path("")).unwrap().flatten();
        homes.into_iter().any(|home| home.path().join("data/postmaster.pid").exists())
    });
    running
}

#[test]
fn a_trial_prints_both_sides_and_leaves_nothing() {
    let Some(place) = place() else { return };
    let outcome = place.nandle(&format!("{TRIAL} --workload olap")).done();
    for part in ["Tried on this machine", "defaults", "advice", "Advice by defaults"] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert!(is_clean(&place), "{:?}", place.names());
    assert!(!works_there(&place));
}

#[test]
fn ctrl_c_stops_the_server_and_takes_its_files_away() {
    let Some(place) = place() else { return };
    let running = with_a_server(&place);
    running.signal(Signal::INT);
    let outcome = running.end();
    outcome.refused(130, &["interrupted"]);
    assert!(is_clean(&place), "{:?}", place.names());
    assert!(!works_there(&place));
}

/// The files stay, since nothing is left to delete them; the server ends.
#[test]
fn the_server_ends_with_a_program_that_is_killed() {
    let Some(place) = place() else { return };
    let running = with_a_server(&place);
    running.signal(Signal::KILL);
    running.end();
    let killed = Instant::now();
    while works_there(&place) {
        assert!(killed.elapsed() < Duration::from_secs(30), "the server still runs");
        std::thread::sleep(Duration::from_millis(50));
    }
}
