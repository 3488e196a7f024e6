//! Which way to write, decided by what both took on the work at hand. It knows no store and no clock: it is told of pages
//! and of time.
//!
//! - Staging is chosen when it takes clearly less time for a page, and kept as long as it takes less. Ties go straight.
//! - What is chosen works for long, then the other gets a trial: so a workload that changed is found out. It gets one
//!   earlier when what was chosen takes longer now than the other did.
//! - A trial ends as soon as it can't be won any more, or has lost more time than a few pages are worth, and what was chosen
//!   when it has lost more than a trial may cost: so the first trials don't cost much of a short run. The next one comes the later the more this one cost: trials
//!   take about a hundredth of the time. They grow where they are lost, or nearly won: much staged at once pays more, and a
//!   flush costs little beside much that goes straight.
//! - The time of a staging trial has the destaging of everything in it, that of the straight way a flush. The time in which a
//!   staging area that has been chosen is filled doesn't count: in it nothing has to go home yet. Nor does that in which it
//!   is cleared after it: what goes home then isn't the straight way's.

use crate::{AutoStats, OpenOptions};

/// A way of writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// To the staging area first.
    Staged,
    /// Home at once.
    Straight,
}

/// Staging is chosen below this share of the other's time.
const CLEARLY_LESS: f64 = 0.9;
/// What was chosen is looked at anew when it takes so many times what it did.
const CHANGED: f64 = 2.0;
/// A straight trial that is lost by less might not be, were it longer.
const NEARLY: f64 = 2.0;
/// Pages of a trial, if the staging area has room for twice as many. Much fewer say little of a drive
/// that takes them into a cache or into log blocks first.
const TRIAL_PAGES: u64 = 1024;
/// A trial may lose as much time as so many pages take the other way …
const LOST_PAGES: u64 = 256;
/// … or this, if that is less: drives that are so fast may still be busy with what came before.
const LOST_NS_MIN: f64 = 100e6;
/// Pages of a straight trial: there is a flush at its end, which must not cost more than the pages.
const FLUSHED_PAGES: u64 = 4 * TRIAL_PAGES;
/// No straight trial is longer than so many times that, or than so many times the staging area.
const LONGEST_TRIAL: u64 = 16;
/// What was chosen works for so many pages for one of the trial …
const PAGES_BY_TRIAL: u64 = 16;
/// … and for so many for one that could have been written in the time that the trial wasted.
const PAGES_BY_WASTED: f64 = 128.0;
/// Of pages that don't count: until the staging area is clear.
const UNCLEARED: u64 = u64::MAX;
/// An estimate of how often a staging area must have been written through for its figures to be steady.
const ROUNDS: u64 = 2;

/// See the [module](self). Times are in nanoseconds; `busy_ns` counts for the whole session.
#[derive(Debug, Clone)]
pub(super) struct Judge {
    /// Pages that the staging area has room for.
    room_pages: u64,
    /// Of the next staging trial.
    trial_pages: u64,
    /// Of the next straight one.
    straight_trial_pages: u64,
    /// If any, both ways are chosen by turns, for so many pages each.
    turn_pages: Option<u64>,
    phase: Phase,
    /// What was chosen last, if anything.
    chosen: Option<Path>,
    /// Time of a page the last time that the way was taken.
    staged_ns: Option<f64>,
    straight_ns: Option<f64>,
    /// Trials that have ended.
    trials: u64,
    /// How often another way was chosen than before.
    changes: u64,
}

/// A stretch in which one way is taken.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Phase {
    path: Path,
    is_trial: bool,
    /// It ends with so many pages …
    most_pages: u64,
    /// … or a trial when it has taken so long …
    most_ns: f64,
    /// … or when it has taken so much longer than the other way would have …
    most_lost_ns: f64,
    /// Time of a page the other way, if that is known.
    other_ns: Option<f64>,
    /// … or what was chosen, from so many pages on, when a stretch took longer than the other way, or than expected.
    least_pages: u64,
    is_worse: bool,
    /// Time of a page in the last stretch.
    stretch_ns: Option<f64>,
    /// Pages at its beginning that don't count; `u64::MAX` until the staging area is cleared.
    uncounted_pages: u64,
    pages: u64,
    /// The session's time when counting began.
    since_ns: u64,
    /// The session's time when the phase began.
    began_ns: u64,
}

