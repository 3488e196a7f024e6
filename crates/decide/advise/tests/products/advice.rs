use nandle_advise::settings::{Confidence, Question, RuleSource, Version, Workload};
use nandle_advise::{Product, advise, fragment};

use crate::made_up::{DISK, NVME};
use crate::{advice, question};

fn value(drive: &crate::made_up::Drive, product: Product, name: &str) -> String {
    let advice = advice(&drive.profile(), product, product.latest());
    advice.setting(name).unwrap_or_else(|| panic!("{name}: {:?}", advice.missing)).value.clone()
}

#[test]
fn complete_profile_supports_every_setting() {
    for product in Product::ALL {
        for drive in [DISK, NVME] {
            let advice = advice(&drive.profile(), product, product.latest());
            assert_eq!(advice.missing, [], "{product}");
            assert!(advice.settings().count() >= 5, "{product}");
        }
    }
}

#[test]
fn disk_and_solid_state_drive_get_different_advice() {
    let both = |product, name| (value(&DISK, product, name), value(&NVME, product, name));
    let numbers = |product, name| {
        let (disk, nvme) = both(product, name);
        (disk.parse::<f64>().unwrap(), nvme.parse::<f64>().unwrap())
    };
    // A knee of 64 leaves 4 to each of 16 sessions, and a disk's knee of 2 leaves 1. The default,
    // 16, hurts neither.
    assert_eq!(numbers(Product::Postgresql, "effective_io_concurrency"), (16.0, 16.0));
    // Half of 8.3 ms and of 20 us; the mean is a tenth above the median.
    assert_eq!(numbers(Product::Postgresql, "commit_delay"), (4565.0, 11.0));
    let (disk, nvme) = numbers(Product::Postgresql, "random_page_cost");
    assert!(disk > 10.0 && nvme < 2.0, "{disk} {nvme}");
    assert_eq!(both(Product::Postgresql, "checkpoint_flush_after"), ("2MB".into(), "256kB".into()));
    assert_eq!(numbers(Product::Mariadb, "innodb_flush_neighbors"), (1.0, 0.0));
    // Three tenths of the sure 570 MB/s of the steady state, in pages of 16 KiB; the minimum is
    // 100.
    assert_eq!(numbers(Product::Mariadb, "innodb_io_capacity"), (100.0, 10_437.0));
    // The disk surely writes 1.14 MB/s in blocks of 4 KiB. Pages of 16 KiB cost as much or a tenth
    // less: 278 / 1.105.
    assert_eq!(numbers(Product::Mariadb, "innodb_io_capacity_max"), (252.0, 34_790.0));
    assert_eq!(
        both(Product::Linux, "/sys/block/$device/queue/scheduler"),
        ("mq-deadline".into(), "none".into())
    );
}

/// Virtual disks report themselves as rotational; only measurements count.
#[test]
fn measurement_overrides_the_rotational_flag() {
    let called_rotational = crate::made_up::Drive { rotational: true, ..NVME };
    assert_eq!(value(&called_rotational, Product::Linux, "/sys/block/$device/queue/scheduler"), "none");
}

#[test]
fn durability_and_torn_page_protection_are_never_given_up() {
    for drive in [DISK, NVME] {
        assert_eq!(value(&drive, Product::Postgresql, "full_page_writes"), "on");
        assert_eq!(value(&drive, Product::Mariadb, "innodb_doublewrite"), "ON");
        assert_eq!(value(&drive, Product::Mysql, "innodb_doublewrite"), "ON");
        assert_eq!(value(&drive, Product::Sqlite, "synchronous"), "FULL");
        for product in Product::ALL {
            let text = fragment(&advice(&drive.profile(), product, product.latest()));
            let set: String = text.lines().filter(|line| !line.starts_with(['#', '-'])).collect();
            for given_up in
                ["fsync = off", "synchronous_commit", "trx_commit", "nosync", "NO_FSYNC", "NORMAL"]
            {
                assert!(!set.contains(given_up), "{given_up}: {set}");
            }
        }
    }
}

