//! Advice that experts of the products rejected must not return. `benches/advice/crossed-out.md`
//! lists it.

use nandle_advise::settings::{Confidence, Setting, Version};
use nandle_advise::{Product, fragment};
use nandle_profile::experiments::{CommitMethod, SteadyRound, SteadyState};
use nandle_profile::{DeviceProfile, Interval};

use crate::advice;
use crate::made_up::experiments::conducted;
use crate::made_up::{DISK, NVME};

fn setting(profile: &DeviceProfile, product: Product, name: &str) -> Setting {
    advice(profile, product, product.latest()).setting(name).unwrap().clone()
}

fn text(profile: &DeviceProfile, product: Product) -> String {
    fragment(&advice(profile, product, product.latest()))
}

/// Settings that protect data are set even to their defaults, because the configuration may contain
/// another value.
#[test]
fn defaults_are_set_only_if_they_protect_data() {
    const GUARDS: [&str; 3] = ["full_page_writes", "innodb_doublewrite", "synchronous"];
    for profile in [DISK.profile(), NVME.profile()] {
        for product in Product::ALL {
            for setting in advice(&profile, product, product.latest()).settings() {
                let is_so = setting.default == Some(setting.value.as_str())
                    || setting.probed.as_ref() == Some(&setting.value);
                let guards = GUARDS.contains(&setting.name.as_str());
                assert!(!is_so || guards || setting.only_a_comment.is_some(), "{setting:?}");
                assert!(!guards || setting.only_a_comment.is_none(), "{setting:?}");
            }
        }
    }
}

/// The disk's 32 KiB suffice for a single scan; with concurrent scans each request needs a seek.
#[test]
fn io_combine_limit_is_at_least_the_default() {
    for name in ["io_combine_limit", "io_max_combine_limit"] {
        let of_disk = setting(&DISK.profile(), Product::Postgresql, name);
        assert_eq!(of_disk.value, "128kB", "{of_disk:?}");
    }
}

/// From 18 on each vacuum reads ahead, and three run at once. Before, only recovery did, which runs
/// alone.
#[test]
fn autovacuum_workers_share_the_queue_depth() {
    let value = |major| {
        let advice = advice(&NVME.profile(), Product::Postgresql, Version::new(major, 0));
        advice.setting("maintenance_io_concurrency").unwrap().value.clone()
    };
    assert_eq!((value(17), value(18)), ("64".into(), "22".into()), "the knee is at 64");
}

#[test]
fn model_without_processors_sets_no_workers() {
    let mut modelled = NVME.profile();
    modelled.system.machine.processor = Some("modelled".into());
    assert!(setting(&modelled, Product::Postgresql, "io_workers").only_a_comment.is_some());
}

/// The kernel caches pages of 4 KiB and the default is two of them, so a smaller value saves
/// nothing.
#[test]
fn mysql_log_write_ahead_size_is_at_least_the_default() {
    let write_ahead = setting(&NVME.profile(), Product::Mysql, "innodb_log_write_ahead_size");
    assert_eq!((write_ahead.value.as_str(), write_ahead.default), ("8192", Some("8192")));
}

#[test]
fn lru_scan_depth_rule_is_ours() {
    let of = |product| setting(&DISK.profile(), product, "innodb_lru_scan_depth");
    let (mysql, mariadb) = (of(Product::Mysql), of(Product::Mariadb));
    assert!(mysql.confidence <= Confidence::Medium && mariadb.confidence <= Confidence::Medium);
    assert!(
        mysql.rule.contains("pool instance") && !mariadb.rule.contains("instance"),
        "MariaDB has one pool"
    );
}