impl Judge {
    /// Begins with a trial of staging where the costs of writing say that it pays, and with staging where an earlier
    /// session has left staged pages.
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

    /// Whether the present way is being tried, and not chosen.
    pub(super) fn is_trial(&self) -> bool {
        self.phase.is_trial
    }

    /// Whether nothing counts until the staging area is [cleared](Self::cleared).
    pub(super) fn awaits_clearing(&self) -> bool {
        self.phase.uncounted_pages == UNCLEARED
    }

    /// Whether so many pages have come meanwhile that they could have filled the staging area anew.
    pub(super) fn clearing_timed_out(&self) -> bool {
        self.phase.pages >= self.room_pages
    }

    /// What it knows, and what it has chosen.
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

    /// So many pages come now.
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

    /// Counting begins anew, so that what was chosen is known by what it takes now.
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

    /// Whether it is time for the other way.
    pub(super) fn is_over(&self, busy_ns: u64) -> bool {
        let phase = &self.phase;
        let is_lost =
            || phase.taken_ns(busy_ns) > phase.most_ns || phase.lost_ns(busy_ns) > phase.most_lost_ns;
        let is_worse = || phase.is_worse && phase.pages >= phase.least_pages;
        !self.awaits_clearing() && (phase.pages >= phase.most_pages || is_lost() || is_worse())
    }

    /// What follows on the phase, when all that belongs to its time is done: the next one.
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

    /// The time of the entry into the present phase doesn't count. A straight one that others' pages go home beside counts
    /// when they have.
    pub(super) fn entered(&mut self, busy_ns: u64, is_clear: bool) {
        debug_assert!(is_clear || self.phase.path == Path::Straight, "staging needs nothing to be cleared");
        (self.phase.since_ns, self.phase.began_ns) = (busy_ns, busy_ns);
        if !is_clear {
            self.phase.uncounted_pages = UNCLEARED;
        }
    }

    /// The staging area is clear, and the straight phase counts from now on.
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
        // Clearing the staging area for it is a part of what a trial costs.
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
        // By turns whatever it takes.
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

    /// How much longer than the other way it took, for the pages that count.
    fn lost_ns(&self, busy_ns: u64) -> f64 {
        let pages = self.pages.saturating_sub(self.uncounted_pages) as f64;
        // Until pages count, their time doesn't either.
        if pages == 0.0 {
            0.0
        } else {
            self.taken_ns(busy_ns) - pages * self.other_ns.unwrap_or(f64::INFINITY)
        }
    }

    /// Time of a page, if any was counted. Never nothing, so that it can be divided by.
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

    /// A device on which a page takes so long each way, by how many were written.
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

    /// Slow drives, in whose time a trial of thousands of pages is a large part of a run.
    #[test]
    fn a_trial_is_bounded_by_the_time_that_it_loses() {
        // Staged pages take a sixth when much is staged, as with a large area on the modelled mtron-16.
        let page_ns = |path, number| match path {
            Path::Straight => 10_000_000,
            Path::Staged if number < 2_000 => 6_000_000,
            Path::Staged => 1_000_000,
        };
        let [staged, straight] = work(&options(2_000_000), false, 100_000, page_ns);
        assert!(staged > 99_000 && straight < 700, "{straight} straight");
    }

    /// Little that is staged goes home at little cost, and a full area doesn't.
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
        // Until it is full nothing has to go home, and staging looks better than it is.
        let mut judge = Judge::new(&options(1), 10_000, true);
        judge.comes(10_000, 5);
        judge.comes(40_000, 1_000_000);
        assert!(judge.is_over(1_000_000));
        let judge = judge.ended(8_000_005);
        assert_eq!(judge.staged_ns, Some(200.0));
        assert!(judge.path() == Path::Straight && judge.is_trial());
    }
}
