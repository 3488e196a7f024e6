//! Chooses a way of writing by the measured times of both. Has no access to the store or a clock:
//! it receives numbers of pages and times.
//!
//! - Staging is chosen when it takes clearly less time per page, and kept while it takes less. Ties
//!   go to direct writes.
//! - The chosen way runs for long. Then the other gets a trial, which detects a changed workload.
//!   The trial comes earlier if the chosen way becomes slower than the other one was.
//! - A trial ends as soon as it can't be won, or has lost more time than a few pages are worth. The
//!   chosen way ends when it has lost more than a trial may cost. The first trials therefore cost
//!   little of a short run. The interval to the next trial grows with the cost of the last, so that
//!   trials take about 1 % of the time. Trials grow when they are lost or nearly won: staging pays
//!   more in larger amounts, and a flush costs less relative to many direct writes.
//! - The time of a staging trial includes destaging all its pages, that of a direct trial a flush.
//!   Excluded are the time to fill the staging area after staging is chosen, when nothing has to be
//!   destaged, and the time to empty it afterwards.

use crate::{AutoStats, OpenOptions};

/// A way of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// Staging area first.
    Staged,
    /// Home at once.
    Straight,
}

/// Ratio of times below which staging is chosen.
const CLEARLY_LESS: f64 = 0.9;
/// Growth of the chosen way's time after which it is re-examined.
const CHANGED: f64 = 2.0;
/// Factor below which a lost direct trial might be won if it were longer.
const NEARLY: f64 = 2.0;
/// Pages of a trial, if the staging area holds twice as many. Far fewer say little about a drive
/// that writes them to a cache or log blocks first.
const TRIAL_PAGES: u64 = 1024;
/// Maximum loss of a trial, as the time of this many pages written the other way.
const LOST_PAGES: u64 = 256;
/// Minimum of that limit: a fast drive may still be busy with earlier work.
const LOST_NS_MIN: f64 = 100e6;
/// Pages of a direct trial, enough to outweigh the flush at its end.
const FLUSHED_PAGES: u64 = 4 * TRIAL_PAGES;
/// Maximum length of a direct trial, as a multiple of that or of the staging area.
const LONGEST_TRIAL: u64 = 16;
/// Pages written the chosen way per page of a trial.
const PAGES_BY_TRIAL: u64 = 16;
/// Pages written the chosen way per page's worth of time that the trial wasted.
const PAGES_BY_WASTED: f64 = 128.0;
/// Marks all pages as uncounted until the staging area is empty.
const UNCLEARED: u64 = u64::MAX;
/// Passes through a staging area until its times are steady; an estimate.
const ROUNDS: u64 = 2;

/// See the [module](self). Times are in nanoseconds; `busy_ns` is that of the whole session.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    /// Capacity of the staging area in pages.
    room_pages: u64,
    /// Pages of the next staging trial.
    trial_pages: u64,
    /// Pages of the next direct trial.
    straight_trial_pages: u64,
    /// Pages after which the ways alternate, if set.
    turn_pages: Option<u64>,
    phase: Phase,
    chosen: Option<Path>,
    /// Latest time per page of each way.
    staged_ns: Option<f64>,
    straight_ns: Option<f64>,
    /// Completed trials.
    trials: u64,
    /// Number of changes of the chosen way.
    changes: u64,
}

/// A period of writing one way.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Phase {
    path: Path,
    is_trial: bool,
    /// Number of pages after which it ends.
    most_pages: u64,
    /// Time after which a trial ends.
    most_ns: f64,
    /// Loss against the other way after which it ends.
    most_lost_ns: f64,
    /// Time per page of the other way, if known.
    other_ns: Option<f64>,
    /// Number of pages from which a chosen way may end for being slower than the other or than
    /// expected.
    least_pages: u64,
    is_worse: bool,
    /// Time per page in the last stretch.
    stretch_ns: Option<f64>,
    /// Pages at the start that don't count; `u64::MAX` until the staging area is empty.
    uncounted_pages: u64,
    pages: u64,
    /// Session time at which counting began.
    since_ns: u64,
    /// Session time at which the phase began.
    began_ns: u64,
}

