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

/// Syncs of a life that fail in turn.
const SYNCS: u64 = 30;

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

/// A store that forgets a failed sync is caught, so the tests above can fail.
#[test]
fn a_failed_sync_that_is_forgotten_is_caught() {
    let Some(file_system) = mounted() else { return };
    // This interface runs in the thread of the test, for which the defect is seeded.
    let call = |nth| FailingCall {
        interface: Interface::Store,
        policy: PolicyKind::Direct,
        kind: CallKind::Sync,
        nth,
    };
    seed_defect(Some(Defect::FailedFlushForgotten));
    let caught = (0..SYNCS).filter(|nth| fail_call(&file_system, call(*nth)).is_err()).count();
    seed_defect(None);
    println!("caught in {caught} of {SYNCS} lives");
    assert!(caught > 0);
}
