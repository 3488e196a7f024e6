//! A device that stops responding: a frozen file system blocks every write until it is thawed.

use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::process::Command;

use crate::common::{MIB, Place, Running, program_exists, skip};

const SET_UP: &str =
    "truncate -s 64M image && mkfs.ext4 -q -F image && mkdir mounted && mount -o loop image mounted";
const SWEEP: &str = "sweep mounted --operation write --file-size 16MiB --patterns random --block-sizes 16KiB \
                     --queue-depths 4 --time-per-run 20s --patience 1s";

/// Frozen file system, thawed on drop even if the test failed.
struct Frozen {
    root: File,
}

impl Frozen {
    /// Freezes the program's mount, which needn't exist in this namespace.
    fn new(running: &Running, place: &Place) -> Self {
        let path = place.path("mounted");
        let root = File::open(format!("/proc/{}/root{}", running.id(), path.display())).unwrap();
        let frozen = Self { root };
        assert!(frozen.fsfreeze("--freeze"));
        frozen
    }

    fn fsfreeze(&self, what: &str) -> bool {
        let path = format!("/proc/{}/fd/{}", std::process::id(), self.root.as_raw_fd());
        Command::new("fsfreeze").args([what, &path]).status().is_ok_and(|status| status.success())
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        self.fsfreeze("--unfreeze");
    }
}

fn is_given_up_with_what_was_outstanding(io: &str) {
    if !program_exists("fsfreeze") {
        return skip("there is no fsfreeze");
    }
    let place = Place::new();
    let arguments = format!("{SWEEP} --io {io}");
    let Some(mut command) = place.command_after(SET_UP, &arguments) else { return };
    let errors = File::create(place.path("errors")).unwrap();
    let running = Running::new(command.stderr(errors).spawn().unwrap());
    running.wait_until("it writes", || {
        running.has_ended() || running.disk_bytes().is_some_and(|(_, written)| written > 32 * MIB)
    });
    if running.has_ended() {
        let outcome = running.end();
        assert!(!place.was_set_up(&outcome), "{outcome:?}");
        return;
    }
    let frozen = Frozen::new(&running, &place);
    let said = || fs::read_to_string(place.path("errors")).unwrap();
    running.wait_until("the device is given up", || said().contains("not answered"));
    drop(frozen);
    assert_eq!(running.end().code, Some(1));
    for part in
        ["mounted: random write 16KiB, depth 4: ", "4 requests are outstanding", "write at offset", "dmesg"]
    {
        assert!(said().contains(part), "{part:?} is missing in {}", said());
    }
}

#[test]
fn it_is_given_up_by_io_uring() {
    is_given_up_with_what_was_outstanding("auto");
}

#[test]
fn it_is_given_up_by_threads() {
    is_given_up_with_what_was_outstanding("threads");
}