#[test]
fn tail_latency_decides_between_commit_methods() {
    assert_eq!(value(&NVME, Product::Postgresql, "wal_sync_method"), "open_datasync");
    let mut profile = NVME.profile();
    for commit in &mut profile.experiments.flush.as_mut().unwrap().findings.commits {
        commit.latency_ns.p99 = None;
    }
    let advice = advice(&profile, Product::Postgresql, Version::new(15, 0));
    assert_eq!(advice.setting("wal_sync_method").unwrap().value, "fdatasync");
}

#[test]
fn partial_profile_gives_supported_settings_and_lists_the_rest() {
    let advice = advice(&NVME.read_side(), Product::Postgresql, Version::new(18, 0));
    assert!(advice.setting("effective_io_concurrency").is_some());
    let missing: Vec<&str> = advice.missing.iter().map(|missing| missing.setting).collect();
    assert!(missing.contains(&"commit_delay") && missing.contains(&"wal_skip_threshold"), "{missing:?}");
    assert!(advice.missing.iter().all(|missing| missing.how.contains("nandle probe")));
    let text = fragment(&advice);
    assert!(text.contains("Settings that this profile doesn't support"), "{text}");
}

#[test]
fn every_setting_shows_figures_rule_and_confidence() {
    for product in Product::ALL {
        let advice = advice(&NVME.profile(), product, product.latest());
        let text = fragment(&advice);
        for setting in advice.settings() {
            assert!(text.contains(&setting.name), "{text}");
            let measured = setting.figures.iter().all(|figure| !figure.says.is_empty());
            let is_device_independent = setting.confidence_reason.contains("independent of the device");
            assert!(measured && (!setting.figures.is_empty() || is_device_independent), "{setting:?}");
            assert!(!setting.rule.is_empty() && !setting.confidence_reason.is_empty(), "{setting:?}");
        }
    }
}

#[test]
fn contested_setting_shows_both_numbers() {
    let advice = advice(&NVME.profile(), Product::Postgresql, Version::new(18, 0));
    let cost = advice.setting("random_page_cost").unwrap();
    assert_eq!((cost.rule_source, cost.confidence), (RuleSource::Contested, Confidence::Low));
    assert_eq!(cost.figures.len(), 3, "at depth 1, at the knee and with as many as there are sessions");
    assert!(cost.remarks.iter().any(|remark| remark.contains("1.1") && remark.contains("25 to 35")));
    assert!(cost.rule.contains("10 %"), "the share that misses the caches: {}", cost.rule);
}

#[test]
fn sessions_workload_and_memory_change_the_advice() {
    let advised = |question: Question| advise(&NVME.profile(), &question).unwrap();
    let base = question(Product::Postgresql, Version::new(18, 0));
    let few = advised(Question { sessions: 2, ..base.clone() });
    assert_eq!(few.setting("effective_io_concurrency").unwrap().value, "32");
    let olap = advised(Question { workload: Workload::Olap, ..base.clone() });
    assert_eq!(olap.setting("commit_delay").unwrap().value, "0");
    let unknown = advised(Question { memory_bytes: None, ..base.clone() });
    assert!(unknown.setting("shared_buffers").is_none());
    assert_eq!(advised(base).setting("shared_buffers").unwrap().value, "256MB");
}

#[test]
fn old_versions_are_refused_and_new_ones_remarked() {
    let old = question(Product::Postgresql, Version::new(9, 6));
    assert!(advise(&NVME.profile(), &old).unwrap_err().to_string().contains("9.6"));
    let new = advice(&NVME.profile(), Product::Postgresql, Version::new(42, 0));
    assert!(new.remarks.iter().any(|remark| remark.contains("newer than the latest")), "{:?}", new.remarks);
}

/// The rule gives the disk 76 pages a second: three tenths of its sure steady state. The server's
/// minimum is above that.
#[test]
fn value_raised_to_the_servers_minimum_has_a_remark() {
    let remarks = |drive: &crate::made_up::Drive, name: &str| {
        let advice = advice(&drive.profile(), Product::Mysql, Product::Mysql.latest());
        advice.setting(name).unwrap().remarks.join(" ")
    };
    let said = remarks(&DISK, "innodb_io_capacity");
    assert!(said.contains("minimum is 100") && said.contains("gives 75.5"), "{said}");
    assert_eq!(remarks(&DISK, "innodb_io_capacity_max"), "", "252 pages are more than the least");
    assert_eq!(remarks(&NVME, "innodb_io_capacity"), "");
}

