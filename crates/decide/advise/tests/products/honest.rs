//! Advice claims only what the measurements support.

use nandle_advise::settings::{Confidence, Question, Setting};
use nandle_advise::{Product, advise};
use nandle_profile::experiments::Transactions;
use nandle_profile::{DeviceProfile, Interval};

use crate::advice;
use crate::made_up::experiments::conducted;
use crate::made_up::{DISK, NVME};

fn setting(profile: &DeviceProfile, product: Product, name: &str) -> Setting {
    let advice = advice(profile, product, product.latest());
    advice.setting(name).unwrap_or_else(|| panic!("{name}: {:?}", advice.missing)).clone()
}

/// The disk takes as long for 4 KiB as for 16 KiB; the other drive writes 4 KiB in a quarter of the
/// time.
#[test]
fn smaller_page_must_be_cheaper_to_write() {
    let page_size = |profile: &DeviceProfile| setting(profile, Product::Mysql, "innodb_page_size").value;
    assert_eq!((page_size(&DISK.profile()), page_size(&NVME.profile())), ("16384".into(), "4096".into()));
    let mut unsure = NVME.profile();
    for row in &mut unsure.experiments.write_patterns.as_mut().unwrap().findings.patterns {
        row.request_ns.low = 0.0;
    }
    assert_eq!(page_size(&unsure), "16384");
}

/// `MySQL`'s log goes through the page cache; a write of less than a page would read the page
/// first.
#[test]
fn log_is_written_in_whole_cache_pages() {
    let mut profile = NVME.profile();
    profile.derived.smallest_block_bytes = Some(Interval::exact(512));
    let name = "innodb_log_write_ahead_size";
    assert_eq!(setting(&profile, Product::Mysql, name).value, "8192");
    assert_eq!(setting(&profile, Product::Mariadb, name).value, "512");
}

/// Without times of both sizes the page rate lies between equal bandwidth and equal request rate.
#[test]
fn assumed_page_rate_has_wide_bounds() {
    let mut profile = NVME.profile();
    profile.derived.steady_state.as_mut().unwrap().block_bytes = 64 << 10;
    let most = setting(&profile, Product::Mysql, "innodb_io_capacity_max");
    let Interval { value, low, high } = most.figures[0].value;
    // From the rate of 64 KiB blocks up to the full bandwidth.
    assert!((low - 570e6 / 65_536.0).abs() < 1.0 && (high - 630e6 / 16_384.0).abs() < 1.0, "{low} {high}");
    assert!((low..=high).contains(&value));
    assert!(most.figures[0].says.contains("which wasn't measured clearly"), "{}", most.figures[0].says);
    assert_eq!(most.confidence, Confidence::Low);
}

#[test]
fn rule_says_if_any_write_rate_disturbs_reads() {
    let mut profile = NVME.profile();
    let limit = profile.derived.interference.as_mut().unwrap();
    limit.write_rate_per_s = Interval { value: 0.0, low: 0.0, high: 2000.0 };
    let capacity = setting(&profile, Product::Mysql, "innodb_io_capacity");
    let said = &capacity.figures[0].says;
    assert!(said.contains("no measured rate of writes of 4KiB surely keeps"), "{said}");
    assert!(said.ends_with("but up to 8.19 MB/s may"), "{said}");
    assert!(capacity.rule.starts_with("a twentieth of the steady state"), "{}", capacity.rule);
    // A twentieth of the sure 570 MB/s, in pages of 16 KiB.
    assert_eq!(capacity.value, "1740");
}

/// Small writes at depth 1 don't show the bandwidth of large writes at depth.
#[test]
fn bandwidth_from_small_writes_alone_limits_the_confidence() {
    let of = |profile: &DeviceProfile| setting(profile, Product::Seastar, "write_bandwidth");
    let mut profile = NVME.profile();
    let large = of(&profile);
    // 3 GB/s with 1 MiB at depth 16; 2.85 GB/s are sure.
    assert_eq!((large.value.as_str(), large.confidence), ("2850000000", Confidence::High));
    profile.experiments.large_writes = None;
    let patterns = &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns;
    patterns.retain(|row| row.block_bytes <= 32 << 10);
    let small = of(&profile);
    assert_eq!(small.confidence, Confidence::Medium);
    assert!(small.confidence_reason.contains("large writes at depth weren't measured"), "{small:?}");
    for name in ["bytes_per_sync", "rate_bytes_per_sec"] {
        assert!(
            setting(&NVME.profile(), Product::Rocksdb, name)
                .figures
                .iter()
                .any(|figure| figure.says.contains("1MiB"))
        );
    }
}

/// A write below the kernel's physical block needs a read first, even if a noisy measurement shows
/// none.
#[test]
fn seastar_block_is_at_least_the_kernels() {
    let mut profile = NVME.profile();
    profile.derived.smallest_block_bytes = Some(Interval::exact(512));
    let value = |profile: &DeviceProfile| setting(profile, Product::Seastar, "physical_block_size").value;
    assert_eq!(value(&profile), "512");
    profile.system.queue.as_mut().unwrap().physical_block_bytes = Some(4096);
    assert_eq!(value(&profile), "4096");
}

