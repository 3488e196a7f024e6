//! Library calls as other programs make them, on modelled drives and on a file of the real disk.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "this file only has tests")]

use std::time::SystemTime;

use nandle_probe::load::{LoadError, Refill, Stop};
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::SweepOptions;
use nandle_profile::OperationKind;
use nandle_session::probe::ResumeError;
use nandle_session::sweep::SweepEnd;
use nandle_session::{
    Access, Cancel, Observer, Probe, ProbeError, ProbeOptions, Progress, SweepError, Unobserved, probe, sweep,
};
use nandle_target::TargetSpec;
use nandle_units::Nanos;

const DRIVE: &str = "model:sd-card";

fn target(text: &str) -> TargetSpec {
    text.parse().unwrap()
}

/// Options of a short probe with reads only.
fn reading(budget_s: u64) -> ProbeOptions {
    ProbeOptions { budget: Nanos::from_secs(budget_s), ..ProbeOptions::new(SystemTime::now()) }
}

/// Options of a probe with two experiments that write little.
fn writing(cancel: Cancel) -> ProbeOptions {
    let only = ["smallest-block", "flush"].map(String::from).to_vec();
    ProbeOptions { read_only: None, only, cancel, ..reading(120) }
}

fn cells(queue_depths: &[u32]) -> SweepOptions {
    SweepOptions {
        patterns: vec![PatternSpec::Random],
        block_sizes: vec![4096],
        group_sizes: vec![1],
        queue_depths: queue_depths.to_vec(),
        operations: vec![OperationKind::Read],
        stop: Stop::after_bytes(1 << 20),
        refill: Refill::Exact,
        rate: None,
        threads: 1,
        read_pool_bytes: 0,
        seed: 1,
        outstanding_bytes_max: 64 << 20,
    }
}