/// The disk writes 44 to 190 pages a second; the default of 10 000 in version 8.4 is far above both
/// bounds.
#[test]
fn capacity_far_below_the_default_is_set_despite_wide_bounds() {
    let mut unclear = DISK.profile();
    unclear.derived.steady_state.as_mut().unwrap().random_write_bytes_per_s =
        Interval { value: 0.74e6, low: 0.72e6, high: 3.6e6 };
    let set = setting(&unclear, Product::Mysql, "innodb_io_capacity");
    assert_eq!((set.value.as_str(), set.only_a_comment), ("100", None));
    assert!(set.confidence_reason.contains("below the default"), "{}", set.confidence_reason);
    let within = setting(&unclear, Product::Mariadb, "innodb_io_capacity");
    assert!(within.only_a_comment.is_some(), "MariaDB's default of 200 is within the bounds: {within:?}");
}

/// Data that a compaction writes directly aren't in the page cache for the next reader.
#[test]
fn direct_writes_with_cached_reads_are_contested() {
    let direct = setting(&NVME.profile(), Product::Rocksdb, "use_direct_io_for_flush_and_compaction");
    assert_eq!((direct.confidence, direct.value.as_str()), (Confidence::Low, "true"));
    assert!(direct.only_a_comment.is_some());
}

/// A database keeps its page size, so the other lines assume the default.
#[test]
fn page_size_is_only_shown_and_other_lines_assume_the_default() {
    let page = setting(&DISK.profile(), Product::Sqlite, "page_size");
    assert!(page.value == "16384" && page.only_a_comment.is_some(), "{page:?}");
    let checkpoint = setting(&DISK.profile(), Product::Sqlite, "wal_autocheckpoint");
    assert!(checkpoint.figures[0].says.contains("writes of 4KiB a second"), "{checkpoint:?}");
}

#[test]
fn sqlite_advice_mentions_no_server_and_no_log_device() {
    let mut slow = NVME.profile();
    slow.experiments.write_cache.as_mut().unwrap().findings.flush_of_full_cache_ns = Some(900_000_000);
    let said = text(&slow, Product::Sqlite);
    assert!(said.contains("wal_checkpoint at quiet times") && !said.contains("another"), "{said}");
    let of_server = text(&slow, Product::Postgresql);
    let of_server: Vec<&str> = of_server.split_whitespace().filter(|word| *word != "#").collect();
    assert!(of_server.join(" ").contains("put the log on another device"), "{of_server:?}");
}

#[test]
fn disk_gets_no_discard_settings() {
    let mut unknown = DISK.profile();
    unknown.system.queue.as_mut().unwrap().discard_bytes_max = None;
    let said = text(&unknown, Product::Linux);
    assert!(!said.contains("parted") && !said.contains("fstrim") && !said.contains("discard_max"), "{said}");
}

/// A greater value was set for a reason.
#[test]
fn read_ahead_is_never_lowered() {
    for mut profile in [DISK.profile(), NVME.profile()] {
        profile.system.queue.as_mut().unwrap().read_ahead_bytes = Some(8 << 20);
        let ahead = setting(&profile, Product::Linux, "/sys/block/$device/queue/read_ahead_kb");
        assert_eq!(ahead.value, "8192", "{ahead:?}");
        assert!(ahead.only_a_comment.unwrap().contains("it had this value"));
    }
}

/// At 1.14 MB/s writing back the least value takes a minute.
#[test]
fn writeback_time_of_the_page_cache_is_shown() {
    let dirty = setting(&DISK.profile(), Product::Linux, "/proc/sys/vm/dirty_bytes");
    assert!(dirty.rule.contains("takes up to 58.9 s of random writing"), "{}", dirty.rule);
}

#[test]
fn conditions_are_shown_only_if_they_matter() {
    let second = |product| text(&NVME.profile(), product).lines().nth(1).unwrap_or_default().to_owned();
    assert_eq!(second(Product::Postgresql), "# for oltp, 16 concurrent sessions, 1GiB of memory");
    assert_eq!(second(Product::Mysql), "# for 1GiB of memory");
    assert_eq!(second(Product::Sqlite), "-- for 16 concurrent sessions, 1GiB of memory");
    assert!(
        !text(&NVME.profile(), Product::Linux).contains("of memory\n#"),
        "no cache of the kernel follows from it"
    );
}

