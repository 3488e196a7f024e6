//! Destager: writes staged pages back to their home places.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::config::Thresholds;
use super::log::{Appended, StagingLog};
use super::order::{Instance, Order};
use super::read_back::{ReadBack, is_newest, read_back};
use super::reclaim::{Destaged, Reclaimer};
use super::table::Entry;
use crate::defects::Defect;
use crate::home::Run;
use crate::size::to_usize;
use crate::write_log::Context;
use crate::{PageError, PageNumber};

/// Maximum pages in one home write.
const RUN_PAGES: usize = 256;
/// Without an urgent flush, a task uses 1/`CALM_DEPTH_PART` of its requests.
const CALM_DEPTH_PART: usize = 4;

/// See the [module](self).
pub(super) struct Destager {
    context: Rc<Context>,
    log: Rc<StagingLog>,
    reclaimer: Rc<Reclaimer>,
    thresholds: Thresholds,
    /// True while a worker destages everything.
    is_clearing: Cell<bool>,
    state: RefCell<DestageState>,
}

struct DestageState {
    order: Box<dyn Order>,
    /// Pages of the group being written. They enter the order once the group is complete.
    unordered: Vec<PageNumber>,
    /// Pages being destaged.
    destaging: FxHashSet<PageNumber>,
    /// Versions that can't be read back, by page: sequence and error. They stay in the staging
    /// area.
    lost: FxHashMap<PageNumber, (u64, PageError)>,
    workers: usize,
    /// True from the time that room falls below the lower threshold until it exceeds the upper one.
    is_needed: bool,
}

/// Pages claimed by one task for destaging.
struct Claim {
    pattern: Option<usize>,
    versions: Vec<(PageNumber, Entry)>,
}

impl Destager {
    pub(super) fn new(
        context: &Rc<Context>,
        log: &Rc<StagingLog>,
        reclaimer: &Rc<Reclaimer>,
        (mut order, thresholds): (Box<dyn Order>, Thresholds),
    ) -> Rc<Self> {
        log.versions().pages().for_each(|page| order.added(page));
        let state = DestageState {
            order,
            unordered: Vec::new(),
            destaging: FxHashSet::default(),
            lost: FxHashMap::default(),
            workers: 0,
            is_needed: false,
        };
        Rc::new(Self {
            context: Rc::clone(context),
            log: Rc::clone(log),
            reclaimer: Rc::clone(reclaimer),
            thresholds,
            is_clearing: Cell::default(),
            state: RefCell::new(state),
        })
    }

    /// Records an appended extent.
    pub(super) fn appended(&self, extent: &Appended) {
        {
            debug_assert!(
                extent.sequence <= self.log.tail.assigned(),
                "extent {} has its place in the chain",
                extent.sequence
            );
            let state = &mut *self.state.borrow_mut();
            state.unordered.extend(&extent.pages);
            extent.discarded.iter().for_each(|page| state.order.removed(*page));
        }
        if extent.ends_group {
            self.add_group_to_order();
        }
    }

    /// Adds the pages of a completed group to the order, which permits their destaging.
    pub(super) fn add_group_to_order(&self) {
        let state = &mut *self.state.borrow_mut();
        for page in std::mem::take(&mut state.unordered) {
            if self.log.versions().get(page).is_some() && !state.destaging.contains(&page) {
                state.order.added(page);
            }
        }
    }

    /// Pages being destaged.
    pub(super) fn destaging(&self) -> FxHashSet<PageNumber> {
        self.state.borrow().destaging.clone()
    }

    /// Error of a staged page that can't be destaged, if any.
    pub(super) fn first_lost(&self) -> Option<PageError> {
        let state = &mut *self.state.borrow_mut();
        state.lost.retain(|page, (sequence, _)| is_newest(&self.log, *page, *sequence));
        let first = state.lost.iter().min_by_key(|(page, _)| **page);
        first.map(|(_, (_, error))| error.clone())
    }

    /// Returns true while a worker [clears](Self::clear) the staging area.
    pub(super) fn is_clearing(&self) -> bool {
        self.is_clearing.get()
    }

    /// Returns true if there is no background task.
    pub(super) fn is_idle(&self) -> bool {
        self.state.borrow().workers == 0
    }

    /// Starts a background task if one is needed and permitted.
    pub(super) fn start(self: &Rc<Self>) {
        if self.reclaimer.flush_is_urgent() {
            self.context.disk.recheck();
        }
        let has_enough = self.state.borrow().workers >= self.context.options.drain_tasks;
        debug_assert!(!self.context.options.read_only, "a store that is only read destages nothing");
        if !has_enough && self.is_needed() {
            self.spawn("page store: destaging", async |destager| destager.work().await);
        }
    }

    fn spawn(self: &Rc<Self>, name: &'static str, work: impl AsyncFnOnce(&Rc<Self>) + 'static) {
        self.state.borrow_mut().workers += 1;
        let destager = Rc::clone(self);
        self.context.disk.handle().spawn_named(name, async move {
            work(&destager).await;
            let state = &mut *destager.state.borrow_mut();
            debug_assert!(state.workers > 0, "a worker counts itself");
            state.workers -= 1;
            destager.context.changed.notify();
        });
    }

