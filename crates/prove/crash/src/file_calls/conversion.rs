//! Lives that begin with a store of an earlier format: each file call of its first opening fails once, and the process is
//! killed before each. What a power cut then leaves opens, holds what the old store held, and goes on.

use super::clients::{self, Client, Interface};
use super::folder::{Plan, Survivors};
use super::judge::Record;
use super::mount::{FileSystem, STORE};
use super::{CallKind, is_atomic, survive};
use crate::fixtures::{Fixture, PAGES, contents};

/// A life of a fixture in which calls fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingConversion {
    /// The fixture's name.
    pub fixture: String,
    /// The call that failed, or `None` where the process was killed before it.
    pub kind: Option<CallKind>,
    /// Which of that kind, or of all.
    pub nth: u64,
}

/// Failed conversions, and promises that were broken after them.
#[derive(Debug, Clone, Default)]
pub struct ConversionSummary {
    /// Lives in which a call failed or the process was killed.
    pub runs: u64,
    /// Broken promises.
    pub violations: Vec<(FailingConversion, String)>,
}

/// Fails each `every`-th call of each kind in the first opening of a fixture, and kills before each `every`-th.
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
        // There are few of the others.
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

/// Lives it.
fn live(file_system: &FileSystem, fixture: &Fixture, plan: Plan) -> Result<(), String> {
    file_system.folder(|folder| {
        folder.reset(plan);
        folder.put(STORE, &fixture.image);
    });
    let mut record = Record::of_store(is_atomic(fixture.policy), PAGES, contents());
    let has_failed = || file_system.folder(|folder| folder.has_failed);
    match clients::open(Interface::PageStore, &file_system.path()) {
        Ok(mut client) => {
            // A failure that changed nothing, such as of removing what is needed no more.
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

/// Opens what each power cut leaves, commits, and opens what the next one leaves of that.
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
