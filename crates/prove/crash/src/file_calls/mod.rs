//! Fails every file call of a store once, and checks that nothing acknowledged is lost.
//!
//! An in-process FUSE file system serves the store's folder from memory. It counts calls by
//! [kind](CallKind), and fails the n-th call of a kind:
//!
//! | kind | failure |
//! |---|---|
//! | sync of the file | an error, once; dirty blocks become clean, stay readable and are never written (Rebello et al., USENIX ATC 2020) |
//! | sync of the folder | an error, once; the file's name is never written |
//! | reservation (`fallocate`) | no space, after half of it was reserved |
//! | length (`ftruncate`) | no space |
//! | write | an error, after half of it was written |
//! | read | an error |
//! | creation | no space |
//! | rename, removal, change of owner | an error |
//!
//! A life creates a store through one of its [interfaces](Interface), commits, grows, checkpoints,
//! closes, opens and commits again. Each possible set of surviving unsynced blocks is then opened
//! without failures, and must hold all acknowledged commits. Other lives begin with a
//! [fixture](crate::Fixture) of an earlier format, which the first opening converts. There the
//! process is also killed before each call.

mod clients;
mod conversion;
mod file;
mod folder;
mod judge;
mod kind;
mod life;
mod messages;
mod mount;
mod server;

use std::panic::{AssertUnwindSafe, catch_unwind};

use nandle_pages::{PolicyKind, Promises};

pub use self::clients::Interface;
pub use self::conversion::{ConversionSummary, FailingConversion, fail_conversion};
use self::folder::Plan;
pub use self::kind::CallKind;
pub use self::mount::{FileSystem, MountError};

/// A life with one failing call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailingCall {
    /// Interface through which the store is used.
    pub interface: Interface,
    /// Write policy.
    pub policy: PolicyKind,
    /// Kind of the failing call.
    pub kind: CallKind,
    /// Number of the call among its kind, counted from 1.
    pub nth: u64,
}

/// Results of lives with failing calls.
#[derive(Debug, Clone, Default)]
pub struct FileCallSummary {
    /// Lives with a failed call.
    pub runs: u64,
    /// Failing calls, each with the first promise that it broke.
    pub violations: Vec<(FailingCall, String)>,
}

/// Fails every `every`-th call of each kind, for one interface and policy.
///
/// # Panics
/// `every` is 0.
pub fn fail_calls(
    file_system: &FileSystem,
    interface: Interface,
    policy: PolicyKind,
    every: u64,
) -> FileCallSummary {
    assert!(every > 0, "each call, or each of several");
    let mut summary = FileCallSummary::default();
    let undisturbed = survive(|| life::live(file_system, interface, policy, Plan::default()));
    if let Err(what) = undisturbed {
        let call = FailingCall { interface, policy, kind: CallKind::Sync, nth: 0 };
        summary.violations.push((call, format!("without a failure: {what}")));
        return summary;
    }
    let calls = file_system.calls();
    for kind in CallKind::ALL {
        // Different calls for each policy.
        let first = 1 + u64::from(policy as u8) % every;
        for nth in (first..=calls.of(kind)).step_by(usize::try_from(every).unwrap_or(usize::MAX)) {
            summary.runs += 1;
            let call = FailingCall { interface, policy, kind, nth };
            if let Err(what) = fail_call(file_system, call) {
                summary.violations.push((call, what));
            }
        }
    }
    summary
}

/// Runs one life in which this call fails.
///
/// # Errors
/// A broken promise.
pub fn fail_call(file_system: &FileSystem, call: FailingCall) -> Result<(), String> {
    let FailingCall { interface, policy, kind, nth } = call;
    let plan = Plan { fail: Some((kind, nth)), ..Plan::default() };
    survive(|| life::live(file_system, interface, policy, plan))
}

/// Runs a life. A panic counts as a violation.
fn survive(live: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(live)).unwrap_or_else(|_| Err("a panic".into()))
}

/// Returns true if unacknowledged batches are atomic under a policy.
fn is_atomic(policy: PolicyKind) -> bool {
    let Promises { atomic_batch, .. } = policy.promises();
    atomic_batch
}
