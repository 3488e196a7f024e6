//! What holds for all of the advice on a device.

use nandle_advise::Product;
use nandle_advise::compare::{Verdict, changes};
use nandle_profile::{DeviceProfile, Interval};

use crate::advice;
use crate::made_up::{DISK, NVME};

fn warnings(profile: &DeviceProfile) -> String {
    advice(profile, Product::Rocksdb, Product::Rocksdb.latest()).remarks.join("\n")
}

#[test]
fn a_burst_that_the_cache_takes_in_says_nothing_of_what_lasts() {
    let said = warnings(&NVME.profile());
    assert!(
        said.contains("taken in at 3 000 MB/s up to 1GiB, then at 600 MB/s; after 5.12 s of rest"),
        "{said}"
    );
    let with = |taken: Interval<f64>| {
        let mut profile = NVME.profile();
        profile.experiments.write_cache.as_mut().unwrap().findings.absorbing_bytes_per_s = Some(taken);
        warnings(&profile)
    };
    assert!(
        !with(Interval { value: 1e9, low: 7e8, high: 1.3e9 }).contains("taken in"),
        "the noise may be all of it"
    );
    let mut without = NVME.profile();
    without.experiments.write_cache = None;
    assert!(!warnings(&without).contains("taken in"));
}

#[test]
fn a_flush_that_finds_a_full_cache_makes_commits_wait() {
    assert!(!warnings(&NVME.profile()).contains("behind many writes"), "three times a commit's time");
    let mut slow = NVME.profile();
    slow.experiments.write_cache.as_mut().unwrap().findings.flush_of_full_cache_ns = Some(900_000_000);
    let said = warnings(&slow);
    assert!(said.contains("A flush behind many writes takes 900 ms, a commit alone 20 us"), "{said}");
    let changed = changes(&NVME.profile(), &slow, 10.0);
    let flush = changed.iter().find(|change| change.name == "flush of a full cache").unwrap();
    assert_eq!(flush.verdict, Verdict::Regressed);
}

/// A commit of 20 us programs no flash, and one of 8.3 ms turns a disk round.
#[test]
fn flushes_that_take_no_time_are_doubted_where_the_cache_is_volatile() {
    let with = |mut profile: DeviceProfile, cache: &str| {
        profile.system.queue.as_mut().unwrap().write_cache = Some(cache.into());
        warnings(&profile)
    };
    assert!(with(NVME.profile(), "write back").contains("protected after all, or flushes are ignored"));
    let disk = with(DISK.profile(), "write back");
    assert!(disk.contains("leave fsync on") && !disk.contains("ignored"), "{disk}");
    assert!(!with(NVME.profile(), "write through").contains("volatile"));
    assert!(!warnings(&NVME.profile()).contains("volatile"), "the kernel says nothing of it");
    let quick_disk = crate::made_up::Drive { flush_ns: 90e3, ..DISK };
    assert!(with(quick_disk.profile(), "write back").contains("ignored"));
}

#[test]
fn figures_of_one_thread_are_told_as_such() {
    assert!(!warnings(&NVME.profile()).contains("One thread"));
    let mut fast = NVME.profile();
    for cell in &mut fast.experiments.scaling.as_mut().unwrap().findings.cells {
        cell.iops = Interval::exact(f64::from(cell.threads) * 1e5);
    }
    let said = warnings(&fast);
    assert!(said.contains("spread reads over 8 threads or processes"), "{said}");
}