impl Judge {
    /// Starts with a trial of staging if the costs of writing favour it, and with staging if an
    /// earlier session left staged pages.
    pub(super) fn new(options: &OpenOptions, room_pages: u64, has_staged: bool) -> Self {
        let trial_pages = TRIAL_PAGES.min(room_pages / 2).max(1);
        let first = Phase {
            path: Path::Staged,
            is_trial: true,
            most_pages: trial_pages,
            most_ns: f64::INFINITY,
            most_lost_ns: f64::INFINITY,
            other_ns: None,
            least_pages: trial_pages,
            is_worse: false,
            stretch_ns: None,
            uncounted_pages: 0,
            pages: 0,
            since_ns: 0,
            began_ns: 0,
        };
        let mut judge = Self {
            room_pages,
            trial_pages,
            straight_trial_pages: FLUSHED_PAGES.min(room_pages * 2).max(1),
            turn_pages: options.experiments.turn_pages,
            phase: first,
            chosen: None,
            staged_ns: None,
            straight_ns: None,
            trials: 0,
            changes: 0,
        };
        if has_staged || options.experiments.turn_pages.is_some() {
            judge.choose(Path::Staged, 0.0);
        } else if !options.costs.staging_may_pay() {
            judge.choose(Path::Straight, 0.0);
        }
        judge
    }

    pub(super) fn path(&self) -> Path {
        self.phase.path
    }

    /// Returns true during a trial.
    pub(super) fn is_trial(&self) -> bool {
        self.phase.is_trial
    }

    /// Returns true if nothing counts until the staging area is [cleared](Self::cleared).
    pub(super) fn awaits_clearing(&self) -> bool {
        self.phase.uncounted_pages == UNCLEARED
    }

    /// Returns true if enough pages came to fill the staging area again.
    pub(super) fn clearing_timed_out(&self) -> bool {
        self.phase.pages >= self.room_pages
    }

    /// Times and choices so far.
    pub(super) fn found(&self) -> AutoStats {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time, rounded")]
        let rounded = |ns: Option<f64>| ns.map(|ns| ns.round() as u64);
        AutoStats {
            stages: self.chosen.map(|path| path == Path::Staged),
            trials: self.trials,
            changes: self.changes,
            staged_ns: rounded(self.staged_ns),
            straight_ns: rounded(self.straight_ns),
        }
    }

    /// Records `pages` new pages.
    pub(super) fn comes(&mut self, pages: u64, busy_ns: u64) {
        let stretch_pages = FLUSHED_PAGES.max(self.room_pages);
        if !self.phase.is_trial
            && self.phase.pages.saturating_sub(self.phase.uncounted_pages) >= stretch_pages
        {
            self.end_stretch(busy_ns);
        }
        let phase = &mut self.phase;
        let was_counted = phase.pages >= phase.uncounted_pages;
        phase.pages += pages;
        if !was_counted && phase.pages >= phase.uncounted_pages {
            phase.since_ns = busy_ns;
            phase.uncounted_pages = phase.pages;
        }
    }

    /// Restarts the measurement, so that the chosen way's time stays current.
    fn end_stretch(&mut self, busy_ns: u64) {
        let (own_ns, other_ns) = match self.phase.path {
            Path::Staged => (self.staged_ns, self.straight_ns),
            Path::Straight => (self.straight_ns, self.staged_ns),
        };
        let phase = &mut self.phase;
        phase.stretch_ns = phase.page_ns(busy_ns);
        let is_more_than = |limit_ns: f64| phase.stretch_ns.is_some_and(|now_ns| now_ns > limit_ns);
        phase.is_worse =
            other_ns.is_some_and(is_more_than) || own_ns.is_some_and(|ns| is_more_than(CHANGED * ns));
        (phase.uncounted_pages, phase.since_ns) = (phase.pages, busy_ns);
    }

    /// Returns true if it is time for the other way.
    pub(super) fn is_over(&self, busy_ns: u64) -> bool {
        let phase = &self.phase;
        let is_lost =
            || phase.taken_ns(busy_ns) > phase.most_ns || phase.lost_ns(busy_ns) > phase.most_lost_ns;
        let is_worse = || phase.is_worse && phase.pages >= phase.least_pages;
        !self.awaits_clearing() && (phase.pages >= phase.most_pages || is_lost() || is_worse())
    }

