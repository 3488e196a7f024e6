use nandle_io::Nanos;
use nandle_profile::experiments::{DepartureKind, SteadyState};
use nandle_profile::{Conducted, SteadyStateFigures};

use super::bench::run;

fn measure(drive: &str, budget_s: u64) -> (Conducted<SteadyState>, SteadyStateFigures) {
    let outcome = run(drive, "steady-state", Nanos::from_secs(budget_s));
    outcome.result.unwrap();
    (outcome.experiments.steady_state.unwrap(), outcome.derived.steady_state.unwrap())
}

#[test]
fn a_page_map_falls_once_it_cleans() {
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

/// Cleaning makes it pause for a second and a half each time, so that no two rounds of a second are alike.
#[test]
fn what_is_never_steady_is_said_so_after_the_specifications_rounds() {
    let outcome = run("x25-e-64", "steady-state", Nanos::from_secs(45));
    outcome.result.unwrap();
    let conducted = outcome.experiments.steady_state.unwrap();
    assert_eq!((conducted.findings.rounds.len(), conducted.findings.reached), (25, false));
    let said = |remark: &String| remark.contains("not steady within 25 rounds");
    assert!(conducted.remarks.iter().any(said), "{:?}", conducted.remarks);
    assert!(!outcome.derived.steady_state.unwrap().reached);
}

#[test]
fn a_region_of_single_level_cells_is_seen_to_fill_up() {
    let (conducted, figures) = measure("nvme-tlc", 60);
    assert!(figures.reached, "{:?}", conducted.ended_by);
    assert!((0.1..0.5).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    let fall =
        conducted.findings.departures.iter().find(|departure| departure.kind == DepartureKind::CleaningBegan);
    let fall = fall.unwrap();
    assert!(fall.after_bytes_per_s < fall.before_bytes_per_s / 2.0, "{fall:?}");
}

#[test]
fn a_hybrid_map_is_slow_from_the_start_and_stays_so() {
    let (conducted, figures) = measure("mtron-16", 60);
    assert!(figures.reached && (0.8..1.2).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    assert!(figures.write_amplification.unwrap().factor > 100.0, "a superblock is copied for 4 KiB");
    assert!(conducted.findings.departures.is_empty(), "{:?}", conducted.findings.departures);
}

#[test]
fn a_disk_does_not_change_and_nobody_counts() {
    let (conducted, figures) = measure("barracuda-7200.10", 60);
    assert_eq!(figures.write_amplification, None);
    assert!((0.8..1.2).contains(&figures.of_fresh.unwrap()), "{figures:?}");
    assert!(conducted.findings.departures.is_empty());
    assert_eq!(conducted.findings.rounds.len(), 25, "only after all rounds it may be called steady");
    assert!(
        conducted.remarks.iter().any(|remark| remark.contains("of the area only")),
        "{:?}",
        conducted.remarks
    );
}
