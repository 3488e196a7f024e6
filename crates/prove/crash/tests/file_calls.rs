//! Each file call of a store fails once, and nothing that was acknowledged is lost.
#![allow(
    missing_docs,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests, and helpers of tests are part of them"
)]

use nandle_crash::file_calls::{
    CallKind, FailingCall, FileCallSummary, FileSystem, Interface, fail_call, fail_calls,
};
use nandle_pages::{Defect, PolicyKind, seed_defect};

/// `None`, loudly, where this process may not mount one.
fn mounted() -> Option<FileSystem> {
    FileSystem::mount().inspect_err(|why| eprintln!("SKIPPED: failing file calls: {why}")).ok()
}

fn fail_some(interface: Interface, every: u64) {
    let Some(file_system) = mounted() else { return };
    let mut runs = 0;
    for policy in PolicyKind::ALL {
        let FileCallSummary { runs: of_policy, violations } =
            fail_calls(&file_system, interface, policy, every);
        assert_eq!(violations, [], "{interface}, {policy}");
        runs += of_policy;
    }
    println!("{interface}: {runs} lives in which a call failed");
    assert!(runs > 60, "{runs}");
}

#[test]
fn a_page_store_loses_nothing_when_a_call_fails() {
    fail_some(Interface::PageStore, 3);
}

#[test]
fn a_blocking_store_loses_nothing_when_a_call_fails() {
    fail_some(Interface::BlockingStore, 5);
}

#[test]
fn a_store_loses_nothing_when_a_call_fails() {
    fail_some(Interface::Store, 5);
}

/// Syncs of a life in which commits and a growth are under way.
const SYNCS: std::ops::Range<u64> = 8..48;
/// The order of commits and growth is the system's, so a defect shows itself in some rounds.
const ROUNDS: u64 = 60;

/// A growth that syncs beside the store is caught, so the tests above can fail.
#[test]
fn a_growth_that_syncs_aside_is_caught() {
    let Some(file_system) = mounted() else { return };
    let call = |nth| FailingCall {
        interface: Interface::PageStore,
        policy: PolicyKind::Direct,
        kind: CallKind::Sync,
        nth,
    };
    seed_defect(Some(Defect::GrowthSyncedAside));
    let lives = (0..ROUNDS).flat_map(|_| SYNCS).enumerate();
    let caught =
        lives.into_iter().find_map(|(life, nth)| Some((life, fail_call(&file_system, call(nth)).err()?)));
    seed_defect(None);
    println!("caught by life {caught:?}");
    assert!(caught.is_some());
}
