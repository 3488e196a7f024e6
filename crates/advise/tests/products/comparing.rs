use nandle_advise::compare::{Placement, SizingQuestion, Tenant, Verdict, changes, measures, place, size};
use nandle_advise::economics::Processor;
use nandle_profile::DeviceProfile;

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
fn a_profile_hasnt_changed_against_itself_and_has_against_a_slower_one() {
    let old = NVME.profile();
    let count = |changes: Vec<nandle_advise::compare::Change>, verdict| {
        changes.iter().filter(|change| change.verdict == verdict).count()
    };
    assert_eq!(count(changes(&old, &old, 0.0), Verdict::Unchanged), measures(&old).len());
    let mut slower = old.clone();
    let best = slower.derived.sequential_bandwidth_bytes_per_s_max.as_mut().unwrap();
    (best.value, best.low, best.high) = (best.value / 2.0, best.low / 2.0, best.high / 2.0);
    assert_eq!(count(changes(&old, &slower, 10.0), Verdict::Regressed), 1);
    assert_eq!(count(changes(&slower, &old, 10.0), Verdict::Improved), 1);
    assert_eq!(count(changes(&old, &slower, 60.0), Verdict::Regressed), 0, "half is less than 60 %");
    assert!(count(changes(&old, &NVME.read_side(), 10.0), Verdict::Gone) >= 4);
}

#[test]
fn drives_are_weighed_by_price_machine_and_memory() {
    let (disk, nvme) = (DISK.profile(), NVME.profile());
    let sizings = size(&[(&disk, Some(60.0)), (&nvme, Some(300.0))], &sizing_question());
    let [disk, nvme] = sizings.as_slice() else { panic!() };
    let wanted = nvme.read_iops.unwrap() / 300.0;
    assert!((nvme.read_iops_per_money.unwrap() - wanted).abs() < 1e-9);
    assert!((disk.drives_per_processor.unwrap() * disk.processors_per_drive.unwrap() - 1.0).abs() < 1e-9);
    assert!(disk.drives_per_processor.unwrap() > 100.0 * nvme.drives_per_processor.unwrap());
    assert!((disk.speed_up_of_first.unwrap() - 1.0).abs() < 1e-9);
    // Nearly all of the I/O time goes: 1 / 0.4.
    assert!((nvme.speed_up_of_first.unwrap() - 2.5).abs() < 0.05);
    assert!(disk.keep_in_memory_s.unwrap() > nvme.keep_in_memory_s.unwrap());
    assert!(nvme.index_break_even_share.unwrap() > 10.0 * disk.index_break_even_share.unwrap());
    assert_eq!(disk.missing, []);
}

#[test]
fn a_workload_that_only_reads_needs_no_figures_of_writing() {
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

/// Enterprise's conclusion: the log and whatever reads at random after writing in sequence gain most by flash.
#[test]
fn every_tenant_gains_by_flash_and_the_log_gains_much() {
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

/// A drive that reads at random as the good one does, and writes at random as the disk.
#[test]
fn a_drive_that_writes_at_random_badly_holds_no_tables() {
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
fn what_is_not_known_is_not_placed() {
    let (whole, partial) = (DISK.profile(), NVME.read_side());
    for placement in placements(&[&whole, &partial]) {
        assert_eq!((placement.best, placement.gain_ratio), (None, None), "{placement:?}");
        assert!(placement.cost_ns[0].is_some() && placement.cost_ns[1].is_none());
        assert!(!placement.missing.is_empty());
    }
}
