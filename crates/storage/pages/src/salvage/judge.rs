//! Comparison of pages with their checksums.

use super::evidence::{Doubt, Version, finding};
use super::finding::{Finding, Problem, Severity, Structure};
use super::inspection::Inspection;
use super::piece::{PIECE_BYTES, Piece, problem_of};
use super::report::PageState;
use super::tasks::Task;
use crate::home_sums::HomeSum;
use crate::page::checksum;
use crate::size::{to_u32, to_usize};
use crate::{BLOCK_BYTES, PageError, PageNumber, PolicyKind};

const BLOCK: u64 = BLOCK_BYTES as u64;
/// Maximum gap between two pages that are read together.
const GAP_BYTES: u64 = 64 << 10;

/// Receiver of the pages found.
type Visit<'a> = dyn FnMut(PageNumber, &[u8], PageState) + 'a;

/// Unpacked page, if it is the expected version.
pub(super) fn is_whole(version: &Version, stored: &[u8], page_bytes: usize) -> Option<Vec<u8>> {
    crate::policy::unpacked(version, stored, page_bytes)
}

/// Range of whole blocks of a version.
fn span(version: &Version) -> (u64, u64) {
    let end = version.offset_bytes + u64::from(version.stored_bytes);
    (version.offset_bytes / BLOCK * BLOCK, end.next_multiple_of(BLOCK))
}

impl Inspection {
    /// Reads nearby pages of the area.
    pub(super) async fn read_placed(&mut self, index: usize, visit: &mut Visit<'_>) -> Result<(), PageError> {
        let rest = self.placed.get(index..).unwrap_or_default();
        let Some((first, mut end)) = rest.first().map(span) else { return Ok(()) };
        let mut near = Vec::new();
        for version in rest {
            let (start_of, end_of) = span(version);
            if end_of.max(end) - first > PIECE_BYTES || start_of > end + GAP_BYTES {
                break;
            }
            end = end.max(end_of);
            near.push(*version);
        }
        debug_assert!(!near.is_empty(), "a page is no longer than a piece");
        self.tasks.push_front(Task::Placed(index + near.len()));
        let piece = self.reader.read(first, end - first).await?;
        for version in near {
            self.judge_placed(&version, &piece, visit).await?;
            self.advance(version.stored_bytes.into());
        }
        Ok(())
    }

    async fn judge_placed(
        &mut self,
        version: &Version,
        piece: &Piece,
        visit: &mut Visit<'_>,
    ) -> Result<(), PageError> {
        let stored = piece.bytes(version.offset_bytes, version.stored_bytes.into());
        let page_bytes = self.page_bytes();
        if let Some(contents) = stored.ok().and_then(|stored| is_whole(version, stored, page_bytes)) {
            let is_guess = self.resolved.unplaced.contains(version.page);
            let state = if is_guess { PageState::Doubtful } else { self.trust(version.sequence) };
            self.hand_over(version.page, &contents, state, visit);
            return Ok(());
        }
        let structure =
            if self.label.policy.has_zones() { Structure::ZonePage } else { Structure::StagedPage };
        let place = (version.offset_bytes, u64::from(version.stored_bytes));
        self.rescue(*version, (structure, problem_of(stored), place), visit).await
    }

    /// State of an intact version that the structures name as the newest.
    fn trust(&self, sequence: u64) -> PageState {
        match self.resolved.doubt {
            Some(Doubt { sound_above, .. }) if sequence <= sound_above => PageState::Doubtful,
            _ => PageState::Sound,
        }
    }

    /// Reads home pages from `first` on.
    pub(super) async fn read_homes(&mut self, first: u64, visit: &mut Visit<'_>) -> Result<(), PageError> {
        let end = self.label.pages.min(first + PIECE_BYTES / self.label.page_bytes);
        if first < end {
            self.tasks.push_front(Task::Homes(end));
        }
        let (mut wanted, mut empty) = (Vec::new(), Vec::new());
        for page in (first..end).map(PageNumber).filter(|page| !self.resolved.newest.contains_key(page)) {
            if self.is_empty(page) { empty.push(page) } else { wanted.push(page) }
        }
        for page in empty {
            self.report.count_empty(self.label.outer(page), self.resolved.doubt);
        }
        self.advance((end - first) * self.label.page_bytes);
        let (Some(lowest), Some(highest)) = (wanted.first(), wanted.last()) else { return Ok(()) };
        let offset_bytes = self.label.home_of(*lowest);
        let piece = self
            .reader
            .read(offset_bytes, self.label.home_of(*highest) + self.label.page_bytes - offset_bytes);
        let piece = piece.await?;
        for page in wanted {
            self.judge_home(page, &piece, visit).await?;
        }
        Ok(())
    }

    /// Returns true if a page has no contents to find. `auto` writes pages home without an extent,
    /// so a page may have been written after its discard.
    fn is_empty(&self, page: PageNumber) -> bool {
        let was_never_written = self.sums.as_ref().is_some_and(|sums| sums.of(page) == HomeSum::None);
        let is_discard_final = self.label.policy != PolicyKind::Auto;
        was_never_written || is_discard_final && self.resolved.discarded.contains(&page)
    }

    fn home_sum(&self, page: PageNumber) -> HomeSum {
        self.sums.as_ref().map_or(HomeSum::Lost, |sums| sums.of(page))
    }