    async fn work(&self) {
        loop {
            // An error here has stopped the store, so every caller receives it.
            let moved_on = match (self.reclaimer.urgency.is_stopped(), self.is_needed()) {
                (false, true) => self.work_once().await,
                (false, false) if self.reclaimer.is_due() => self.reclaimer.reclaim().await,
                (true, _) | (false, false) => Ok(false),
            };
            if !matches!(moved_on, Ok(true)) {
                return;
            }
        }
    }

    /// Reclaims slots if due, otherwise destages.
    async fn work_once(&self) -> Result<bool, PageError> {
        if self.reclaimer.is_due() && self.reclaimer.reclaim().await? {
            return Ok(true);
        }
        match self.claim() {
            Some(claim) => self.destage(claim).await.map(|()| true),
            None => Ok(false),
        }
    }

    /// Takes one step towards free slots for a waiting caller. Returns false if there is nothing to
    /// do.
    pub(super) async fn make_room(&self) -> Result<bool, PageError> {
        if self.work_once().await? {
            return Ok(true);
        }
        self.log.tail.make_durable(self.log.tail.assigned_groups()).await?;
        if self.reclaimer.reclaim().await? {
            return Ok(true);
        }
        let others = self.state.borrow().destaging.len();
        if others == 0 {
            return Ok(false);
        }
        self.context.wait_until(|| self.state.borrow().destaging.len() != others).await.map(|()| true)
    }

    /// Destages everything except lost pages.
    pub(super) async fn destage_everything(&self) -> Result<(), PageError> {
        let _urgent = self.reclaimer.urgency.begin();
        while self.step().await? {}
        self.reclaimer.reclaim().await.map(|_| ())
    }

    /// Destages everything in the background until the store closes. Does nothing if already
    /// running.
    pub(super) fn clear(self: &Rc<Self>) {
        if self.is_clearing.replace(true) {
            return;
        }
        self.spawn("page store: clearing the staging area", async |destager| {
            let urgent = destager.reclaimer.urgency.begin();
            // An error here has stopped the store, so every caller receives it.
            while !destager.reclaimer.urgency.is_stopped() && matches!(destager.step().await, Ok(true)) {}
            drop(urgent);
            destager.is_clearing.set(false);
        });
    }

    /// Destages the next pages, or waits for pages being destaged. Returns false if there are none.
    async fn step(&self) -> Result<bool, PageError> {
        if let Some(claim) = self.claim() {
            return self.destage(claim).await.map(|()| true);
        }
        let others = self.state.borrow().destaging.len();
        if others == 0 {
            return Ok(false);
        }
        self.context.wait_until(|| self.state.borrow().destaging.len() < others).await.map(|()| true)
    }

    /// Destages those of the pages that are staged.
    pub(super) async fn destage_these(&self, pages: &[PageNumber]) -> Result<(), PageError> {
        let claim = self.claim_these(pages);
        if !claim.versions.is_empty() {
            self.destage(claim).await?;
        }
        let has_arrived = || !pages.iter().any(|page| self.state.borrow().destaging.contains(page));
        self.context.wait_until(has_arrived).await
    }

    fn is_needed(&self) -> bool {
        let (blocks, room_blocks) = (self.reclaimer.blocks(), self.reclaimer.coming_room_blocks());
        let Thresholds { starts_below, ends_above, .. } = self.thresholds;
        let state = &mut *self.state.borrow_mut();
        if room_blocks < blocks / starts_below {
            state.is_needed = true;
        }
        if room_blocks > blocks / ends_above && ends_above > 1 {
            state.is_needed = false;
        }
        state.is_needed && !self.reclaimer.urgency.is_stopped() && self.context.disk.check_writable().is_ok()
    }

    /// Claims the next pages in order that may be destaged.
    fn claim(&self) -> Option<Claim> {
        // All claims together may use half of the memory: those of the tasks, and of two calls that
        // wait for room.
        let claims = self.context.options.drain_tasks + 2;
        let memory_bytes = self.context.arena.bytes() / 2;
        let most = (memory_bytes / claims / self.context.label.page_length()).max(1);
        let state = &mut *self.state.borrow_mut();
        loop {
            let Instance { pattern, pages } = state.order.next(most)?;
            debug_assert!(pages.len() <= most, "{} pages are more than {most}", pages.len());
            let mut versions = Vec::with_capacity(pages.len());
            for page in pages {
                // A page of an incomplete group enters the order with the group, and a page being
                // destaged enters it again afterwards.
                let entry = self.log.version_of_whole_group(page);
                let Some(entry) = entry.filter(|_| !state.destaging.contains(&page)) else { continue };
                versions.push((page, entry));
            }
            if !versions.is_empty() {
                for (page, _) in &versions {
                    let is_new = state.destaging.insert(*page);
                    debug_assert!(is_new, "{page} goes home once at a time");
                }
                return Some(Claim { pattern, versions });
            }
        }
    }

