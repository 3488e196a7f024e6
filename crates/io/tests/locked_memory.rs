//! What an ordinary user may lock is little (`RLIMIT_MEMLOCK`): a ring then registers a part of an arena or
//! nothing, says so, and works all the same.
#![allow(clippy::unwrap_used, reason = "a test's way to fail")]

mod common;

use std::process::Command;

use common::{SLOTS, file_in, memory_file, skipped};
use nandle_io::conformance::check;
use nandle_io::{Arena, Io, Uring};

/// Set in the child: how many bytes it may lock.
const LIMIT: &str = "NANDLE_TEST_LOCKED_BYTES";

/// Runs this test file's ignored test in a process that may lock only `bytes`, as a user without privileges.
fn in_a_child_that_may_lock(bytes: u64) {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        // Not as root, whose privilege it is to lock at will; and as a user of its own, because the system counts
        // by user.
        let user = (1 << 20) + std::process::id() % (1 << 20);
        child.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
        child.args(["--bounding-set=-all", "--inh-caps=-all"]);
    }
    child.arg("prlimit").arg(format!("--memlock={bytes}")).arg(program);
    child.args(["--exact", "the_child", "--ignored", "--nocapture"]).env(LIMIT, bytes.to_string());
    match child.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("1 passed"), "{said}{complaints}");
        }
        Err(error) => skipped("little locked memory; it takes setpriv and prlimit", &error),
    }
}

#[test]
fn nothing_may_be_locked() {
    in_a_child_that_may_lock(0);
}

#[test]
fn eight_mebibytes_may_be_locked() {
    in_a_child_that_may_lock(8 << 20);
}

#[test]
#[ignore = "runs in a child of the other tests"]
fn the_child() {
    let Some(limit) = std::env::var(LIMIT).ok().and_then(|bytes| bytes.parse::<usize>().ok()) else { return };
    let Ok(mut ring) = Uring::new(SLOTS) else { return };
    let (large, small) = (Arena::new(32 << 20).unwrap(), Arena::new(4096).unwrap());
    let registered = ring.register(&large);
    assert!(registered <= limit && registered >= limit / 4, "{registered} of {limit}");
    assert!(ring.register(&small) <= limit);
    let complaints = ring.backend().stepped_down;
    assert!(complaints.iter().any(|complaint| complaint.contains("RLIMIT_MEMLOCK")), "{complaints:?}");
    let disk_file = file_in(&std::env::temp_dir(), 4 << 20, true);
    for file in [disk_file, memory_file()] {
        let device = ring.add(file);
        check(&mut ring, &device, 11);
    }
}
