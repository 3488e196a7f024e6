use nandle_advise::Product;
use nandle_advise::compare::{
    Outcome, Placement, Sizing, SizingQuestion, Tenant, changes, measures, place, size,
};
use nandle_advise::economics::Processor;
use nandle_profile::experiments::PatternCost;
use nandle_profile::{DeviceProfile, Interval};

use crate::made_up::{DISK, NVME};

fn sizing_question() -> SizingQuestion {
    SizingQuestion {
        read_share: 0.25,
        page_bytes: 8192,
        processor: Processor::from_clock(3.2e9, 2.1),
        io_share: 0.6,
        memory_price_per_byte: Some(5.0 / f64::from(1 << 30)),
        table_bytes: 10 << 30,
    }
}

#[test]
fn profile_is_unchanged_against_itself_and_regressed_on_a_slower_drive() {
    let old = NVME.profile();
    let count = |changes: Vec<nandle_advise::compare::Change>, verdict| {
        changes.iter().filter(|change| change.verdict == verdict).count()
    };
    assert_eq!(count(changes(&old, &old, 0.0), Outcome::Unchanged), measures(&old).len());
    let mut slower = old.clone();
    let best = slower.derived.sequential_bandwidth_bytes_per_s_max.as_mut().unwrap();
    (best.value, best.low, best.high) = (best.value / 2.0, best.low / 2.0, best.high / 2.0);
    assert_eq!(count(changes(&old, &slower, 10.0), Outcome::Regressed), 1);
    assert_eq!(count(changes(&slower, &old, 10.0), Outcome::Improved), 1);
    assert_eq!(count(changes(&old, &slower, 60.0), Outcome::Regressed), 0, "half is less than 60 %");
    assert!(count(changes(&old, &NVME.read_side(), 10.0), Outcome::Gone) >= 4);
}

#[test]
fn drives_are_sized_by_price_machine_and_memory() {
    let (disk, nvme) = (DISK.profile(), NVME.profile());
    let sizings = size(&[(&disk, Some(60.0)), (&nvme, Some(300.0))], &sizing_question());
    let [disk, nvme] = sizings.as_slice() else { panic!() };
    let value = |figure: Option<Interval<f64>>| figure.unwrap().value;
    let wanted = value(nvme.read_iops) / 300.0;
    assert!((value(nvme.read_iops_per_money) - wanted).abs() < 1e-9);
    assert!(value(disk.drives_per_processor) > 100.0 * value(nvme.drives_per_processor));
    assert_eq!(disk.speed_up_of_first, Some(Interval::exact(1.0)));
    // Nearly all of the I/O time is saved: 1 / 0.4.
    assert!((value(nvme.speed_up_of_first) - 2.5).abs() < 0.05);
    assert!(value(disk.keep_in_memory_s) > value(nvme.keep_in_memory_s));
    let share = |sizing: &Sizing| sizing.index_many_at_a_time.unwrap().page_share.value;
    assert!(share(nvme) > 10.0 * share(disk));
    for interval in
        [nvme.mixed_iops, nvme.drives_per_processor, nvme.keep_in_memory_s, nvme.speed_up_of_first]
    {
        let Interval { value, low, high } = interval.unwrap();
        assert!(low < value && value < high, "{interval:?}");
    }
    assert_eq!(disk.missing, []);
}

/// The planner's cost of a random page and the break-even of an index are the same ratio, at depth
/// 1 and at the knee.
#[test]
fn planner_cost_and_index_break_even_use_the_same_ratio() {
    for drive in [DISK, NVME] {
        let profile = drive.profile();
        let sizing = size(&[(&profile, None)], &sizing_question()).swap_remove(0);
        let advice = crate::advice(&profile, Product::Postgresql, Product::Postgresql.latest());
        let cost = advice.setting("random_page_cost").unwrap();
        let up_to = [sizing.index_one_by_one.unwrap(), sizing.index_many_at_a_time.unwrap()];
        for (figure, up_to) in cost.figures.iter().zip(up_to) {
            assert_eq!(figure.value, up_to.page_cost_ratio);
            assert!((up_to.page_share.value - (1.0 / figure.value.value).min(1.0)).abs() < 1e-12);
            assert!((up_to.page_share.low - (1.0 / figure.value.high).min(1.0)).abs() < 1e-12);
            let pages = (10_u64 << 30) as f64 / 8192.0;
            assert!((up_to.rows.value - pages / figure.value.value).abs() < 1e-6);
        }
        let tenths = cost.figures.iter().map(|ratio| format!("{:.1}", (ratio.value.value * 0.1).max(1.1)));
        assert!(
            tenths.clone().any(|tenth| tenth == cost.value),
            "{} of {:?}",
            cost.value,
            tenths.collect::<Vec<_>>()
        );
    }
}