    /// Claims those of the pages that are staged and not being destaged.
    fn claim_these(&self, pages: &[PageNumber]) -> Claim {
        let state = &mut *self.state.borrow_mut();
        let mut versions = Vec::new();
        for page in pages {
            if let Some(entry) = self.log.version_of_whole_group(*page)
                && state.destaging.insert(*page)
            {
                state.order.removed(*page);
                versions.push((*page, entry));
            }
        }
        debug_assert!(
            versions.iter().all(|(page, _)| state.destaging.contains(page)),
            "what is claimed is on its way"
        );
        Claim { pattern: None, versions }
    }

    async fn destage(&self, claim: Claim) -> Result<(), PageError> {
        let written = self.write_home(&claim).await;
        self.arrived(&claim, written.is_ok());
        match &written {
            Ok(()) => self.context.disk.count(|stats| {
                let pages = claim.versions.len() as u64;
                stats.pages_destaged += pages;
                debug_assert!(claim.pattern.is_none_or(|pattern| pattern < stats.instances.len()));
                if let Some(won) = claim.pattern.and_then(|pattern| stats.instances.get_mut(pattern)) {
                    won.count += 1;
                    won.pages += pages;
                }
            }),
            // Acknowledged pages can't be destaged. Stopping the store is better than running full.
            Err(error) => self.context.disk.latch(error),
        }
        self.context.changed.notify();
        written
    }

    async fn write_home(&self, claim: &Claim) -> Result<(), PageError> {
        let newest = claim.versions.iter().map(|(_, entry)| entry.sequence).max();
        let Some(newest) = newest else { unreachable!("a claim is of a page at least") };
        if !Defect::HomeBeforeDurable.is_seeded() {
            self.log.tail.make_durable(newest).await?;
            debug_assert!(
                self.log.tail.durable() >= newest || Defect::SkippedFlush.is_seeded(),
                "what goes home is durable"
            );
        }
        let ReadBack { contents, lost } =
            read_back(&self.context, &self.log, &claim.versions, || self.depth()).await?;
        self.leave(claim, lost);
        debug_assert_eq!(contents.len(), claim.versions.len(), "contents of each version, or none");
        let mut runs: Vec<Run> = Vec::with_capacity(contents.len());
        let longest_pages = self.longest_run_pages();
        for ((page, entry), buffer) in claim.versions.iter().zip(contents) {
            let Some(buffer) = buffer else { continue };
            let new = match runs.last_mut() {
                Some(run) => run.extend(*page, buffer, entry.sum, longest_pages).err(),
                None => Some(buffer),
            };
            runs.extend(new.map(|buffer| Run::of(*page, buffer, entry.sum)));
        }
        self.context.home.write(runs, || self.depth()).await
    }

    /// Leaves lost pages in the staging area until they are rewritten.
    fn leave(&self, claim: &Claim, lost: Vec<(PageNumber, PageError)>) {
        let state = &mut *self.state.borrow_mut();
        for (page, error) in lost {
            let version = claim.versions.iter().find(|(claimed, _)| *claimed == page);
            debug_assert!(version.is_some(), "{page} was claimed");
            state.lost.extend(version.map(|(page, entry)| (*page, (entry.sequence, error))));
        }
    }

    /// Maximum number of consecutive pages in one request.
    fn longest_run_pages(&self) -> usize {
        let largest_bytes = self.context.disk.shape().largest_transfer_bytes;
        to_usize(largest_bytes / self.context.label.page_bytes).clamp(1, RUN_PAGES)
    }

    /// Number of a task's requests in flight. They delay commits at the device, so they are few
    /// unless a call waits for room.
    fn depth(&self) -> usize {
        let depth = self.context.options.drain_depth;
        if self.reclaimer.flush_is_urgent() { depth } else { depth / CALM_DEPTH_PART }
    }

    /// Ends a claim whose pages are home, or failed to get there.
    fn arrived(&self, claim: &Claim, is_home: bool) {
        let state = &mut *self.state.borrow_mut();
        for (page, entry) in &claim.versions {
            let was_claimed = state.destaging.remove(page);
            debug_assert!(was_claimed, "{page} was on its way home");
            let is_lost = state.lost.get(page).is_some_and(|(sequence, _)| *sequence == entry.sequence);
            if is_lost && is_newest(&self.log, *page, entry.sequence) {
                continue;
            }
            let freed = if is_home { self.log.versions_mut().destaged(*page, entry.sequence) } else { None };
            match freed {
                Some(slot) => {
                    let (page, sequence, sum) = (*page, entry.sequence, entry.sum);
                    self.reclaimer.destaged(Destaged { slot, page, sequence, sum });
                }
                None if self.log.versions().get(*page).is_some() => state.order.added(*page),
                None => {}
            }
        }
    }
}
