//! The verdict follows from measurements, and states what they leave open.

use nandle_advise::verdict;
use nandle_advise::verdict::{DeviceClass, Load, TimeUnit, Verdict};
use nandle_profile::experiments::{MixedLoad, SteadyRound, SteadyState, Transactions};
use nandle_profile::{DepthForBlock, DeviceProfile, Interval, LatencySummary};

use crate::made_up::experiments::conducted;
use crate::made_up::{DISK, Drive, NVME};

fn class_of(profile: &DeviceProfile) -> DeviceClass {
    verdict(profile).kind.class
}

fn titles(findings: &[nandle_advise::verdict::Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.title).collect()
}

fn reasons(verdict: &Verdict) -> String {
    verdict.kind.reasons.join(" ")
}

/// Drive within the limits of SATA, saturated by ten requests.
const SATA: Drive = Drive {
    model: "sata",
    rotational: false,
    read_ns: 120e3,
    knee_depth: 10,
    bytes_per_s: 520e6,
    random_by_sequential: 3.0,
    steady_write_bytes_per_s: 40e6,
    flush_ns: 1.5e6,
};

/// Drive that serves one request at a time.
const CARD: Drive = Drive { model: "card", read_ns: 600e3, knee_depth: 1, bytes_per_s: 80e6, ..SATA };

/// Profile limited by requests and by bytes per second, with sizes from 2 KiB to 4 MiB.
fn limited(requests_per_s: f64, bytes_per_s: f64) -> DeviceProfile {
    let mut profile = SATA.read_side();
    let row = |power: u32| {
        let block_bytes = 2048_u64 << power;
        let plateau = (requests_per_s * block_bytes as f64).min(bytes_per_s);
        DepthForBlock {
            block_bytes,
            queue_depth: Interval::exact(16),
            plateau_bytes_per_s: Interval { value: plateau, low: 0.99 * plateau, high: 1.01 * plateau },
            plateau_reached: true,
        }
    };
    profile.derived.saturating_queue_depth = (0..12).map(row).collect();
    profile.derived.random_read_iops_max = Some(Interval::exact(requests_per_s));
    profile.derived.random_bandwidth_bytes_per_s_max = Some(Interval::exact(bytes_per_s));
    profile.derived.sequential_bandwidth_bytes_per_s_max = Some(Interval::exact(bytes_per_s));
    profile
}

#[test]
fn kind_follows_from_figures() {
    for (drive, class) in [
        (DISK, DeviceClass::SpinningDisk),
        (SATA, DeviceClass::SataFlash),
        (NVME, DeviceClass::NvmeFlash),
        (CARD, DeviceClass::SerialFlash),
        (Drive { read_ns: 1e3, ..NVME }, DeviceClass::Memory),
        (Drive { knee_depth: 26, ..DISK }, DeviceClass::SpinningDisks),
    ] {
        let verdict = verdict(&drive.read_side());
        assert_eq!(verdict.kind.class, class, "{}: {:?}", drive.model, verdict.kind);
        assert!(!verdict.kind.reasons.is_empty());
    }
}

/// A cloud volume with an exact request rate at any size, and a link with an exact bandwidth.
#[test]
fn imposed_limits_differ_from_devices() {
    let of_requests = verdict(&limited(3000.0, 125e6));
    assert_eq!(of_requests.kind.class, DeviceClass::RequestLimit, "{:?}", of_requests.kind);
    assert_eq!(of_requests.kind.name, "a volume with a limit of 3 000 requests a second and 125 MB/s");
    assert!(titles(&of_requests.risks).contains(&"The device is limited"), "{:?}", of_requests.risks);
    let of_bytes = verdict(&limited(1e6, 200e6));
    assert_eq!(of_bytes.kind.class, DeviceClass::BandwidthLimit, "{:?}", of_bytes.kind);
    assert_eq!(of_bytes.kind.name, "a volume with a limit of 200 MB/s");
    // A flash page costs one read whatever part is read, so equal rates up to its size show no
    // limit.
    let mut page = limited(30e3, 480e6);
    page.derived.saturating_queue_depth.truncate(4);
    assert_eq!(class_of(&page), DeviceClass::SataFlash, "{:?}", verdict(&page).kind);
}