/// Cancels when an activity of this name starts.
struct CancelAt(&'static str, Cancel);

impl Observer for CancelAt {
    fn progress(&mut self, doing: &str, _share: f64) {
        if doing.contains(self.0) {
            self.1.cancel();
        }
    }
}

impl Progress for CancelAt {}

#[test]
fn a_probe_of_a_model_is_a_profile() {
    let profile = probe(&target(DRIVE), &reading(60), &mut Unobserved).unwrap();
    assert_eq!((profile.target.as_str(), profile.partial.len()), (DRIVE, 0), "{:?}", profile.partial);
    assert!(profile.conditions.reads_complete && profile.derived.random_read_iops_max.is_some());
    assert_eq!(profile.experiments.flush, None, "nothing is written without permission");
}

#[test]
fn a_probe_of_a_file_reads_what_the_file_holds_and_leaves_it_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("data");
    let bytes: Vec<u8> = (0..4 << 20).map(|number: u32| number.to_le_bytes()[1]).collect();
    std::fs::write(&path, &bytes).unwrap();
    let options = ProbeOptions { access: Access { direct: false, ..Access::default() }, ..reading(2) };
    let profile = match probe(&TargetSpec::Path(path.clone()), &options, &mut Unobserved) {
        Ok(profile) => profile,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(profile.conditions.file_bytes, bytes.len() as u64);
    assert!(!profile.cells.is_empty() && !profile.backend.direct);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_cancelled_probe_keeps_its_results_and_resuming_runs_the_rest() {
    let cancel = Cancel::default();
    let first = Probe::open(&target(DRIVE), &writing(cancel.clone())).unwrap();
    let planned: Vec<&str> =
        first.plan().experiments.chosen.iter().map(|chosen| chosen.experiment.name()).collect();
    assert_eq!(planned, ["smallest-block", "flush"]);
    let mut kept = Vec::new();
    let ended = first.run(&mut CancelAt("flush", cancel), &mut |profile| {
        kept.push(profile.clone());
        Ok(())
    });
    let error = ended.unwrap_err();
    assert!(matches!(error, ProbeError::Ended { cause: LoadError::Cancelled, .. }), "{error}");
    let partial = error.profile().unwrap().clone();
    let flush = partial.experiments.flush.as_ref().unwrap();
    assert!(!flush.complete && flush.ended_by.is_some());
    assert!(kept[0].experiments.smallest_block.as_ref().unwrap().complete, "kept before the next one began");
    assert_eq!(kept[0].experiments.flush, None);

    let options = ProbeOptions { resume: Some(partial.clone()), ..writing(Cancel::default()) };
    let second = Probe::open(&target(DRIVE), &options).unwrap();
    let missing = &second.plan().experiments.chosen;
    assert_eq!(missing.iter().map(|chosen| chosen.experiment.name()).collect::<Vec<_>>(), ["flush"]);
    let whole = second.run(&mut Unobserved, &mut |_| Ok(())).unwrap();
    assert!(whole.experiments.flush.unwrap().complete);
    assert_eq!(whole.experiments.smallest_block, partial.experiments.smallest_block);
}

#[test]
fn a_profile_of_another_target_is_not_resumed() {
    let of_another = probe(&target("model:nvme-tlc"), &reading(1), &mut Unobserved).unwrap();
    let options = ProbeOptions { resume: Some(of_another), ..reading(1) };
    let error = probe(&target(DRIVE), &options, &mut Unobserved).unwrap_err();
    assert!(matches!(error, ProbeError::Resume(ResumeError::Target { .. })), "{error}");
}

#[test]
fn unprobeable_targets_are_refused_with_a_reason() {
    let refused =
        |text: &str, options: &ProbeOptions| probe(&target(text), options, &mut Unobserved).unwrap_err();
    let nowhere = refused("/nonexistent/nandle", &reading(1));
    assert!(matches!(nowhere, ProbeError::Session(_)) && nowhere.profile().is_none(), "{nowhere}");
    let short = ProbeOptions { budget: Nanos::from_millis(1), ..reading(1) };
    assert!(matches!(refused(DRIVE, &short), ProbeError::BudgetTooShort { .. }));
    let nothing = ProbeOptions { only: vec!["flush".into()], skip: vec!["flush".into()], ..reading(1) };
    assert!(matches!(refused(DRIVE, &nothing), ProbeError::AllSkipped { .. }));
    let unknown = ProbeOptions { only: vec!["flushes".into()], ..reading(1) };
    let unknown = refused(DRIVE, &unknown);
    assert!(matches!(unknown, ProbeError::UnknownExperiment(_)), "{unknown}");
    assert!(unknown.to_string().ends_with("reads"), "the reads are listed as well: {unknown}");
    let forbidden = ProbeOptions { only: vec!["flush".into()], ..reading(60) };
    let forbidden = refused(DRIVE, &forbidden);
    assert!(matches!(forbidden, ProbeError::NothingPlanned { .. }), "{forbidden}");
}

#[test]
fn a_profile_that_cannot_be_stored_is_returned() {
    let options = ProbeOptions { only: vec!["smallest-block".into()], ..writing(Cancel::default()) };
    let error = Probe::open(&target(DRIVE), &options)
        .unwrap()
        .run(&mut Unobserved, &mut |_| Err("the disk is full".into()))
        .unwrap_err();
    assert!(matches!(error, ProbeError::NotKept { .. }) && error.to_string() == "the disk is full");
    assert!(error.profile().unwrap().experiments.smallest_block.is_some());
}

#[test]
fn a_cancelled_sweep_can_be_resumed() {
    let (drive, access) = (target(DRIVE), Access::default());
    let whole = sweep(&drive, &access, cells(&[1, 4]), &Cancel::default(), &mut Unobserved).unwrap();
    assert!(whole.complete && whole.cells.len() == 2 && whole.target == DRIVE);

    let cancel = Cancel::default();
    let mut at_depth_4 = CancelAt("depth 4", cancel.clone());
    let error = sweep(&drive, &access, cells(&[1, 4]), &cancel, &mut at_depth_4).unwrap_err();
    let ended =
        matches!(&error, SweepError::Ended { end: SweepEnd::Interrupted { measured: 1, cells: 2 }, .. });
    assert!(ended, "{error}");
    let measured = error.file().unwrap().cells.clone();
    assert_eq!(measured, whole.cells[..1]);

    let mut rest = nandle_session::Sweep::open(&drive, &access, cells(&[1, 4]), &Cancel::default()).unwrap();
    rest.resume(measured);
    assert_eq!(rest.plan().cells.len(), 1);
    assert_eq!(rest.run(&mut Unobserved, &mut |_| Ok(())).unwrap(), whole);
}

#[test]
fn invalid_sweeps_are_refused() {
    let run =
        |options| sweep(&target(DRIVE), &Access::default(), options, &Cancel::default(), &mut Unobserved);
    let threads = run(SweepOptions { threads: 2, ..cells(&[1]) }).unwrap_err();
    assert!(matches!(threads, SweepError::ModelThreads { threads: 2, .. }), "{threads}");
    let empty = run(cells(&[])).unwrap_err();
    assert!(matches!(empty, SweepError::Plan { .. }) && empty.file().is_none(), "{empty}");
}