/// The best of unclear times is the one most favoured by noise, and has no upper bound.
#[test]
fn best_sequential_write_has_a_clear_time() {
    let mut profile = NVME.profile();
    profile.experiments.large_writes = None;
    let patterns = &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns;
    let row = patterns.iter().find(|row| row.pattern == "sequential" && row.block_bytes == 8192).unwrap();
    let deep = PatternCost {
        queue_depth: 16,
        request_ns: Interval { value: 100.0, low: 0.0, high: 50e3 },
        ..row.clone()
    };
    patterns.push(deep);
    let of = |profile: &DeviceProfile| {
        measures(profile).into_iter().find(|measure| measure.name == "sequential writes").unwrap()
    };
    let found = of(&profile);
    assert_eq!(found.measured_on.as_deref(), Some("4MiB, depth 1"));
    assert!(found.value.high.is_finite());
    let patterns = &mut profile.experiments.write_patterns.as_mut().unwrap().findings.patterns;
    patterns.retain(|row| row.queue_depth == 16);
    assert_eq!(of(&profile).measured_on.as_deref(), Some("8KiB, depth 16"), "the only one there is");
    for product in Product::ALL {
        let text = nandle_advise::fragment(&crate::advice(&profile, product, product.latest()));
        for nonsense in ["inf M", "–inf", "PiB", "no lower bound"] {
            assert!(!text.contains(nonsense), "{nonsense}: {text}");
        }
    }
}

#[test]
fn different_requests_are_named_in_a_change() {
    let old = NVME.profile();
    let mut new = old.clone();
    new.derived.steady_state.as_mut().unwrap().block_bytes = 64 << 10;
    let changes = changes(&old, &new, 10.0);
    let named: Vec<_> = changes.iter().filter_map(|change| change.measured_on.clone()).collect();
    assert_eq!(named, [["4KiB".to_owned(), "64KiB".to_owned()]]);
}

#[test]
fn read_only_workload_needs_no_write_figures() {
    let profile = NVME.read_side();
    let question = SizingQuestion { read_share: 1.0, ..sizing_question() };
    let sizings = size(&[(&profile, None)], &question);
    assert_eq!(sizings[0].mixed_iops, sizings[0].read_iops);
    assert_eq!((sizings[0].write_iops, sizings[0].price), (None, None));
    assert!(!sizings[0].missing.is_empty());
    assert_eq!(size(&[(&profile, None)], &sizing_question())[0].mixed_iops, None);
}

fn placements(profiles: &[&DeviceProfile]) -> Vec<Placement> {
    place(profiles, 8192)
}

/// The paper's conclusion: the log gains most from flash, with components that read at random after
/// sequential writes.
#[test]
fn every_tenant_gains_from_flash_and_the_log_gains_most() {
    let (disk, nvme) = (DISK.profile(), NVME.profile());
    let placements = placements(&[&disk, &nvme]);
    assert_eq!(placements.len(), 5);
    assert!(placements.iter().all(|placement| placement.best == Some(1)), "{placements:?}");
    let gain =
        |tenant| placements.iter().find(|placement| placement.tenant == tenant).unwrap().gain_ratio.unwrap();
    assert!((gain(Tenant::Log) - 8.3e6 / 20e3).abs() < 1.0);
    assert!(gain(Tenant::TemporarySpace) > 100.0);
    assert!(placements.windows(2).all(|pair| pair[0].gain_ratio >= pair[1].gain_ratio));
}

/// A drive with the random reads of the good drive and the random writes of the disk.
#[test]
fn drive_with_slow_random_writes_holds_no_tables() {
    let bad_writer =
        crate::made_up::Drive { random_by_sequential: 400.0, steady_write_bytes_per_s: 0.1e6, ..NVME };
    let (disk, flash) = (DISK.profile(), bad_writer.profile());
    let placements = placements(&[&disk, &flash]);
    let best = |tenant| placements.iter().find(|placement| placement.tenant == tenant).unwrap().best;
    assert_eq!(best(Tenant::Tables), Some(0), "{placements:?}");
    assert_eq!(best(Tenant::TemporarySpace), Some(1));
    assert_eq!(best(Tenant::Log), Some(1));
}

#[test]
fn drives_with_overlapping_intervals_may_be_as_good() {
    let (one, mut other) = (NVME.profile(), NVME.profile());
    let log = |profiles: &[&DeviceProfile]| {
        placements(profiles).into_iter().find(|placement| placement.tenant == Tenant::Log).unwrap()
    };
    let commit = other.derived.flush_ns.as_mut().unwrap();
    commit.median_ns = Interval { value: 90e3, low: 15e3, high: 90e3 };
    let unsure = log(&[&one, &other]);
    assert_eq!((unsure.best, unsure.maybe_as_good), (Some(0), vec![1]));
    assert!(log(&[&one, &DISK.profile()]).maybe_as_good.is_empty());
}

#[test]
fn tenant_without_figures_is_not_placed() {
    let (whole, partial) = (DISK.profile(), NVME.read_side());
    for placement in placements(&[&whole, &partial]) {
        assert_eq!((placement.best, placement.gain_ratio), (None, None), "{placement:?}");
        assert!(placement.cost_ns[0].is_some() && placement.cost_ns[1].is_none());
        assert!(!placement.missing.is_empty());
    }
}