    async fn judge_home(
        &mut self,
        page: PageNumber,
        piece: &Piece,
        visit: &mut Visit<'_>,
    ) -> Result<(), PageError> {
        let place = (self.label.home_of(page), self.label.page_bytes);
        let contents = piece.bytes(place.0, place.1);
        let sum = self.home_sum(page);
        let is_known = |sum: u32| contents.is_ok_and(|contents| checksum(page, contents) == sum);
        match (sum, contents) {
            (HomeSum::Known(sum) | HomeSum::KnownOnce(sum), Ok(contents)) if is_known(sum) => {
                self.sums.iter_mut().for_each(|sums| sums.confirm(page));
                let state = self.trust(0);
                self.hand_over(page, contents, state, visit);
                Ok(())
            }
            (HomeSum::Lost | HomeSum::KnownOnce(_) | HomeSum::None, Ok(contents)) => {
                // Never written, or written as zeros.
                if contents.iter().all(|byte| *byte == 0) {
                    self.report.count_empty(self.label.outer(page), self.resolved.doubt);
                } else {
                    self.hand_over(page, contents, PageState::Unchecked, visit);
                }
                Ok(())
            }
            (HomeSum::Known(sum) | HomeSum::KnownOnce(sum), _) => {
                let version =
                    Version { page, sequence: 0, offset_bytes: place.0, stored_bytes: to_u32(place.1), sum };
                self.rescue(version, (Structure::HomePage, problem_of(contents), place), visit).await
            }
            (HomeSum::Lost | HomeSum::None, Err(problem)) => {
                self.lose(page, (Structure::HomePage, problem, place), Severity::Loss);
                self.report.count_lost(self.label.outer(page));
                Ok(())
            }
        }
    }

    fn hand_over(&mut self, page: PageNumber, contents: &[u8], state: PageState, visit: &mut Visit<'_>) {
        let page = self.label.outer(page);
        self.report.count(page, state);
        visit(page, contents, state);
    }

    fn lose(
        &mut self,
        page: PageNumber,
        (structure, problem, place): (Structure, Problem, (u64, u64)),
        severity: Severity,
    ) {
        let pages = [page].into_iter().collect();
        self.findings.push(Finding { pages, ..finding(structure, problem, severity, place) });
    }

    /// Searches other places for a page whose newest version is damaged: for the same version, then
    /// for an older one.
    async fn rescue(
        &mut self,
        wanted: Version,
        found: (Structure, Problem, (u64, u64)),
        visit: &mut Visit<'_>,
    ) -> Result<(), PageError> {
        let Version { page, sum, .. } = wanted;
        let same = |version: &Version| version.sum == sum && version.offset_bytes != wanted.offset_bytes;
        let home = self.home_version(page, sum);
        for candidate in self.versions_of(page).into_iter().filter(same).chain(home) {
            if let Some(contents) = self.read_version(&candidate).await? {
                self.lose(page, found, Severity::Redundant);
                let state = self.trust(wanted.sequence);
                self.hand_over(page, &contents, state, visit);
                return Ok(());
            }
        }
        self.lose(page, found, Severity::Loss);
        let is_home = found.0 == Structure::HomePage;
        // A dead staged version may be older or newer than an earlier home version.
        let is_older = |version: &Version| is_home || version.sequence < wanted.sequence;
        let old_home = match self.home_sum(page) {
            HomeSum::Known(sum) if !is_home => self.home_version(page, sum),
            _ => None,
        };
        let candidates = self.versions_of(page).into_iter().filter(is_older).chain(old_home);
        for candidate in candidates.collect::<Vec<_>>() {
            if let Some(contents) = self.read_version(&candidate).await? {
                self.hand_over(page, &contents, PageState::Older, visit);
                return Ok(());
            }
        }
        self.give_up(page, visit).await
    }

    /// Handles a page without any intact version. Unverified contents at its home place are used
    /// unless they are known to be wrong.
    async fn give_up(&mut self, page: PageNumber, visit: &mut Visit<'_>) -> Result<(), PageError> {
        let is_in_doubt = self.resolved.doubt.is_some() && !self.label.policy.has_zones();
        let has_lost_sum =
            self.sums.is_some() && matches!(self.home_sum(page), HomeSum::KnownOnce(_) | HomeSum::Lost);
        if is_in_doubt || has_lost_sum {
            let offset_bytes = self.label.home_of(page);
            let piece = self.reader.read(offset_bytes, self.label.page_bytes).await?;
            if let Ok(contents) = piece.whole() {
                let state = if is_in_doubt { PageState::Unchecked } else { PageState::Older };
                self.hand_over(page, contents, state, visit);
                return Ok(());
            }
        }
        self.report.count_lost(self.label.outer(page));
        Ok(())
    }

    /// All versions of a page with headers, newest first.
    fn versions_of(&self, page: PageNumber) -> Vec<Version> {
        let others = &self.resolved.others;
        let first = others.partition_point(|version| version.page < page);
        let versions = others.get(first..).unwrap_or_default();
        let mut versions: Vec<_> = versions.iter().take_while(|it| it.page == page).copied().collect();
        versions.reverse();
        versions
    }

    /// Home version of a page, assuming this checksum.
    fn home_version(&self, page: PageNumber, sum: u32) -> Option<Version> {
        (!self.label.policy.has_zones()).then(|| Version {
            page,
            sequence: 0,
            offset_bytes: self.label.home_of(page),
            stored_bytes: to_u32(self.label.page_bytes),
            sum,
        })
    }

    async fn read_version(&self, version: &Version) -> Result<Option<Vec<u8>>, PageError> {
        let (first, end) = span(version);
        let piece = self.reader.read(first, end - first).await?;
        let stored = piece.bytes(version.offset_bytes, version.stored_bytes.into());
        debug_assert!(
            stored.is_err() || stored.is_ok_and(|it| it.len() == to_usize(version.stored_bytes.into()))
        );
        Ok(stored.ok().and_then(|stored| is_whole(version, stored, self.page_bytes())))
    }
}