    /// State after the phase, whose work is complete.
    pub(super) fn ended(&self, busy_ns: u64) -> Self {
        debug_assert!(!self.awaits_clearing(), "a phase of which nothing counts yet doesn't end");
        let mut next = self.clone();
        let ended = self.phase;
        let page_ns = ended.stretch_ns.or_else(|| ended.page_ns(busy_ns));
        next.trials += u64::from(ended.is_trial);
        match ended.path {
            Path::Staged => next.staged_ns = page_ns.or(self.staged_ns),
            Path::Straight => next.straight_ns = page_ns.or(self.straight_ns),
        }
        match (next.staged_ns, next.straight_ns) {
            (Some(staged_ns), Some(straight_ns)) if ended.is_trial => {
                next.decide(staged_ns, straight_ns, ended, busy_ns);
            }
            _ if self.turn_pages.is_some() => next.choose(ended.path.other(), 0.0),
            _ => next.begin_trial(ended.path.other()),
        }
        next.phase.since_ns = busy_ns;
        debug_assert!(
            next.phase.is_trial
                || next.turn_pages.is_some()
                || next.staged_ns.and(next.straight_ns).is_some(),
            "a way is chosen when both were measured"
        );
        next
    }

    /// Starts the phase after its preparations, whose time doesn't count. A direct phase with
    /// staged pages counts once these are destaged.
    pub(super) fn entered(&mut self, busy_ns: u64, is_clear: bool) {
        debug_assert!(is_clear || self.phase.path == Path::Straight, "staging needs nothing to be cleared");
        (self.phase.since_ns, self.phase.began_ns) = (busy_ns, busy_ns);
        if !is_clear {
            self.phase.uncounted_pages = UNCLEARED;
        }
    }

    /// Records that the staging area is empty. The direct phase counts from here.
    pub(super) fn cleared(&mut self, busy_ns: u64) {
        debug_assert!(self.awaits_clearing(), "pages that were counted already would be left out");
        debug_assert!(
            busy_ns >= self.phase.began_ns,
            "{busy_ns} is before the phase, {}",
            self.phase.began_ns
        );
        self.phase.since_ns = busy_ns;
        self.phase.uncounted_pages = self.phase.pages;
        self.phase.most_pages += self.phase.pages;
        self.phase.least_pages += self.phase.pages;
    }

    fn decide(&mut self, staged_ns: f64, straight_ns: f64, trial: Phase, busy_ns: u64) {
        debug_assert!(staged_ns >= 1.0 && straight_ns >= 1.0, "{staged_ns} and {straight_ns} are divided by");
        let less = if self.chosen == Some(Path::Staged) { 1.0 } else { CLEARLY_LESS };
        let best = if staged_ns < straight_ns * less { Path::Staged } else { Path::Straight };
        let best_ns = if best == Path::Staged { staged_ns } else { straight_ns };
        // The cost of a trial includes emptying the staging area.
        let wasted_ns = busy_ns.saturating_sub(trial.began_ns) as f64 - trial.pages as f64 * best_ns;
        if trial.path == Path::Staged && best == Path::Straight {
            self.trial_pages = (self.trial_pages * 2).min(self.room_pages).max(1);
        }
        if trial.path == Path::Straight && best == Path::Staged && straight_ns < NEARLY * staged_ns {
            self.straight_trial_pages =
                (self.straight_trial_pages * 2).min(LONGEST_TRIAL * FLUSHED_PAGES.max(self.room_pages));
        }
        self.choose(best, wasted_ns.max(0.0) / best_ns);
    }

