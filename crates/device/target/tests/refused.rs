//! Refused `io_uring`. This test has its own program, since it revokes the whole process's right to
//! open files.

mod common;

use common::{open, read_options};
use nandle_target::{IoChoice, OpenOptions, Problem};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

#[test]
fn a_refused_ring_falls_back_to_threads_unless_requested() {
    let directory = tempfile::tempdir().unwrap();
    let automatic = open(directory.path(), &read_options()).unwrap();
    let forced = open(directory.path(), &OpenOptions { io: IoChoice::Uring, ..read_options() }).unwrap();

    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..limit }).unwrap();
    let (automatic, forced) = (automatic.io(2), forced.io(2));
    setrlimit(Resource::Nofile, limit).unwrap();

    let error = forced.unwrap_err();
    assert!(matches!(error.problem, Problem::NoRing { .. }) && !error.is_usage(), "{error}");
    assert!(error.to_string().contains("--io"), "{error}");
    let opened = automatic.unwrap();
    let backend = opened.backend();
    assert_eq!(backend.io, "threads");
    assert!(backend.stepped_down.iter().any(|line| line.contains("io_uring is refused")), "{backend:?}");
    common::write_and_read(opened);
}