/// The submitting thread can be the cause of equal rates.
#[test]
fn processor_bound_rates_show_no_limit_of_the_device() {
    let mut profile = limited(3000.0, 125e6);
    let sizes = profile.derived.saturating_queue_depth.iter().map(|row| row.block_bytes);
    let template = profile.cells[0].clone();
    profile.cells = sizes
        .map(|block_bytes| {
            let mut cell = template.clone();
            cell.cell.block_bytes = block_bytes;
            (cell.cell.iops, cell.cell.cpu_ns_per_request) = (3000.0, 330e3);
            cell
        })
        .collect();
    assert_ne!(class_of(&profile), DeviceClass::RequestLimit);
}

#[test]
fn device_labels_do_not_affect_the_verdict() {
    for drive in [DISK, SATA, NVME] {
        let plain = verdict(&drive.profile());
        let mut renamed = drive.profile();
        renamed.identity.model = Some("Virtual Rotating Disk".into());
        let queue = renamed.system.queue.as_mut().unwrap();
        queue.rotational = queue.rotational.map(|rotational| !rotational);
        renamed.system.machine.hypervisor = Some("KVM".into());
        assert_eq!(verdict(&renamed).kind, plain.kind);
    }
}

#[test]
fn ambiguous_figures_leave_the_kind_undecided() {
    let mut cached = NVME.profile();
    cached.backend.direct = false;
    let told = verdict(&cached);
    assert_eq!(told.kind.class, DeviceClass::Undecided);
    assert!(reasons(&told).contains("page cache"), "{:?}", told.kind);
    let mut unread = NVME.profile();
    unread.derived.random_read_latency_ns = None;
    assert_eq!(class_of(&unread), DeviceClass::Undecided);
    let mut noisy = SATA.read_side();
    let around = Interval { value: 520e6, low: 300e6, high: 900e6 };
    noisy.derived.sequential_bandwidth_bytes_per_s_max = Some(around);
    let told = verdict(&noisy);
    assert_eq!(told.kind.class, DeviceClass::Undecided, "{:?}", told.kind);
    assert!(reasons(&told).contains("may or may not"), "{:?}", told.kind);
    // As slow as a disk, but no faster in sequence.
    let mut distant = DISK.read_side();
    for cell in distant.cells.iter_mut().filter(|cell| cell.cell.pattern == "sequential") {
        cell.steady_bandwidth_bytes_per_s = Interval::exact(cell.cell.block_bytes as f64 / 12e-3);
    }
    assert_eq!(class_of(&distant), DeviceClass::Undecided);
}

#[test]
fn reads_too_fast_for_flash_are_named() {
    let quick = verdict(&Drive { read_ns: 30e3, ..NVME }.read_side());
    assert_eq!(quick.kind.class, DeviceClass::NvmeFlash);
    assert!(quick.kind.name.contains("read cache"), "{:?}", quick.kind);
    assert!(reasons(&quick).contains("three bits per cell"), "{:?}", quick.kind);
}

/// Flash alone can't commit in 20 us.
#[test]
fn cache_that_absorbs_writes_is_named() {
    let told = verdict(&NVME.profile());
    assert!(told.kind.name.ends_with("with a write cache"), "{:?}", told.kind);
    assert!(
        reasons(&told).contains("A commit takes 20 us, less than the programming of a flash page"),
        "{:?}",
        told.kind
    );
    assert!(!verdict(&NVME.read_side()).kind.name.contains("cache"), "nothing was written");
}