    fn choose(&mut self, path: Path, wasted_pages: f64) {
        debug_assert!(wasted_pages >= 0.0 && wasted_pages.is_finite(), "{wasted_pages} pages were wasted");
        let is_staged = path == Path::Staged;
        let filling_pages = if is_staged { self.room_pages } else { 0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, rounded")]
        let for_wasted = (wasted_pages * PAGES_BY_WASTED) as u64;
        let least_pages = (PAGES_BY_TRIAL * self.trial_pages).max(ROUNDS * filling_pages);
        let other_ns = if is_staged { self.straight_ns } else { self.staged_ns };
        let most_lost_ns = FLUSHED_PAGES as f64 * other_ns.unwrap_or(f64::INFINITY);
        // Alternating ways ignore the times.
        let most_lost_ns = if self.turn_pages.is_some() { f64::INFINITY } else { most_lost_ns };
        self.changes += u64::from(self.chosen.is_some_and(|before| before != path));
        self.chosen = Some(path);
        self.phase = Phase {
            path,
            is_trial: false,
            most_pages: self.turn_pages.unwrap_or_else(|| least_pages.max(for_wasted)),
            most_ns: f64::INFINITY,
            most_lost_ns: most_lost_ns.max(LOST_NS_MIN),
            other_ns,
            least_pages,
            is_worse: false,
            stretch_ns: None,
            uncounted_pages: filling_pages,
            pages: 0,
            since_ns: self.phase.since_ns,
            began_ns: self.phase.began_ns,
        };
        debug_assert!(
            self.turn_pages.is_some() || self.phase.least_pages <= self.phase.most_pages,
            "what takes too long may end a phase before its pages do: {:?}",
            self.phase
        );
    }

    fn begin_trial(&mut self, path: Path) {
        let (most_pages, other_ns) = match path {
            Path::Staged => (self.trial_pages, self.straight_ns),
            Path::Straight => (self.straight_trial_pages, self.staged_ns),
        };
        debug_assert!(most_pages > 0, "a trial of no pages would measure nothing, again and again");
        self.phase = Phase {
            path,
            is_trial: true,
            most_pages,
            most_ns: other_ns.map_or(f64::INFINITY, |other_ns| most_pages as f64 * other_ns),
            most_lost_ns: (LOST_PAGES as f64 * other_ns.unwrap_or(f64::INFINITY)).max(LOST_NS_MIN),
            other_ns,
            least_pages: most_pages,
            is_worse: false,
            stretch_ns: None,
            uncounted_pages: 0,
            pages: 0,
            since_ns: self.phase.since_ns,
            began_ns: self.phase.began_ns,
        };
    }
}

impl Phase {
    fn taken_ns(&self, busy_ns: u64) -> f64 {
        busy_ns.saturating_sub(self.since_ns) as f64
    }

    /// Loss against the other way, over the counted pages.
    fn lost_ns(&self, busy_ns: u64) -> f64 {
        let pages = self.pages.saturating_sub(self.uncounted_pages) as f64;
        // Without counted pages no time counts.
        if pages == 0.0 {
            0.0
        } else {
            self.taken_ns(busy_ns) - pages * self.other_ns.unwrap_or(f64::INFINITY)
        }
    }