/// A figure that a probe of ten minutes lacked needs a longer probe, and the command must name the
/// real target.
#[test]
fn missing_figures_need_a_longer_probe_of_the_same_target() {
    let mut profile = NVME.read_side();
    profile.target = "/srv/my data".into();
    for (minutes, told) in [(1, "--budget 10m"), (10, "--budget 20m")] {
        profile.conditions.budget_ns = minutes * 60_000_000_000;
        for product in Product::ALL {
            let advice = advice(&profile, product, product.latest());
            for missing in &advice.missing {
                assert!(!missing.how.contains("TARGET") && !missing.how.contains("BUDGET"), "{missing:?}");
            }
            let said = fragment(&advice);
            if product == Product::Mysql {
                let command = format!("nandle probe '/srv/my data' {told}");
                let is_first_of_all =
                    |line: &str| line.starts_with("# For innodb_io_capacity, innodb_io_capacity_max");
                assert!(said.contains(&command) && said.lines().any(is_first_of_all), "{said}");
            }
        }
    }
}

/// A knee between 32 and 256 leaves each of 16 sessions 2 to 16, so the value is the default at all
/// bounds.
#[test]
fn value_equal_at_all_bounds_keeps_its_confidence() {
    let mut unclear = NVME.profile();
    for row in &mut unclear.derived.saturating_queue_depth {
        row.queue_depth = Interval { value: 128, low: 32, high: 256 };
    }
    let of = |major| {
        let advice = advice(&unclear, Product::Postgresql, Version::new(major, 0));
        ["effective_io_concurrency", "maintenance_io_concurrency"]
            .map(|name| advice.setting(name).unwrap().clone())
    };
    let [effective, maintenance] = of(15);
    assert_eq!((effective.value.as_str(), effective.only_a_comment), ("16", None));
    assert_eq!(effective.confidence, Confidence::Medium);
    assert!(maintenance.only_a_comment.is_some(), "it follows the knee: {maintenance:?}");
}

/// With a single commit method there is no fastest one.
#[test]
fn single_commit_method_is_described_as_such() {
    let mut profile = NVME.profile();
    let commits = &mut profile.experiments.flush.as_mut().unwrap().findings.commits;
    commits.retain(|commit| commit.method == CommitMethod::Fdatasync);
    let method = setting(&profile, Product::Postgresql, "wal_sync_method");
    assert!(method.rule.contains("no other method was measured"), "{method:?}");
}

/// Neither setting has an effect alone, so the verdict names one together with the other.
#[test]
fn limit_of_another_setting_is_no_change_by_itself() {
    let changes = nandle_advise::verdict(&NVME.profile()).changes;
    assert!(changes.iter().all(|change| !change.name().starts_with("io_max")), "{changes:?}");
}

/// A disk has no spare blocks to use up, so its first rounds show the steady state.
#[test]
fn disk_is_steady_after_few_rounds() {
    let mut disk = DISK.profile();
    let round = SteadyRound {
        began_ns: 0,
        elapsed_ns: 1_000_000_000,
        bytes: 1 << 20,
        bandwidth_bytes_per_s: 1e6,
        iops: 256.0,
        latency_ns_max: 1,
    };
    disk.experiments.steady_state = Some(conducted(SteadyState {
        area_bytes: 1 << 40,
        rounds: vec![round; 25],
        reached: true,
        ..SteadyState::default()
    }));
    assert!(disk.long_writing().unwrap().is_steady());
    let said = text(&disk, Product::Mysql);
    assert!(!said.contains("not yet steady"), "{said}");
}

/// A knee between 8 and 256 is deeper than 4 at all bounds.
#[test]
fn deep_queue_needs_no_scheduler() {
    let mut unclear = NVME.profile();
    for row in &mut unclear.derived.saturating_queue_depth {
        row.queue_depth = Interval { value: 64, low: 8, high: 256 };
    }
    let scheduler = setting(&unclear, Product::Linux, "/sys/block/$device/queue/scheduler");
    assert_eq!((scheduler.value.as_str(), scheduler.confidence), ("none", Confidence::Medium));
}