/// Each connection has its own cache.
#[test]
fn sqlite_memory_is_divided_among_connections() {
    let cache = |sessions| {
        let question = Question { sessions, ..crate::question(Product::Sqlite, Product::Sqlite.latest()) };
        advise(&NVME.profile(), &question).unwrap().setting("cache_size").unwrap().value.clone()
    };
    assert_eq!(cache(1), "-1048576");
    assert_eq!(cache(16), "-65536");
    assert_eq!(cache(100_000), "-2000", "no less than the default");
}

/// Queue depth for a backend that may run alone or with others.
#[test]
fn concurrency_is_at_least_the_default_unless_that_hurts() {
    let depths = |profile: &DeviceProfile| {
        ["effective_io_concurrency", "maintenance_io_concurrency", "io_max_concurrency"]
            .map(|name| setting(profile, Product::Postgresql, name).value)
    };
    let mut profile = NVME.profile();
    assert_eq!(depths(&profile), ["16", "22", "-1"].map(str::to_owned), "a third of 64 to each vacuum");
    for row in &mut profile.derived.saturating_queue_depth {
        row.queue_depth = Interval::exact(256);
    }
    assert_eq!(
        depths(&profile),
        ["16", "86", "86"].map(str::to_owned),
        "both within what a process may have"
    );
    // A device that surely loses bandwidth beyond its knee.
    let mut falling = DISK.profile();
    for cell in &mut falling.cells {
        if cell.cell.pattern == "random" && cell.cell.queue_depth == 16 {
            let bandwidth = &mut cell.steady_bandwidth_bytes_per_s;
            *bandwidth = Interval {
                value: bandwidth.value / 2.0,
                low: bandwidth.low / 2.0,
                high: bandwidth.high / 2.0,
            };
        }
    }
    assert_eq!(depths(&DISK.profile()), ["16", "16", "-1"].map(str::to_owned));
    assert_eq!(depths(&falling), ["1", "1", "-1"].map(str::to_owned));
    let told = setting(&falling, Product::Postgresql, "effective_io_concurrency");
    assert!(told.rule.contains("costs bandwidth here"), "{told:?}");
}

/// Values from a partial profile are comments; values that don't depend on the device are set.
#[test]
fn partial_or_uncertain_values_are_comments() {
    let set = |profile: &DeviceProfile, product: Product, name: &str| {
        setting(profile, product, name).only_a_comment.is_none()
    };
    let mut profile = NVME.profile();
    assert!(set(&profile, Product::Mysql, "innodb_io_capacity"));
    assert!(!set(&profile, Product::Postgresql, "random_page_cost"), "alone or busy makes a difference");
    profile.partial = vec!["steady-state ended early".into()];
    assert!(!set(&profile, Product::Mysql, "innodb_io_capacity"));
    assert!(set(&profile, Product::Mysql, "innodb_doublewrite"));
    let seastar = nandle_advise::fragment(&advice(&profile, Product::Seastar, Product::Seastar.latest()));
    assert!(seastar.lines().all(|line| line.is_empty() || line.starts_with('#')), "{seastar}");
}

#[test]
fn model_has_no_processors() {
    let jobs = |processor: &str, processors| {
        let mut profile = NVME.profile();
        let machine = &mut profile.system.machine;
        (machine.processor, machine.processors) = (Some(processor.into()), processors);
        profile.derived.interference = None;
        setting(&profile, Product::Rocksdb, "max_background_jobs")
    };
    let model = jobs("modelled", 1);
    assert_eq!(model.value, "3", "half of the bandwidth feeds two and a half jobs");
    assert!(model.figures.iter().all(|figure| figure.key != "processors"), "{model:?}");
    assert!(model.remarks.join(" ").contains("A model has no processors"), "{model:?}");
    let one = jobs("a real one", 1);
    assert_eq!(one.value, "2");
    assert!(one.figures.iter().any(|figure| figure.says == "1 processor"), "{one:?}");
}

/// The disk reads and writes 16 KiB as fast as 4 KiB, and checkpoints few pages. The other drive
/// takes 88 us for 4 KiB, 96 us for 8 KiB and 113 us for 16 KiB.
#[test]
fn sqlite_settings_follow_from_the_device() {
    let (disk, nvme) = (DISK.profile(), NVME.profile());
    let both = |name| [&disk, &nvme].map(|profile| setting(profile, Product::Sqlite, name));
    assert_eq!(both("page_size").map(|set| set.value), ["16384", "8192"]);
    assert_eq!(both("wal_autocheckpoint").map(|set| set.value), ["1000", "10000"]);
    let [slow, fast] = both("synchronous").map(|set| format!("{} {}", set.rule, set.remarks.join(" ")));
    // The means are 9.13 ms and 22 us.
    assert!(slow.contains("most 110 times a second") && slow.contains("with 913 rows"), "{slow}");
    assert!(fast.contains("most 45 455 times a second") && fast.contains("with 3 rows"), "{fast}");
    for name in ["journal_mode", "synchronous", "mmap_size"] {
        let [disk, nvme] = both(name);
        assert_eq!(disk.value, nvme.value);
        assert!(disk.confidence_reason.contains("independent of the device"), "{disk:?}");
    }
}