    /// Time per page, if any was counted; at least 1, so that it is a valid divisor.
    fn page_ns(&self, busy_ns: u64) -> Option<f64> {
        let pages = self.pages.checked_sub(self.uncounted_pages).filter(|pages| *pages > 0)?;
        Some((self.taken_ns(busy_ns) / pages as f64).max(1.0))
    }
}

impl Path {
    fn other(self) -> Self {
        match self {
            Self::Staged => Self::Straight,
            Self::Straight => Self::Staged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WriteCosts;

    /// Simulates a device with the given time per page, by way and number of pages written.
    fn work(
        options: &OpenOptions,
        has_staged: bool,
        pages: u64,
        page_ns: impl Fn(Path, u64) -> u64,
    ) -> [u64; 2] {
        let mut judge = Judge::new(options, 10_000, has_staged);
        let (mut busy_ns, mut written) = (0, [0, 0]);
        for number in 0..pages {
            if judge.is_over(busy_ns) {
                judge = judge.ended(busy_ns);
            }
            judge.comes(1, busy_ns);
            busy_ns += page_ns(judge.path(), number);
            written[usize::from(judge.path() == Path::Straight)] += 1;
        }
        written
    }

    fn options(random_ns: u64) -> OpenOptions {
        let costs = WriteCosts { random_ns, ..WriteCosts::default() };
        OpenOptions { costs, ..OpenOptions::default() }
    }

    #[test]
    fn the_better_way_is_taken_whatever_the_profile_says() {
        for (random_ns, has_staged) in [(2_000_000, false), (1, false), (1, true)] {
            let staged = |path, _| if path == Path::Staged { 100 } else { 900 };
            let [_, straight] = work(&options(random_ns), has_staged, 1_000_000, staged);
            assert!(straight < 50_000, "{straight} straight, staging being better");
            let straight = |path, _| if path == Path::Staged { 300 } else { 100 };
            let [staged, _] = work(&options(random_ns), has_staged, 1_000_000, straight);
            assert!(staged < 40_000, "{staged} staged, the straight way being better");
        }
    }

    #[test]
    fn trials_cost_a_hundredth() {
        for (staged_ns, straight_ns) in [(300, 100), (1000, 100), (120, 100), (100, 120), (100, 1500)] {
            let page_ns = |path, _| if path == Path::Staged { staged_ns } else { straight_ns };
            let pages = 4_000_000;
            let [staged, straight] = work(&options(2_000_000), false, pages, page_ns);
            let taken_ns = staged * staged_ns + straight * straight_ns;
            let least_ns = pages * staged_ns.min(straight_ns);
            let by = taken_ns as f64 / least_ns as f64;
            assert!(by < 1.02, "{staged_ns} and {straight_ns}: {by} of the better way's time");
        }
    }

    /// On slow drives a trial of thousands of pages would take a large part of a run.
    #[test]
    fn a_trial_is_bounded_by_the_time_that_it_loses() {
        // Staged pages take a sixth once much is staged, like a large area on the modelled
        // mtron-16.
        let page_ns = |path, number| match path {
            Path::Straight => 10_000_000,
            Path::Staged if number < 2_000 => 6_000_000,
            Path::Staged => 1_000_000,
        };
        let [staged, straight] = work(&options(2_000_000), false, 100_000, page_ns);
        assert!(staged > 99_000 && straight < 700, "{straight} straight");
    }

    /// Destaging is cheap while little is staged, and expensive when the area is full.
    #[test]
    fn what_was_chosen_is_left_when_it_loses() {
        let page_ns = |path, number| match path {
            Path::Straight => 2_000_000,
            Path::Staged if number < 15_000 => 1_000_000,
            Path::Staged => 6_000_000,
        };
        let [staged, _] = work(&options(2_000_000), false, 100_000, page_ns);
        assert!(staged < 19_000, "{staged} staged");
    }

    #[test]
    fn a_tie_goes_straight() {
        let page_ns = |path, _| if path == Path::Staged { 95 } else { 100 };
        let [staged, straight] = work(&options(2_000_000), false, 1_000_000, page_ns);
        assert!(staged < straight / 2, "{staged} staged, {straight} straight");
    }

    #[test]
    fn a_workload_that_changes_is_found_out() {
        let page_ns = |path, number| match (path, number < 1_000_000) {
            (Path::Staged, true) | (Path::Straight, false) => 100,
            _ => 400,
        };
        let [staged, straight] = work(&options(2_000_000), false, 4_000_000, page_ns);
        assert!(staged > 900_000 && straight > 2_000_000, "{staged} staged, {straight} straight");
    }

    #[test]
    fn it_tells_what_it_found() {
        let mut judge = Judge::new(&options(2_000_000), 10_000, false);
        let mut busy_ns = 0;
        for _ in 0..2 {
            assert_eq!(judge.found().stages, None, "both ways are tried first");
            while !judge.is_over(busy_ns) {
                judge.comes(1, busy_ns);
                busy_ns += if judge.path() == Path::Staged { 100 } else { 300 };
            }
            judge = judge.ended(busy_ns);
        }
        let AutoStats { stages, trials, changes, staged_ns, straight_ns } = judge.found();
        assert_eq!((stages, trials, changes), (Some(true), 2, 0));
        assert_eq!((staged_ns, straight_ns), (Some(100), Some(300)));
    }

    #[test]
    fn what_fills_the_staging_area_does_not_count() {
        // Until the area is full nothing has to be destaged, which flatters staging.
        let mut judge = Judge::new(&options(1), 10_000, true);
        judge.comes(10_000, 5);
        judge.comes(40_000, 1_000_000);
        assert!(judge.is_over(1_000_000));
        let judge = judge.ended(8_000_005);
        assert_eq!(judge.staged_ns, Some(200.0));
        assert!(judge.path() == Path::Straight && judge.is_trial());
    }
}
