//! Lives that begin with a store of an earlier format. Each file call of the first opening fails
//! once, and the process is killed before each. After a power cut the store must open, hold its old
//! contents and accept commits.

use super::clients::{self, Client, Interface};
use super::folder::{Plan, Survivors};
use super::judge::Record;
use super::mount::{FileSystem, STORE};
use super::{CallKind, is_atomic, survive};
use crate::fixtures::{Fixture, PAGES, contents};

/// A conversion with a failing call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingConversion {
    /// Name of the fixture.
    pub fixture: String,
    /// Kind of the failed call, or `None` if the process was killed.
    pub kind: Option<CallKind>,
    /// Number of the call among its kind, or among all calls if the process was killed.
    pub nth: u64,
}

/// Results of failed conversions.
#[derive(Debug, Clone, Default)]
pub struct ConversionSummary {
    /// Lives with a failed call or a killed process.
    pub runs: u64,
    /// Broken promises.
    pub violations: Vec<(FailingConversion, String)>,
}

/// Fails every `every`-th call of each kind in the first opening of a fixture, and kills the
/// process before every `every`-th call.
///
/// # Panics
/// `every` is 0.
pub fn fail_conversion(file_system: &FileSystem, fixture: &Fixture, every: u64) -> ConversionSummary {
    assert!(every > 0, "each call, or each of several");
    let mut summary = ConversionSummary::default();
    let undisturbed = survive(|| live(file_system, fixture, Plan::default()));
    if let Err(what) = undisturbed {
        let life = FailingConversion { fixture: fixture.name.clone(), kind: None, nth: 0 };
        summary.violations.push((life, format!("without a failure: {what}")));
        return summary;
    }
    let calls = file_system.calls();
    let step = usize::try_from(every).unwrap_or(usize::MAX);
    let first = 1 + (u64::from(fixture.policy as u8) + u64::from(fixture.version)) % every;
    for nth in (first..=calls.all()).step_by(step) {
        summary.add(file_system, fixture, (None, nth), Plan { end: Some(nth), ..Plan::default() });
    }
    for kind in CallKind::ALL {
        // Calls of other kinds are few.
        let step = if matches!(kind, CallKind::Read | CallKind::Write) { step } else { step.div_ceil(20) };
        for nth in (1..=calls.of(kind)).step_by(step) {
            summary.add(
                file_system,
                fixture,
                (Some(kind), nth),
                Plan { fail: Some((kind, nth)), ..Plan::default() },
            );
        }
    }
    summary
}

impl ConversionSummary {
    fn add(
        &mut self,
        file_system: &FileSystem,
        fixture: &Fixture,
        call: (Option<CallKind>, u64),
        plan: Plan,
    ) {
        self.runs += 1;
        if let Err(what) = survive(|| live(file_system, fixture, plan)) {
            let life = FailingConversion { fixture: fixture.name.clone(), kind: call.0, nth: call.1 };
            self.violations.push((life, what));
        }
    }
}

/// Runs the life that `plan` describes.
fn live(file_system: &FileSystem, fixture: &Fixture, plan: Plan) -> Result<(), String> {
    file_system.folder(|folder| {
        folder.reset(plan);
        folder.put(STORE, &fixture.image);
    });
    let mut record = Record::of_store(is_atomic(fixture.policy), PAGES, contents());
    let has_failed = || file_system.folder(|folder| folder.has_failed);
    match clients::open(Interface::PageStore, &file_system.path()) {
        Ok(mut client) => {
            // The failed call changed nothing, such as the removal of an obsolete file.
            record.check(&mut *client, has_failed)?;
            commit(&mut *client, &mut record, &[3, 20, 50], has_failed)?;
            client
                .close()
                .or_else(|error| if has_failed() { Ok(()) } else { Err(format!("close: {error}")) })?;
        }
        Err(_) if has_failed() => {}
        Err(error) => return Err(format!("opening: {error}")),
    }
    judge(file_system, &record)
}

fn commit(
    client: &mut dyn Client,
    record: &mut Record,
    pages: &[u64],
    may_fail: impl Fn() -> bool,
) -> Result<(), String> {
    let version = record.tries(pages);
    match client.commit(pages, version) {
        Ok(()) => record.acknowledges(version),
        Err(_) if may_fail() => {}
        Err(error) => return Err(format!("commit: {error}")),
    }
    Ok(())
}

/// Opens each state that a power cut may leave, commits, and opens the states after a second cut.
fn judge(file_system: &FileSystem, record: &Record) -> Result<(), String> {
    let end = file_system.folder(|folder| {
        folder.end_failures();
        folder.clone()
    });
    for survivors in Survivors::ALL {
        file_system.folder(|folder| {
            folder.restore(&end);
            folder.cut(survivors);
        });
        let mut record = record.clone();
        for again in Survivors::ALL.into_iter().map(Some).chain([None]) {
            let said =
                |what: String| format!("after a power cut that leaves {survivors:?}, then {again:?}: {what}");
            let client = clients::open(Interface::PageStore, &file_system.path());
            let mut client = client.map_err(|error| said(format!("opening: {error}")))?;
            record.check(&mut *client, || false).map_err(said)?;
            commit(&mut *client, &mut record, &[4, 40, 63], || false).map_err(said)?;
            let Some(again) = again else {
                client.close().map_err(|error| said(format!("close: {error}")))?;
                break;
            };
            drop(client);
            file_system.folder(|folder| folder.cut(again));
        }
        let left = file_system.folder(|folder| folder.len());
        if left != 1 {
            return Err(format!("{left} files are left"));
        }
    }
    Ok(())
}
