//! Each file call of a store fails once, and all acknowledged commits survive.
#![allow(
    missing_docs,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests, and helpers of tests are part of them"
)]

use nandle_crash::Fixture;
use nandle_crash::file_calls::{
    CallKind, ConversionSummary, FailingCall, FileCallSummary, FileSystem, Interface, fail_call, fail_calls,
    fail_conversion,
};
use nandle_pages::{Defect, PolicyKind, seed_defect};

/// Number of syncs of a life that fail in turn.
const SYNCS: u64 = 30;

/// Returns `None`, with a message, where this process may not mount one.
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

/// The first opening converts the store. Calls fail and the process is killed during it.
#[test]
fn a_store_of_an_earlier_format_loses_nothing_when_a_call_fails() {
    let Some(file_system) = mounted() else { return };
    let mut runs = 0;
    let some = |fixture: &Fixture| (fixture.policy as u32 + fixture.version).is_multiple_of(3);
    for fixture in Fixture::all().unwrap().into_iter().filter(some) {
        let ConversionSummary { runs: of_fixture, violations } = fail_conversion(&file_system, &fixture, 79);
        assert_eq!(violations, [], "{}", fixture.name);
        runs += of_fixture;
    }
    println!("{runs} lives in which a call failed or the process was killed");
    assert!(runs > 100, "{runs}");
}

/// The oracle catches a store that forgets a failed sync.
#[test]
fn a_failed_sync_that_is_forgotten_is_caught() {
    let Some(file_system) = mounted() else { return };
    // This interface runs in the test's thread, where the defect is seeded.
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

/// The oracle catches a conversion that doesn't sync its names.
#[test]
fn names_that_a_conversion_does_not_sync_are_caught() {
    let Some(file_system) = mounted() else { return };
    let fixtures = Fixture::all().unwrap();
    let oldest = fixtures.iter().find(|fixture| fixture.version == 1).unwrap();
    seed_defect(Some(Defect::ConversionUnsynced));
    let ConversionSummary { violations, .. } = fail_conversion(&file_system, oldest, 1000);
    seed_defect(None);
    println!("{violations:?}");
    assert!(!violations.is_empty());
}
