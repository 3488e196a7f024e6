//! Checks a store's contents against the calls it acknowledged.

use std::collections::BTreeMap;

use super::clients::{Client, PAGES};
use crate::contents::{Found, inspect};

/// Commits and growths, attempted and acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Record {
    is_atomic: bool,
    acknowledged: BTreeMap<u64, u64>,
    tried: BTreeMap<u64, u64>,
    /// Pages of each commit, by version.
    commits: BTreeMap<u64, Vec<u64>>,
    pages_acknowledged: u64,
    pages_tried: u64,
    /// Known contents of pages before all commits.
    before: BTreeMap<u64, Vec<u8>>,
}

impl Record {
    pub(super) fn new(is_atomic: bool) -> Self {
        Self {
            is_atomic,
            acknowledged: BTreeMap::new(),
            tried: BTreeMap::new(),
            commits: BTreeMap::new(),
            pages_acknowledged: PAGES,
            pages_tried: PAGES,
            before: BTreeMap::new(),
        }
    }

    /// Record of an existing store with the pages `before`.
    pub(super) fn of_store(is_atomic: bool, pages: u64, before: BTreeMap<u64, Vec<u8>>) -> Self {
        Self { pages_acknowledged: pages, pages_tried: pages, before, ..Self::new(is_atomic) }
    }

    /// Records an attempted commit. Returns its version.
    pub(super) fn tries(&mut self, pages: &[u64]) -> u64 {
        let version = 1 + self.commits.len() as u64;
        self.commits.insert(version, pages.to_vec());
        self.tried.extend(pages.iter().map(|page| (*page, version)));
        version
    }

    pub(super) fn acknowledges(&mut self, version: u64) {
        let pages = self.commits.get(&version).into_iter().flatten();
        self.acknowledged.extend(pages.map(|page| (*page, version)));
    }

    pub(super) fn tries_to_grow(&mut self, pages: u64) {
        self.pages_tried = self.pages_tried.max(pages);
    }

    pub(super) fn has_grown(&mut self, pages: u64) {
        self.pages_acknowledged = pages;
    }

    /// Reads and checks all pages. A failed read is a violation unless `may_fail` returns true.
    ///
    /// # Errors
    /// A broken promise.
    pub(super) fn check(&self, client: &mut dyn Client, may_fail: impl Fn() -> bool) -> Result<(), String> {
        let pages = client.pages();
        if !(self.pages_acknowledged..=self.pages_tried).contains(&pages) {
            let (least, most) = (self.pages_acknowledged, self.pages_tried);
            return Err(format!("{pages} pages, and {least} to {most} are right"));
        }
        let mut found = BTreeMap::new();
        let before = self.before.keys().map(|page| (page, &0));
        let known: BTreeMap<_, _> = before.chain(&self.tried).collect();
        for (page, tried) in known {
            let acknowledged = self.acknowledged.get(page).copied().unwrap_or(0);
            if *page >= pages {
                continue;
            }
            match client.read(*page) {
                Ok(contents) => {
                    let version = self.version_of(*page, &contents);
                    self.check_page(*page, version, (acknowledged, *tried))?;
                    found.insert(*page, version);
                }
                Err(_) if may_fail() => {}
                Err(error) => return Err(format!("page {page} can't be read: {error}")),
            }
        }
        if self.is_atomic { self.check_commits(&found) } else { Ok(()) }
    }

    /// Version held by a page; 0 means its contents before all commits.
    fn version_of(&self, page: u64, contents: &[u8]) -> Found {
        match (self.before.get(&page), inspect(contents, page)) {
            (Some(before), _) if before == contents => Found::Whole(0),
            // The page held other bytes before.
            (Some(_), Found::Whole(0)) => Found::Other,
            // Foreign bytes may look like a version.
            (None, Found::Whole(version)) if version > self.commits.len() as u64 => Found::Other,
            (_, found) => found,
        }
    }

    fn check_page(&self, page: u64, found: Found, (least, most): (u64, u64)) -> Result<(), String> {
        let is_right = match found {
            Found::Whole(version) => (least..=most).contains(&version),
            // Before its first commit a page may hold any bytes.
            Found::Other => {
                (least == 0 && !self.before.contains_key(&page)) || (!self.is_atomic && least < most)
            }
            Found::Nothing => false,
        };
        if is_right {
            return Ok(());
        }
        Err(format!("page {page} holds {found}, and versions {least} to {most} are right"))
    }

    fn check_commits(&self, found: &BTreeMap<u64, Found>) -> Result<(), String> {
        let version_of = |page: &u64| match found.get(page) {
            Some(Found::Whole(version)) => Some(*version),
            Some(Found::Other | Found::Nothing) | None => None,
        };
        for (version, pages) in &self.commits {
            let versions: Vec<_> = pages.iter().filter_map(version_of).collect();
            if versions.contains(version) && versions.iter().any(|other| other < version) {
                return Err(format!("commit {version} of pages {pages:?} is there in part: {versions:?}"));
            }
        }
        Ok(())
    }
}
