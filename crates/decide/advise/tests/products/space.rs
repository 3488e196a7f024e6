//! Allocation and discard of space.

use nandle_advise::Product;
use nandle_advise::settings::{Confidence, Setting};
use nandle_profile::experiments::ArrayLayout;
use nandle_profile::{Conducted, DeviceProfile, FileSystem, Interval, ReferenceCell};
use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::advice;
use crate::made_up::{DISK, NVME};

const DISCARD: &str = "/sys/block/$device/queue/discard_max_bytes";
const PARTITION: &str = "parted -s /dev/$device mklabel gpt mkpart data 1MiB";

fn setting(profile: &DeviceProfile, name: &str) -> Option<Setting> {
    advice(profile, Product::Linux, Product::Linux.latest()).setting(name).cloned()
}

fn with_noise(mut profile: DeviceProfile, variation: f64) -> DeviceProfile {
    profile.conditions.reference = Some(ReferenceCell {
        block_bytes: 4096,
        queue_depth: 1,
        slices: 10,
        bandwidth_bytes_per_s: 1e6,
        variation,
        series: Vec::new(),
    });
    profile
}

fn with_discards(mut profile: DeviceProfile, tails_ns: &[u64]) -> DeviceProfile {
    let found = &mut profile.experiments.discard.as_mut().unwrap().findings;
    for (row, ns) in found.discards.iter_mut().zip(tails_ns) {
        row.latency_ns.p99 = Some(*ns);
    }
    profile
}

/// A gain of 1.5 for 0.95 / 0.7 of the space. Half the device gains 1.8 for 1.9 of the space.
#[test]
fn space_is_left_free_if_the_gain_exceeds_the_cost() {
    let partition = |profile: &DeviceProfile| setting(profile, PARTITION).unwrap();
    let told = partition(&NVME.profile());
    assert_eq!(told.value, "70%");
    assert!(told.only_a_comment.unwrap().contains("destroys"), "a script that partitions loses data");
    assert_eq!(partition(&with_noise(NVME.profile(), 0.1)).value, "100%", "by its lower bound it gains less");
    assert!(setting(&DISK.profile(), PARTITION).is_none(), "a disk takes nothing back");
}

/// 16 MiB take 40 ms, and 1 MiB takes 3 ms.
#[test]
fn long_discards_are_split() {
    let told = setting(&NVME.profile(), DISCARD).unwrap();
    assert_eq!((told.value.as_str(), told.only_a_comment), ("1048576", None));
    let short =
        setting(&with_discards(NVME.profile(), &[50_000, 60_000, 3_000_000, 5_000_000]), DISCARD).unwrap();
    assert!(short.only_a_comment.unwrap().contains("takes longer"));
    let noisy = setting(&with_noise(NVME.profile(), 2.0), DISCARD).unwrap();
    assert_eq!(noisy.value, "65536", "1 MiB may take 15 ms");
    assert!(setting(&DISK.profile(), DISCARD).is_none());
    let mut coarse = NVME.profile();
    coarse.system.queue.as_mut().unwrap().discard_granularity_bytes = Some(2 << 20);
    assert_eq!(setting(&coarse, DISCARD).unwrap().value, "2097152", "the kernel refuses parts of a unit");
}

#[test]
fn discard_in_a_file_has_low_confidence() {
    let mut profile = NVME.profile();
    profile.system.file_system = Some(FileSystem { kind: "ext4".into(), ..FileSystem::default() });
    let told = setting(&profile, DISCARD).unwrap();
    assert_eq!(told.confidence, Confidence::Low);
    assert!(told.only_a_comment.is_some() && told.confidence_reason.contains("file system"), "{told:?}");
}

#[test]
fn online_discard_needs_undisturbed_reads() {
    let weekly = "systemctl enable --now";
    assert!(setting(&NVME.profile(), "mount -o remount,discard").is_some());
    assert!(
        setting(&with_noise(NVME.profile(), 0.1), weekly).is_some(),
        "half as long again may be 2.25 times"
    );
    let mut slow = NVME.profile();
    slow.experiments.discard.as_mut().unwrap().findings.read_latency_beside_ns.p99 = Some(10_000_000);
    assert!(setting(&slow, weekly).unwrap().rule.contains("without the option discard"));
}

fn array(share: Interval<f64>) -> DeviceProfile {
    let mut profile = NVME.profile();
    let found: Conducted<ArrayLayout> = serde_json::from_value(serde_json::json!({
        "complete": true, "ended_by": null, "elapsed_ns": 1, "bytes_written": 0, "remarks": [],
        "findings": { "block_bytes": 4096, "queue_depth": 128, "observations": 10_000, "chunk_bytes": 1 << 20, "members": 4,
            "one_member_share": share, "candidates": [] },
    }))
    .unwrap();
    profile.experiments.array_layout = Some(found);
    profile
}

/// Four members with chunks of 1 MiB: 256 and 1024 blocks of 4 KiB, and a stripe of 4 MiB for
/// read-ahead.
#[test]
fn file_system_gets_the_layout_of_the_array() {
    let read_ahead =
        |profile: &DeviceProfile| setting(profile, "/sys/block/$device/queue/read_ahead_kb").unwrap();
    let sure = array(Interval { value: 0.3, low: 0.28, high: 0.33 });
    assert!(setting(&sure, "mkfs.ext4 -E").is_none(), "a flash drive's channels look the same");
    let mut stated = sure.clone();
    stated.system.queue.as_mut().unwrap().optimal_io_bytes = Some(4 << 20);
    let told = setting(&stated, "mkfs.ext4 -E").unwrap();
    assert_eq!(told.value, "stride=256,stripe_width=1024 /dev/$device");
    assert!(told.remarks.join(" ").contains("mkfs.xfs -d su=1024k,sw=4"), "{told:?}");
    assert!(told.only_a_comment.unwrap().contains("from the kernel") && told.confidence == Confidence::High);
    assert_eq!(read_ahead(&sure).value, "4096");
    let unsure = array(Interval { value: 0.7, low: 0.4, high: 1.1 });
    assert!(setting(&unsure, "mkfs.ext4 -E").is_none());
    let mut disks = sure.clone();
    disks.derived.random_read_latency_ns = Some(9_000_000);
    assert!(setting(&disks, "mkfs.ext4 -E").is_some(), "what turns has no channels");
    assert_eq!(read_ahead(&unsure), read_ahead(&NVME.profile()));
    assert!(setting(&NVME.profile(), "mkfs.ext4 -E").is_none());
}

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    /// The value is a measured size, and no smaller one surely takes longer than a larger one.
    #[test]
    fn noise_never_leads_to_an_unmeasured_discard_size(
        tails_ns in prop::array::uniform4(1_000_u64..1_000_000_000),
        after in prop::array::uniform3(0.0..1e10_f64),
        variation in 0.0..1.0_f64,
    ) {
        let mut profile = with_noise(with_discards(NVME.profile(), &tails_ns), variation);
        let levels = &mut profile.experiments.fill_level.as_mut().unwrap().findings.levels;
        for (level, rate) in levels.iter_mut().zip(after) {
            level.changes[0].after_bytes_per_s = rate;
        }
        let discard = setting(&profile, DISCARD).unwrap();
        prop_assert!(["4096", "65536", "1048576", "16777216"].contains(&discard.value.as_str()), "{discard:?}");
        let partition = setting(&profile, PARTITION);
        if let Some(partition) = partition {
            prop_assert!(["50%", "70%", "100%"].contains(&partition.value.as_str()), "{partition:?}");
            prop_assert!(partition.only_a_comment.is_some());
        }
    }
}