#[test]
fn risks_are_ranked_with_unmeasured_figures_among_them() {
    let disk = verdict(&DISK.read_side());
    assert_eq!(titles(&disk.strengths), ["Even reads"]);
    assert_eq!(titles(&disk.risks)[0], "Long reads", "{:?}", disk.risks);
    let nvme = verdict(&NVME.read_side());
    assert_eq!(
        titles(&nvme.risks),
        [
            "Commit latency wasn't measured",
            "Sustained writes weren't measured",
            "Reads during writes weren't measured"
        ]
    );
    assert!(nvme.risks[0].means.contains("--budget 60s"), "{:?}", nvme.risks);
    assert_eq!(titles(&nvme.strengths).len(), 3, "{:?}", nvme.strengths);
    assert_eq!(titles(&nvme.strengths)[0], "Many random reads");
    let whole = verdict(&NVME.profile());
    assert!(whole.risks.iter().all(|risk| !risk.title.contains("Commit latency")), "{:?}", whole.risks);
    let measured = disk.risks.iter().filter(|risk| risk.figure.is_some());
    for finding in measured.chain(&nvme.strengths).chain(&whole.strengths) {
        let threshold = finding.threshold_note().unwrap_or_else(|| panic!("{finding:?}"));
        assert!(threshold.contains(": "), "it has its source: {threshold}");
    }
}

/// The reason for skipping an experiment matters more than its duration.
#[test]
fn skip_reason_that_no_budget_changes_is_shown() {
    let mut profile = NVME.read_side();
    profile.experiments.skipped = vec![nandle_profile::SkippedExperiment {
        name: "transactions".into(),
        reason: "it writes, and --read-only was given".into(),
    }];
    let means = verdict(&profile).risks[0].means.clone();
    assert!(means.ends_with("Skipped: it writes, and --read-only was given."), "{means}");
}

#[test]
fn changes_are_sure_and_differ_from_present_values() {
    let mut profile = NVME.profile();
    profile.system.queue.as_mut().unwrap().rotational = Some(true);
    let changes = verdict(&profile).changes;
    assert!((1..=4).contains(&changes.len()), "{changes:?}");
    for change in &changes {
        let setting = &change.setting;
        let now = setting.probed.as_deref().or(setting.default).unwrap();
        assert_ne!(now, setting.value, "{change:?}");
        assert!(setting.only_a_comment.is_none(), "{change:?}");
    }
    let confidences: Vec<_> = changes.iter().map(|change| change.setting.confidence).collect();
    assert!(confidences.is_sorted_by(|one, other| one >= other), "{confidences:?}");
    let mut partial = NVME.profile();
    partial.partial.push("it was cut short".into());
    let held = verdict(&partial).changes;
    assert!(held.len() < changes.len(), "of a partial profile only what holds everywhere: {held:?}");
    assert!(held.iter().all(|change| !change.name().starts_with("queue/")), "{held:?}");
}

#[test]
fn table_has_figures_or_instructions_for_each_load() {
    let read = verdict(&NVME.read_side()).figures;
    assert_eq!(read.len(), 10);
    for row in &read {
        let is_read = matches!(row.load, Load::RandomRead | Load::SequentialRead);
        assert_eq!(row.missing.is_none(), is_read, "{row:?}");
    }
    let alone = read[0].alone.unwrap();
    assert_eq!((read[0].block_bytes, alone.p99_ns), (Some(4096), alone.p50_ns.map(|ns| 2 * ns)));
    assert_eq!(TimeUnit::of(&read), TimeUnit::Microseconds);
    assert_eq!(TimeUnit::of(&verdict(&DISK.profile()).figures), TimeUnit::Milliseconds);
    let written = verdict(&NVME.profile()).figures;
    let commit = written.iter().find(|row| row.load == Load::Commit).unwrap();
    assert!(commit.alone.unwrap().p99_ns.is_some(), "{commit:?}");
}