/// A probe of a minute times commits only in `transactions`.
#[test]
fn commits_of_a_one_minute_probe_support_advice() {
    let mut profile = NVME.profile();
    let commits = profile.experiments.flush.take().unwrap().findings.commits;
    profile.experiments.transactions = Some(conducted(Transactions { commits, mixed: Vec::new() }));
    let set = setting(&profile, Product::Sqlite, "synchronous");
    assert!(set.rule.contains("most 45 455 times a second"), "{}", set.rule);
}

/// The lower bound of the steady state may be 0.
#[test]
fn checkpoint_time_without_a_lower_bound_is_not_stated() {
    let mut profile = NVME.profile();
    profile.derived.steady_state.as_mut().unwrap().random_write_bytes_per_s.low = 0.0;
    let checkpoint = setting(&profile, Product::Sqlite, "wal_autocheckpoint");
    assert_eq!(checkpoint.value, "1000");
    assert!(checkpoint.rule.ends_with("the time of a checkpoint here is unclear"), "{}", checkpoint.rule);
}

/// A larger page that reads and writes as fast but takes twice as long to commit is no gain. Files
/// are timed with commits of 8 KiB only, which don't describe other pages.
#[test]
fn sqlite_page_must_not_make_commits_slower() {
    let mut profile = DISK.profile();
    let commits = &mut profile.experiments.flush.as_mut().unwrap().findings.commits;
    for commit in commits.iter_mut().filter(|commit| commit.write_bytes == 16 << 10) {
        commit.latency_ns.mean = commit.latency_ns.mean.map(|mean| mean * 2.0);
    }
    assert_eq!(setting(&profile, Product::Sqlite, "page_size").value, "8192");
    let commits = &mut profile.experiments.flush.as_mut().unwrap().findings.commits;
    commits.retain(|commit| commit.in_file);
    let advice = advice(&profile, Product::Sqlite, Product::Sqlite.latest());
    assert_eq!(advice.setting("page_size"), None, "nothing is known of what a page of 4 KiB costs to commit");
}

/// The cost on this device may be unclear, although the value is sure.
#[test]
fn device_independent_value_keeps_its_confidence() {
    let mut profile = NVME.profile();
    for commit in &mut profile.experiments.flush.as_mut().unwrap().findings.commits {
        (commit.commit_ns.low, commit.commit_ns.high) = (0.0, 1e9);
    }
    assert_eq!(setting(&profile, Product::Sqlite, "synchronous").confidence, Confidence::High);
}

#[test]
fn cost_model_rates_sequential_requests_at_least_as_high_as_random() {
    let mut profile = NVME.profile();
    for row in &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns {
        row.request_ns = Interval::exact(1e6);
    }
    let line = setting(&profile, Product::Linux, "/sys/fs/cgroup/io.cost.model").value;
    let number = |key: &str| -> f64 {
        let pair = line.split([' ', '"']).find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        pair.unwrap().parse().unwrap()
    };
    assert!(number("wseqiops") >= number("wrandiops"), "{line}");
    assert!(number("rseqiops") >= number("rrandiops"), "{line}");
}

/// A tenth of the peak rate doesn't load the device.
#[test]
fn latency_of_an_idle_device_is_no_target() {
    let qos = |profile: &DeviceProfile| setting(profile, Product::Linux, "/sys/fs/cgroup/io.cost.qos").value;
    let mut profile = NVME.profile();
    assert!(qos(&profile).contains("rpct=99.00") && qos(&profile).contains("wpct=99.00"));
    let cells = &mut profile.experiments.interference.as_mut().unwrap().findings.cells;
    for cell in cells.iter_mut() {
        cell.write_share = cell.write_share.min(0.1);
    }
    assert!(qos(&profile).contains("rpct=99.00") && qos(&profile).contains("wpct=0.00"), "{}", qos(&profile));
}

/// The drive's reads take 80 us alone; a target of 160 us would throttle all writeback.
#[test]
fn writeback_target_is_at_least_the_kernels() {
    let target = |profile: &DeviceProfile| {
        let value = setting(profile, Product::Linux, "/sys/block/$device/queue/wbt_lat_usec").value;
        value.parse::<u64>().unwrap()
    };
    assert_eq!(target(&NVME.profile()), 2000);
    assert!(target(&DISK.profile()) > 20_000);
}

/// A script without a device name must not change the first disk of a machine.
#[test]
fn script_without_a_device_demands_one() {
    let mut profile = NVME.profile();
    profile.identity.kernel_name = None;
    let text = nandle_advise::fragment(&advice(&profile, Product::Linux, Product::Linux.latest()));
    assert!(text.contains("\ndevice=${1:?"), "{text}");
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("nandle.sh");
    std::fs::write(&file, &text).unwrap();
    let sh =
        |arguments: &[&str]| std::process::Command::new("sh").args(arguments).arg(&file).output().unwrap();
    let checked = sh(&["-n"]);
    assert!(checked.status.success(), "{checked:?}");
    let output = sh(&[]);
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("give the kernel name"), "{output:?}");
}
