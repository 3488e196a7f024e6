//! Life of a store with one failing call.

use nandle_pages::{PageError, PolicyKind};

use super::clients::{self, Client, Failure, Interface, PAGES};
use super::folder::{Plan, Survivors};
use super::judge::Record;
use super::mount::{FileSystem, STORE};

/// Pages after the growth.
const GROWN: u64 = 40;

/// Pages committed one by one while the store grows.
const COMMITTED_MEANWHILE: std::ops::Range<u64> = 11..19;

struct Life<'a> {
    file_system: &'a FileSystem,
    interface: Interface,
    policy: PolicyKind,
    record: Record,
}

/// Runs the life.
///
/// # Errors
/// A broken promise.
pub(super) fn live(
    file_system: &FileSystem,
    interface: Interface,
    policy: PolicyKind,
    plan: Plan,
) -> Result<(), String> {
    file_system.folder(|folder| folder.reset(plan));
    let record = Record::new(super::is_atomic(policy));
    let mut life = Life { file_system, interface, policy, record };
    match clients::create(interface, &file_system.path(), policy) {
        Ok(client) => life.first_session(client)?,
        Err(error) => return life.made_again(&error),
    }
    life.second_session()?;
    life.judge()
}

impl Life<'_> {
    fn has_failed(&self) -> bool {
        self.file_system.folder(|folder| folder.has_failed)
    }

    /// Repeats a failed creation, which must have left nothing behind.
    fn made_again(&mut self, error: &Failure) -> Result<(), String> {
        if !self.has_failed() {
            return Err(format!("creation: {error}"));
        }
        let is_there = self.file_system.folder(|folder| folder.len() > 0);
        if self.interface == Interface::PageStore && is_there {
            return Err(format!("a file is left of a creation that failed: {error}"));
        }
        self.file_system.folder(|folder| {
            folder.end_failures();
            // The program created the file and removes it itself.
            folder.remove(STORE);
        });
        let client = clients::create(self.interface, &self.file_system.path(), self.policy);
        let client = client.map_err(|error| format!("the second creation: {error}"))?;
        self.first_session(client)?;
        self.second_session()?;
        self.judge()
    }

    fn first_session(&mut self, mut client: Box<dyn Client>) -> Result<(), String> {
        self.commit(&mut *client, &[1, 2, 3])?;
        self.commit(&mut *client, &[3, 4])?;
        self.commit(&mut *client, &[5])?;
        self.commit(&mut *client, &[6])?;
        self.grow(&mut *client)?;
        let last = last_page(&*client);
        self.commit(&mut *client, &[1, last])?;
        self.outcome(client.checkpoint(), "checkpoint")?;
        self.commit(&mut *client, &[2, 7, 8])?;
        self.commit(&mut *client, &[last])?;
        self.record.check(&mut *client, || self.has_failed())?;
        self.outcome(client.close(), "close")
    }

    fn second_session(&mut self) -> Result<(), String> {
        let path = self.file_system.path();
        let mut client = match clients::open(self.interface, &path) {
            Ok(client) => client,
            Err(error) if self.has_failed() => clients::open(self.interface, &path)
                .map_err(|again| format!("opening: {error}; and opening once more: {again}"))?,
            Err(error) => return Err(format!("opening: {error}")),
        };
        self.record.check(&mut *client, || self.has_failed())?;
        self.commit(&mut *client, &[1, 4, 9])?;
        self.commit(&mut *client, &[10])?;
        self.outcome(client.close(), "close")
    }

    /// Opens the store in each state that a power cut may leave now.
    fn judge(&self) -> Result<(), String> {
        let end = self.file_system.folder(|folder| {
            folder.end_failures();
            folder.clone()
        });
        for survivors in Survivors::ALL {
            self.file_system.folder(|folder| folder.restore(&end));
            self.file_system.folder(|folder| folder.cut(survivors));
            let said = |what: String| format!("after a power cut that leaves {survivors:?} unsynced: {what}");
            let client = clients::open(self.interface, &self.file_system.path());
            let mut client = client.map_err(|error| said(format!("opening: {error}")))?;
            self.record.check(&mut *client, || false).map_err(said)?;
            client.close().map_err(|error| said(format!("close: {error}")))?;
        }
        Ok(())
    }

    fn commit(&mut self, client: &mut dyn Client, pages: &[u64]) -> Result<(), String> {
        let version = self.record.tries(pages);
        let outcome = client.commit(pages, version);
        if outcome.is_ok() {
            self.record.acknowledges(version);
        }
        self.outcome(outcome, "commit")
    }

    /// Grows the store. A failed growth must change nothing and be repeatable.
    fn grow(&mut self, client: &mut dyn Client) -> Result<(), String> {
        let outcome = match self.grow_once(client)? {
            Err(Failure::Own(_) | Failure::Store(PageError::File { .. })) if self.has_failed() => {
                if client.pages() != PAGES {
                    return Err(format!("a growth that was refused gave {} pages", client.pages()));
                }
                self.grow_once(client)?
            }
            outcome => outcome,
        };
        if outcome.is_ok() {
            self.record.has_grown(GROWN);
        }
        self.outcome(outcome, "growth")
    }

    /// Grows the store while commits are in flight. Its sync must not consume the error of their
    /// flush.
    fn grow_once(&mut self, client: &mut dyn Client) -> Result<Result<(), Failure>, String> {
        self.record.tries_to_grow(GROWN);
        let commits: Vec<_> = COMMITTED_MEANWHILE.map(|page| (page, self.record.tries(&[page]))).collect();
        let (grown, committed) = client.grow_beside(GROWN, &commits);
        for ((_, version), outcome) in commits.into_iter().zip(committed) {
            if outcome.is_ok() {
                self.record.acknowledges(version);
            }
            self.outcome(outcome, "a commit beside a growth")?;
        }
        Ok(grown)
    }

    /// Returns an error if a call failed without an injected failure.
    fn outcome(&self, outcome: Result<(), Failure>, what: &str) -> Result<(), String> {
        match outcome {
            Err(error) if !self.has_failed() => Err(format!("{what}: {error}")),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

fn last_page(client: &dyn Client) -> u64 {
    client.pages() - 1
}
