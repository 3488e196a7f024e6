use std::collections::BTreeSet;

use nandle_io::Nanos;
use nandle_profile::Experiments;

use super::bench::{Outcome, circumstances, run_in, run_with};
use crate::experiments::smallest_block::ROUNDS_MAX;
use crate::experiments::{ALL, Circumstances, Selection, plan};

fn selection(budget_s: u64) -> Selection {
    Selection {
        budget: Nanos::from_secs(budget_s),
        write_limit_bytes: 1 << 40,
        reads_done: true,
        ..Selection::default()
    }
}

#[test]
fn every_experiment_has_its_own_name_and_a_question() {
    let names: BTreeSet<&str> = ALL.iter().map(|experiment| experiment.name()).collect();
    assert_eq!(names.len(), ALL.len());
    assert!(ALL.iter().all(|experiment| experiment.question().ends_with('?')));
}

#[test]
fn a_plan_keeps_to_budget_and_limit_and_names_what_it_leaves_out() {
    let circumstances = circumstances("mtron-16");
    for budget_s in [0, 5, 40, 100, 480, 5000] {
        for write_limit_bytes in [0, 1 << 20, 1 << 33, u64::MAX] {
            let selection = Selection { write_limit_bytes, ..selection(budget_s) };
            let plan = plan(&circumstances, &selection, &mut Experiments::default()).unwrap();
            assert!(plan.time() <= selection.budget && plan.write_bytes_max() <= write_limit_bytes);
            assert_eq!(plan.chosen.len() + plan.skipped.len(), ALL.len());
            assert!(plan.skipped.iter().all(|skipped| !skipped.reason.is_empty()));
        }
    }
}

#[test]
fn read_only_selections_write_nothing() {
    let selection = Selection { read_only: Some("it was asked for".into()), ..selection(600) };
    let plan = plan(&circumstances("mtron-16"), &selection, &mut Experiments::default()).unwrap();
    assert_eq!(plan.write_bytes_max(), 0);
    let skipped = plan.skipped.iter().find(|skipped| skipped.name == "write-patterns").unwrap();
    assert!(skipped.reason.contains("it was asked for"));
}

/// Essential experiments have priority in time, and may write where others may not.
#[test]
fn essential_experiments_have_priority() {
    let few = Selection { essential_writes_only: Some("it is short".into()), ..selection(11) };
    let chosen = |selection: &Selection| {
        let plan = plan(&circumstances("mtron-16"), selection, &mut Experiments::default()).unwrap();
        let names = plan.chosen.iter().map(|chosen| chosen.experiment.name()).collect::<Vec<_>>();
        (names, plan.unessential_write_bytes_max(), plan.write_bytes_max())
    };
    let (names, others, all) = chosen(&few);
    assert!(names.contains(&"transactions") && !names.contains(&"sync-reads"), "{names:?}");
    assert!(others == 0 && (1..=128 << 20).contains(&all), "{all}");
    let nothing = chosen(&Selection { read_only: Some("it was asked for".into()), ..few });
    assert_eq!((nothing.0.contains(&"transactions"), nothing.2), (false, 0));
    let (names, others, _) = chosen(&selection(600));
    // Its random writes would slow down the sequential writes that other patterns are compared
    // with.
    let places = ["sync-reads", "flush", "write-patterns", "transactions"]
        .map(|name| names.iter().position(|other| *other == name).unwrap());
    assert!(places.is_sorted() && others > 1 << 30, "{names:?}");
}

#[test]
fn a_first_look_times_commits_and_a_mixed_load() {
    let selection = Selection { only: vec!["transactions".into()], ..selection(10) };
    let Outcome { experiments, derived, .. } = run_with("x25-e-64", &selection, Experiments::default());
    let conducted = experiments.transactions.unwrap();
    assert!(conducted.complete, "{conducted:?}");
    let [commit] = conducted.findings.commits.as_slice() else { panic!("{conducted:?}") };
    assert!(commit.observations > 1000 && commit.latency_ns.p99.is_some(), "{commit:?}");
    assert_eq!(derived.commit_ns.unwrap().median_ns, commit.commit_ns);
    let depths: Vec<_> = conducted.findings.mixed.iter().map(|load| load.queue_depth).collect();
    assert_eq!(depths, [1, 16]);
    assert!(conducted.findings.mixed.iter().all(|load| load.latency_ns.p99.is_some()), "{conducted:?}");
}

#[test]
fn names_are_checked() {
    let selection = Selection { only: vec!["write-pattern".into()], ..selection(600) };
    let error = plan(&circumstances("mtron-16"), &selection, &mut Experiments::default()).err().unwrap();
    assert!(error.to_string().contains("write-patterns"), "{error}");
}

