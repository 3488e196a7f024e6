use nandle_io::{Io, Nanos, Operation};
use nandle_profile::experiments::{DepartureKind, SteadyState};
use nandle_profile::{Conducted, Experiments, SteadyStateFigures};

use super::bench::{circumstances, run};
use crate::Unobserved;
use crate::experiments::{Circumstances, ExperimentEnv, Selection, conduct, plan};
use crate::load::Cancel;
use crate::virtual_world::{FakeWorld, Timing};

fn measure(drive: &str, budget_s: u64) -> (Conducted<SteadyState>, SteadyStateFigures) {
    let outcome = run(drive, "steady-state", Nanos::from_secs(budget_s));
    outcome.result.unwrap();
    (outcome.experiments.steady_state.unwrap(), outcome.derived.steady_state.unwrap())
}

#[test]
fn a_page_map_slows_down_when_cleaning_begins() {
    let (conducted, figures) = measure("x25-e-64", 120);
    assert!(conducted.complete && figures.reached, "{:?}", conducted.ended_by);
    assert!(figures.of_fresh.unwrap() < 0.3, "{figures:?}");
    let [fall] = conducted.findings.departures.as_slice() else {
        panic!("{:?}", conducted.findings.departures)
    };
    assert_eq!(fall.kind, DepartureKind::CleaningBegan);
    assert!(fall.after_bytes_per_s < fall.before_bytes_per_s / 3.0, "{fall:?}");
    assert!(figures.write_amplification.unwrap().factor > 3.0, "nearly full, at random");
}

/// Three times slower in every other period of 1.5 s, so that no five rounds of a second are alike.
struct UnsteadyTiming;

impl Timing for UnsteadyTiming {
    fn done_at(&mut self, now: Nanos, _operation: &Operation, _outstanding: usize) -> Nanos {
        now + Nanos::from_micros(if (now.0 / 1_500_000_000).is_multiple_of(2) { 4_000 } else { 12_000 })
    }
}

#[test]
fn unsteady_devices_get_a_remark_after_the_specifications_rounds() {
    let open = |slots: u32| {
        let world = FakeWorld::new(1 << 30, UnsteadyTiming).slots(slots as usize);
        let device = world.device();
        Ok((Box::new(world) as Box<dyn Io>, device))
    };
    let circumstances =
        Circumstances { area_bytes: 1 << 30, shape: open(1).unwrap().1.shape, ..circumstances("sd-card") };
    let env = ExperimentEnv {
        open: &open,
        open_without_cache: None,
        drive_log: &|| None,
        host_files: None,
        circumstances,
        read_pool_bytes: 0,
        patience: Nanos::from_secs(30),
        seed: 1,
        cancel: &Cancel::default(),
    };
    let selection = Selection {
        budget: Nanos::from_secs(45),
        write_limit_bytes: u64::MAX,
        only: vec!["steady-state".into()],
        ..Selection::default()
    };
    let mut experiments = Experiments::default();
    let plan = plan(&env.circumstances, &selection, &mut experiments).unwrap();
    conduct(&plan, &env, &mut experiments, &mut Unobserved, &mut |_| {}).unwrap();
    let conducted = experiments.steady_state.unwrap();
    assert!(conducted.findings.rounds.len() >= 25 && !conducted.findings.reached);
    let said = |remark: &String| remark.contains("It was not steady within");
    assert!(conducted.remarks.iter().any(said), "{:?}", conducted.remarks);
}

#[test]
fn a_region_of_single_level_cells_is_seen_to_fill_up() {
    let (conducted, figures) = measure("nvme-tlc", 60);
    assert!(!figures.reached, "a minute is too short to write enough of its capacity");
    assert!((0.1..0.5).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    let fall =
        conducted.findings.departures.iter().find(|departure| departure.kind == DepartureKind::CleaningBegan);
    let fall = fall.unwrap();
    assert!(fall.after_bytes_per_s < fall.before_bytes_per_s / 2.0, "{fall:?}");
}

#[test]
fn a_hybrid_map_is_slow_from_the_start() {
    let (conducted, figures) = measure("mtron-16", 60);
    assert!(figures.reached && (0.8..1.2).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    assert!(figures.write_amplification.unwrap().factor > 100.0, "a superblock is copied for 4 KiB");
    assert!(conducted.findings.departures.is_empty(), "{:?}", conducted.findings.departures);
}

#[test]
fn a_disk_has_no_departures_and_no_write_counters() {
    let (conducted, figures) = measure("barracuda-7200.10", 60);
    assert_eq!(figures.write_amplification, None);
    assert!((0.8..1.2).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    assert!(conducted.findings.departures.is_empty());
    assert!(!figures.reached, "too little of its capacity was written");
    assert!(conducted.remarks.iter().any(|remark| remark.contains("would show")), "{:?}", conducted.remarks);
}