/// A one-minute probe takes commits and the mixed load from a single experiment.
#[test]
fn one_minute_probe_has_the_rows_of_transactions() {
    let mut profile = SATA.read_side();
    let commits = NVME.profile().experiments.flush.unwrap().findings.commits;
    let mixed = |queue_depth: u32, rate: f64| MixedLoad {
        read_percent: 70,
        block_bytes: 8 << 10,
        queue_depth,
        requests: 2000,
        requests_per_s: Interval::exact(rate),
        latency_ns: LatencySummary { p50: Some(90_000), p99: Some(400_000), ..LatencySummary::default() },
    };
    profile.experiments.transactions =
        Some(conducted(Transactions { commits, mixed: vec![mixed(1, 9e3), mixed(16, 30e3)] }));
    profile.derived.commit_ns = profile.experiments.usual_commit();
    let told = verdict(&profile);
    assert!(!titles(&told.risks).iter().any(|title| title.contains("Commit latency")), "{:?}", told.risks);
    let row = |load: Load| told.figures.iter().find(|row| row.load == load).unwrap();
    assert_eq!(row(Load::Mixed).alone.unwrap().p99_ns, Some(400_000));
    let most = row(Load::Mixed).most.unwrap();
    assert_eq!((most.rate_per_s.value, most.queue_depth), (30e3, 16));
    assert!(row(Load::Commit).alone.is_some() && row(Load::Commit).missing.is_none());
}

/// Keys end in their unit, and no number is infinite, because JSON has no infinity.
#[test]
fn json_has_units_and_finite_numbers() {
    let profiles: [fn() -> DeviceProfile; 4] =
        [|| DISK.profile(), || NVME.profile(), || SATA.read_side(), || limited(3000.0, 125e6)];
    for profile in profiles {
        let json = serde_json::to_value(verdict(&profile())).unwrap();
        for findings in ["strengths", "risks"] {
            for finding in json[findings].as_array().unwrap() {
                assert!(finding["weight_ratio"].is_f64(), "{finding}");
            }
        }
        assert!(json["kind"]["class"].is_string(), "{json}");
        assert_eq!(json["figures"].as_array().unwrap().len(), 10);
    }
}

/// Profile of a real virtual disk, from a version that measured only reads.
#[test]
fn old_profile_has_a_verdict() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../measure/profile/tests/fixtures/version-0.json");
    let profile = nandle_profile::read_profile(std::path::Path::new(path)).unwrap();
    let told = verdict(&profile);
    assert!(!told.kind.reasons.is_empty());
    assert!(titles(&told.risks).iter().any(|title| title.contains("Commit latency")), "{:?}", told.risks);
}

/// A disk that seems to write twice as fast as it reads, and a disk with plausible writes.
#[test]
fn figures_from_a_cache_are_marked() {
    let row = |told: &Verdict, load: Load| told.figures.iter().find(|row| row.load == load).cloned().unwrap();
    let mut profile = DISK.profile();
    for cell in &mut profile.experiments.large_writes.as_mut().unwrap().findings.cells {
        cell.bandwidth_bytes_per_s = Interval::exact(233e6);
    }
    let told = verdict(&profile);
    let writes = row(&told, Load::SequentialWrite);
    assert!(writes.by_cache && writes.marked_name().ends_with('†'), "{writes:?}");
    assert!(
        reasons(&told).contains("a cache absorbs writes faster than the heads can write them"),
        "{:?}",
        told.kind
    );
    assert!(!reasons(&told).contains("no cache absorbs it"), "{:?}", told.kind);
    let cached = told.cached_figures.unwrap();
    assert!(cached.contains("hold for bursts") && cached.contains("1GiB of random writes"), "{cached}");
    let mut honest = DISK.profile();
    honest.experiments.write_cache = None;
    let honest = verdict(&honest);
    assert!(!row(&honest, Load::SequentialWrite).by_cache, "it writes as fast as it reads");
    assert_eq!(honest.cached_figures, None);
    // Flash alone can't commit in 20 us.
    let quick = verdict(&NVME.profile());
    assert!(row(&quick, Load::Commit).by_cache, "{:?}", quick.figures);
}

