//! Fails every file call of a store once, and checks that nothing acknowledged is lost.
//!
//! A file system of this process, by FUSE, serves the store's folder from memory. It counts calls by
//! [kind](CallKind), and fails the n-th of a kind:
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
//! A life makes a store through one of its [interfaces](Interface), commits, grows, checkpoints, closes, opens and
//! commits again. Each way in which unsynced blocks can survive is then opened without a failure, and
//! holds what had been acknowledged. Other lives begin with a [fixture](crate::Fixture) of an earlier format, which their first
//! opening converts: there the process is also killed before each call.

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

/// A life in which one call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailingCall {
    /// How the store is used.
    pub interface: Interface,
    /// How it writes.
    pub policy: PolicyKind,
    /// Which kind of call fails.
    pub kind: CallKind,
    /// Which of that kind, from 1 on.
    pub nth: u64,
}

/// Failed calls, and promises that the store broke after them.
#[derive(Debug, Clone, Default)]
pub struct FileCallSummary {
    /// Lives in which a call failed.
    pub runs: u64,
    /// Lives with a broken promise, and the first that was broken.
    pub violations: Vec<(FailingCall, String)>,
}

/// Fails each `every`-th call of each kind in lives of one interface and policy.
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
        // Not the same ones under each policy.
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

/// Lives one life in which this call fails.
///
/// # Errors
/// The promise that was broken.
pub fn fail_call(file_system: &FileSystem, call: FailingCall) -> Result<(), String> {
    let FailingCall { interface, policy, kind, nth } = call;
    let plan = Plan { fail: Some((kind, nth)), ..Plan::default() };
    survive(|| life::live(file_system, interface, policy, plan))
}

/// A panic of a store is a violation like any other.
fn survive(live: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(live)).unwrap_or_else(|_| Err("a panic".into()))
}

/// What a policy promises of a batch that wasn't acknowledged.
fn is_atomic(policy: PolicyKind) -> bool {
    let Promises { atomic_batch, .. } = policy.promises();
    atomic_batch
}