/// The better cost depends on the scan, so the advice shows both.
#[test]
fn random_page_cost_is_shown_for_both_depths() {
    let advice = advice(&NVME.profile(), Product::Postgresql, Version::new(18, 0));
    let cost = advice.setting("random_page_cost").unwrap();
    let said = cost.remarks.join(" ");
    // 3 GB/s in sequence. A random page of 8 KiB takes 83 us, 8 us with 16 outstanding and 4 us
    // with 64: ratios of 30, 2.8 and 1.5. The value set leaves the planner a reason to read in
    // sequence.
    assert_eq!(cost.value, "1.1");
    assert!(said.contains("A single session would give 3.0") && said.contains("it would give 1.0"), "{said}");
    assert!(cost.only_a_comment.is_some(), "experts disagree");
}

/// The disk's knee for pages of 8 KiB is at depth 2. With a knee of 1 there is a single ratio.
#[test]
fn serial_drive_has_one_page_cost_ratio() {
    let mut profile = DISK.profile();
    for row in &mut profile.derived.saturating_queue_depth {
        row.queue_depth = nandle_profile::Interval::exact(1);
    }
    let advice = advice(&profile, Product::Postgresql, Version::new(18, 0));
    let cost = advice.setting("random_page_cost").unwrap();
    assert_eq!(cost.figures.len(), 1, "{:?}", cost.figures);
    assert!(!cost.remarks.join(" ").contains("another ratio"), "{:?}", cost.remarks);
    assert_eq!((cost.rule_source, cost.confidence), (RuleSource::Ours, Confidence::Medium));
    assert_eq!(cost.only_a_comment, None, "one value for every way to read: {:?}", cost.remarks);
}

/// 293 writes of 16 KiB a second don't follow from the bandwidth alone, so the advice shows the
/// cost behind them.
#[test]
fn page_rate_is_explained() {
    let advice = advice(&DISK.profile(), Product::Mariadb, Product::Mariadb.latest());
    let setting = advice.setting("innodb_io_capacity_max").unwrap();
    let said = &setting.figures[0].says;
    assert!(
        said.contains("; a write of 16KiB takes 1 (1–1.11) times as long as one of 4KiB, which gives 293"),
        "{said}"
    );
    let both = advice.setting("innodb_io_capacity").unwrap();
    assert!(
        both.figures.iter().all(|figure| figure.key != "steady_write_bandwidth_bytes_per_s"),
        "said once"
    );
}

/// A tree writes long sequences. The disk writes 100 MB/s of those and 1.2 MB/s at random; the
/// other drive writes 3 GB/s.
#[test]
fn rocksdb_rate_follows_from_sequential_bandwidth() {
    let number = |profile: &nandle_profile::DeviceProfile, name: &str| -> f64 {
        let advice = advice(profile, Product::Rocksdb, Product::Rocksdb.latest());
        advice.setting(name).unwrap().value.parse().unwrap()
    };
    let (disk, nvme) = (DISK.profile(), NVME.profile());
    // 5 ms of sequential writing, rounded up to a power of two; the maximum is 8 MiB.
    for name in ["bytes_per_sync", "wal_bytes_per_sync"] {
        assert_eq!((number(&disk, name), number(&nvme, name)), (524_288.0, 8_388_608.0), "{name}");
    }
    // Three tenths of the random writes don't disturb reads, so the same share of the sequential
    // bandwidth is assumed.
    let rate = number(&disk, "rate_bytes_per_sec");
    assert!((28e6..29e6).contains(&rate), "three tenths of the 95 MB/s that are sure: {rate}");
    // Three tenths of the bandwidth keep 1.5 jobs busy at a fifth each; half of it 2.5, all of it
    // 5.
    assert!((number(&disk, "max_background_jobs") - 2.0).abs() < 1e-9);
    let with_limit = |limit: Option<f64>| {
        let mut profile = disk.clone();
        let interference = &mut profile.derived.interference;
        *interference =
            interference.zip(limit).map(|(measured, writes_per_s)| nandle_profile::InterferenceLimit {
                write_rate_per_s: nandle_profile::Interval::exact(writes_per_s),
                ..measured
            });
        number(&profile, "max_background_jobs")
    };
    assert_eq!([with_limit(None), with_limit(Some(1e9))].map(|jobs| jobs.to_string()), ["3", "5"]);
}