#[test]
fn only_incomplete_experiments_run_again() {
    let selection = Selection { only: vec!["write-patterns".into()], ..selection(30) };
    let mut first = run_with("mtron-16", &selection, Experiments::default()).experiments;
    first.write_patterns.as_mut().unwrap().complete = true;
    let again = run_with("mtron-16", &selection, first.clone()).experiments;
    assert_eq!(again.write_patterns, first.write_patterns);
    let mut begun = first;
    let conducted = begun.write_patterns.as_mut().unwrap();
    (conducted.complete, conducted.bytes_written) = (false, 0);
    let resumed = run_with("mtron-16", &selection, begun).experiments;
    assert!(resumed.write_patterns.unwrap().bytes_written > 0);
}

#[test]
fn no_more_is_written_than_was_allowed() {
    let written = |write_limit_bytes| {
        let selection = Selection { only: vec!["write-patterns".into()], write_limit_bytes, ..selection(60) };
        let conducted =
            run_with("mtron-16", &selection, Experiments::default()).experiments.write_patterns.unwrap();
        assert!(conducted.bytes_written <= write_limit_bytes, "{}", conducted.bytes_written);
        conducted
    };
    let (enough, short) = (written(256 << 20), written(4 << 20));
    assert!(enough.complete && enough.bytes_written > 64 << 20, "{enough:?}");
    assert!(!short.complete && short.ended_by.unwrap().contains("--write-limit"));
}

#[test]
fn small_write_limits_suffice_for_small_experiments() {
    let circumstances = Circumstances { is_modelled: false, ..circumstances("x25-e-64") };
    let only = ["flush", "interference", "smallest-block", "steady-state"].map(String::from).to_vec();
    let selection = Selection { write_limit_bytes: 1 << 30, only, ..selection(300) };
    let Outcome { experiments, derived, .. } =
        run_in(&circumstances, "x25-e-64", &selection, Experiments::default());
    assert_eq!(experiments.flush.unwrap().ended_by, None);
    assert_eq!(experiments.interference.unwrap().ended_by, None);
    assert_eq!(experiments.smallest_block.unwrap().ended_by, None);
    assert!(derived.flush_ns.is_some() && derived.group_commit.is_some() && derived.interference.is_some());
}

#[test]
fn a_low_write_limit_is_reported() {
    let within = |name: &str, write_limit_bytes| {
        let selection = Selection { write_limit_bytes, only: vec![name.into()], ..selection(300) };
        run_with("x25-e-64", &selection, Experiments::default()).experiments
    };
    let selection = Selection { only: vec!["smallest-block".into()], ..selection(300) };
    let wanted = plan(&circumstances("x25-e-64"), &selection, &mut Experiments::default()).unwrap();
    // Enough for one round, but not for two.
    let once = within("smallest-block", wanted.write_bytes_max() / ROUNDS_MAX as u64 * 3 / 2);
    let remarks = once.smallest_block.unwrap().remarks;
    assert!(remarks.iter().any(|remark| remark.contains("one round")), "{remarks:?}");
    let ended_by = within("interference", 4 << 20).interference.unwrap().ended_by.unwrap();
    assert!(ended_by.contains("--write-limit"), "{ended_by}");
}

#[test]
fn experiments_without_time_are_skipped_with_a_reason() {
    let only = ["smallest-block", "discard"].map(String::from).to_vec();
    let selection = Selection { only, ..selection(4) };
    let Outcome { experiments, result, .. } = run_with("sd-card", &selection, Experiments::default());
    assert!(result.is_ok() && experiments.smallest_block.is_some());
    assert_eq!(experiments.discard, None);
    let skipped = experiments.skipped.iter().find(|skipped| skipped.name == "discard").unwrap();
    assert!(skipped.reason.contains("took longer than planned"), "{}", skipped.reason);
}

#[test]
fn requests_are_multiples_of_large_logical_blocks() {
    let mut circumstances = circumstances("nvme-tlc");
    circumstances.shape.logical_block_bytes = 16 << 10;
    let selection = Selection { only: vec!["smallest-block".into()], ..selection(10) };
    let Outcome { experiments, result, .. } =
        run_in(&circumstances, "nvme-tlc", &selection, Experiments::default());
    let conducted = experiments.smallest_block.unwrap();
    assert!(result.is_ok() && conducted.ended_by.is_none(), "{result:?}, {conducted:?}");
    assert!(conducted.findings.rates.iter().all(|rate| rate.block_bytes == 16 << 10), "{conducted:?}");
    assert_eq!(conducted.findings.rates.len(), 2);
}

#[test]
fn discards_need_an_area_that_is_larger_than_what_they_are_timed_with() {
    let circumstances = Circumstances { area_bytes: 512 << 10, ..circumstances("mtron-16") };
    let selection = Selection { only: vec!["discard".into()], ..selection(10) };
    let Outcome { experiments, .. } = run_in(&circumstances, "mtron-16", &selection, Experiments::default());
    assert_eq!(experiments.discard, None);
    let skipped = experiments.skipped.iter().find(|skipped| skipped.name == "discard").unwrap();
    assert!(skipped.reason.contains("4MiB"), "{}", skipped.reason);
}