/// Writes that fit the measured cache come from it, even if they were slow.
#[test]
fn measured_cache_is_never_denied() {
    let mut profile = SATA.profile();
    profile.derived.commit_ns = None;
    let cache = &mut profile.experiments.write_cache.as_mut().unwrap().findings;
    cache.absorbed_bytes = Some(Interval::exact(32 << 20));
    cache.absorbing_bytes_per_s = cache.sustained_bytes_per_s;
    for row in &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns {
        row.latency_ns.p50 = Some(400_000);
    }
    let told = verdict(&profile);
    assert!(!reasons(&told).contains("no cache absorbs it"), "{:?}", told.kind);
    assert!(reasons(&told).contains("A cache absorbs 32MiB"), "{:?}", told.kind);
    let small = told.figures.iter().find(|row| row.load == Load::RandomWrite).unwrap();
    assert!(small.by_cache, "a hundred writes of 4 KiB fit: {small:?}");
}

/// Rounds of 1.5 s on a virtual disk, in a file of a hundredth of its capacity.
fn written_for(seconds: f64, capacity_bytes: u64) -> DeviceProfile {
    let mut profile = NVME.profile();
    profile.identity.capacity_bytes = Some(capacity_bytes);
    profile.target = "/mnt/my disk".into();
    let round = SteadyRound {
        began_ns: 0,
        elapsed_ns: (seconds * 1e9 / 10.0) as u64,
        bytes: (600e6 * seconds / 10.0) as u64,
        bandwidth_bytes_per_s: 600e6,
        iops: 1.0,
        latency_ns_max: 1,
    };
    let findings = SteadyState {
        block_bytes: 4096,
        area_bytes: 1 << 30,
        rounds: vec![round; 10],
        reached: true,
        ..SteadyState::default()
    };
    profile.experiments.steady_state = Some(conducted(findings));
    profile.derived.steady_state.as_mut().unwrap().of_fresh = Some(0.95);
    profile
}

#[test]
fn short_writing_shows_no_steady_state() {
    let told = verdict(&written_for(1.5, 400 << 30));
    let risk = told.risks.iter().find(|risk| risk.title == "Sustained write rate not established").unwrap();
    assert!(risk.says().contains("after 858.31MiB in 1.5s (0.21 % of the device)"), "{}", risk.says());
    assert!(risk.means.contains("nandle probe '/mnt/my disk' --only steady-state"), "{}", risk.means);
    assert!(risk.means.ends_with("--write-limit 800GiB --resume"), "{}", risk.means);
    assert!(!titles(&told.strengths).contains(&"Writes keep their speed"));
    let json = serde_json::to_string(&told).unwrap();
    assert!(!json.contains("in the steady state"), "{json}");
    let long = verdict(&written_for(3600.0, 400 << 30));
    assert!(!titles(&long.risks).contains(&"Sustained write rate not established"), "{:?}", long.risks);
}

/// A median of twenty requests to a disk doesn't support three digits.
#[test]
fn digits_follow_from_the_number_of_requests() {
    let digits = |requests| nandle_advise::verdict::significant_digits(requests);
    assert_eq!([5, 20, 99, 100, 50_000].map(digits), [1, 2, 2, 3, 3]);
    let of = |low, high| nandle_advise::verdict::digits_of(&Interval { value: 100.0, low, high });
    assert_eq!([of(99.0, 101.0), of(80.0, 130.0), of(10.0, 300.0)], [3, 2, 2]);
    let mut profile = DISK.read_side();
    for cell in &mut profile.cells {
        cell.cell.requests = 20;
    }
    let alone = verdict(&profile).figures[0].alone.unwrap();
    assert_eq!(alone.digits(), 2);
}
