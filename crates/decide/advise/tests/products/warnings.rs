//! Remarks on the device that apply to all advice.

use nandle_advise::Product;
use nandle_advise::compare::{Outcome, changes};
use nandle_profile::{DeviceProfile, Interval};

use crate::advice;
use crate::made_up::{DISK, NVME};

fn warnings(profile: &DeviceProfile) -> String {
    advice(profile, Product::Rocksdb, Product::Rocksdb.latest()).remarks.join("\n")
}

#[test]
fn burst_within_the_cache_has_a_warning() {
    let said = warnings(&NVME.profile());
    assert!(
        said.contains("absorbed at 3 000 MB/s up to 1GiB, then continue at 600 MB/s; it recovers in 5.12 s"),
        "{said}"
    );
    let with = |taken: Interval<f64>| {
        let mut profile = NVME.profile();
        profile.experiments.write_cache.as_mut().unwrap().findings.absorbing_bytes_per_s = Some(taken);
        warnings(&profile)
    };
    assert!(
        !with(Interval { value: 1e9, low: 7e8, high: 1.3e9 }).contains("absorbed at"),
        "the noise may be all of it"
    );
    let mut without = NVME.profile();
    without.experiments.write_cache = None;
    assert!(!warnings(&without).contains("absorbed at"));
}

#[test]
fn flush_of_a_full_cache_delays_commits() {
    assert!(!warnings(&NVME.profile()).contains("after many writes"), "three times a commit's time");
    let mut slow = NVME.profile();
    slow.experiments.write_cache.as_mut().unwrap().findings.flush_of_full_cache_ns = Some(900_000_000);
    let said = warnings(&slow);
    assert!(said.contains("A flush after many writes takes 900 ms, a single commit 20 us"), "{said}");
    let changed = changes(&NVME.profile(), &slow, 10.0);
    let flush = changed.iter().find(|change| change.name == "flush of a full cache").unwrap();
    assert_eq!(flush.verdict, Outcome::Regressed);
}

/// A commit of 20 us is too fast for flash; one of 8.3 ms takes a rotation of a disk.
#[test]
fn too_fast_flushes_of_a_volatile_cache_are_doubted() {
    let with = |mut profile: DeviceProfile, cache: &str| {
        profile.system.queue.as_mut().unwrap().write_cache = Some(cache.into());
        warnings(&profile)
    };
    assert!(with(NVME.profile(), "write back").contains("protected, or flushes are ignored"));
    let disk = with(DISK.profile(), "write back");
    assert!(disk.contains("leave fsync on") && !disk.contains("ignored"), "{disk}");
    assert!(!with(NVME.profile(), "write through").contains("volatile"));
    assert!(!warnings(&NVME.profile()).contains("volatile"), "the kernel says nothing of it");
    let quick_disk = crate::made_up::Drive { flush_ns: 90e3, ..DISK };
    assert!(with(quick_disk.profile(), "write back").contains("ignored"));
}

#[test]
fn single_thread_limit_has_a_warning() {
    assert!(!warnings(&NVME.profile()).contains("One thread"));
    let mut fast = NVME.profile();
    for cell in &mut fast.experiments.scaling.as_mut().unwrap().findings.cells {
        cell.iops = Interval::exact(f64::from(cell.threads) * 1e5);
    }
    let said = warnings(&fast);
    assert!(said.contains("spread reads over 8 threads or processes"), "{said}");
}
