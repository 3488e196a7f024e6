//! Staged or direct writes, whichever takes less time on this device and workload. Measures both in
//! turn, keeps the better one, and tries the other occasionally (see [`judge`]). The staged way
//! uses `stable-ring` with its formats, the direct way is that of `direct`.
//!
//! After a power cut the guarantee is that of `direct`, regardless of the current way: a committed
//! page that wasn't rewritten is present, a page being written may be torn, and any part of a batch
//! may be present. A stronger guarantee would require every page to be written twice, and `auto`
//! could never beat `stable-ring` where staging doesn't pay. Callers who need whole batches use
//! another policy.
//!
//! Direct writes with staged pages present are dangerous: after a power cut an older version from
//! the staging area could replace a newer one at home. A page is therefore written directly only if
//! recovery would find no slot of it. Before the direct way starts, a ledger makes the dead slots
//! durable, and the pages of all live slots are recorded; these continue to be staged. They are
//! destaged in the background, but frequently written pages return as fast. The last of them are
//! therefore destaged while no call writes, followed by another ledger. Before the staged way
//! starts again, a flush makes the direct writes durable, as later commits flush only for their
//! staged pages. No call writes while the way changes.

mod gate;
mod judge;

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut};
use rustc_hash::FxHashSet;

use self::gate::{Closed, Gate};
use self::judge::{Judge, Path};
use super::direct::Direct;
use super::{Descriptor, Layout, Parts, Policy, Promises, Task};
use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::home::Place;
use crate::queue::{Queue, Served};
use crate::staging::Staging;
use crate::{Batch, BatchNumber, PageError, PageNumber, PolicyKind, Stats};

pub(super) const DESCRIPTOR: Descriptor = Descriptor {
    name: "auto",
    description: "works as stable-ring or as direct, whichever it measures to take less time",
    code: 6,
    promises: Promises::NONE,
    layout: Layout::Staged { config: super::stable_ring::config, keeps_home_sums: false },
    open: |parts| Box::pin(async { Ok(Box::new(Auto::open(parts).await?) as Box<dyn Policy>) }),
};

pub(crate) struct Auto {
    shared: Rc<AutoEngine>,
}

struct AutoEngine {
    disk: Rc<Disk>,
    staging: Staging,
    direct: Direct,
    gate: Rc<Gate>,
    judge: RefCell<Judge>,
    /// Order of batches. Direct writes run concurrently, but each starts in its turn.
    accepting: Queue,
    /// Pages that must not be written directly, because recovery may find them in the staging area,
    /// or an older version is being destaged.
    held: RefCell<FxHashSet<PageNumber>>,
}

impl Auto {
    pub(crate) async fn open(parts: Parts) -> Result<Self, PageError> {
        let (home, options) = (Rc::clone(&parts.home), parts.options);
        let disk = Rc::clone(home.disk());
        let config = super::staging_config(PolicyKind::Auto, home.label(), &options)?;
        let staging = Staging::open(parts, config).await?;
        let judge = Judge::new(&options, staging.room_pages(), staging.has_staged());
        let gate = Gate::new(disk.handle());
        let (judge, held, accepting) = (RefCell::new(judge), RefCell::default(), Queue::default());
        let direct = Direct::new(home);
        Ok(Self { shared: Rc::new(AutoEngine { disk, staging, direct, gate, judge, accepting, held }) })
    }

    async fn put(&self, batch: Batch) -> Result<(), PageError> {
        let shared = &self.shared;
        let mine = shared.accepting.enter().await;
        if shared.is_to_change()
            && let Some(closed) = shared.gate.close()
        {
            // In its own task, so that it continues if this call is dropped.
            let changing = Rc::clone(shared);
            let changed = async move { changing.change(closed).await };
            shared.disk.handle().spawn_named("page store: the other way", changed).await?;
        }
        let _inside = shared.gate.enter().await;
        let path = {
            let mut judge = shared.judge.borrow_mut();
            judge.comes(batch.len() as u64, shared.gate.busy().0);
            judge.path()
        };
        match path {
            Path::Staged => shared.staging.write(batch).await,
            Path::Straight => shared.put_straight(batch, mine).await,
        }
    }

    async fn make_durable(&self) -> Result<BatchNumber, PageError> {
        let _inside = self.shared.gate.enter().await;
        let path = self.shared.judge.borrow().path();
        if path == Path::Staged {
            self.shared.staging.sync().await?;
            return Ok(BatchNumber::NONE);
        }
        if !self.shared.held.borrow().is_empty() {
            self.shared.staging.sync().await?;
        }
        self.shared.disk.flush().await?;
        Ok(BatchNumber::NONE)
    }
}

impl AutoEngine {
    /// Writes a batch directly. The next batch may enter once this one has started, or has
    /// completed while the staging area is being emptied, to let that finish soon.
    async fn put_straight(&self, batch: Batch, mine: Served<'_>) -> Result<(), PageError> {
        let (mut held, mut free) = (Vec::new(), Vec::new());
        let changes = batch.len();
        for change in batch.into_changes() {
            let is_held = self.held.borrow().contains(&change.0) && !Defect::HeldForgotten.is_seeded();
            if is_held { held.push(change) } else { free.push(change) }
        }
        debug_assert_eq!(held.len() + free.len(), changes, "each change goes one of both ways");
        let written = free.iter().filter(|(_, change)| matches!(change, Change::Put(_))).count();
        self.disk.count(|stats| stats.pages_straight += written as u64);
        if !held.is_empty() {
            self.staging.write(Batch::of(held)).await?;
        }
        let started = self.direct.start(Batch::of(free));
        let kept = self.judge.borrow().awaits_clearing().then_some(mine);
        let finished = started.finish().await;
        drop(kept);
        finished
    }

    /// Ends a phase and begins the next, while no call writes.
    async fn change(&self, closed: Closed) -> Result<(), PageError> {
        closed.emptied().await;
        if self.judge.borrow().awaits_clearing() {
            debug_assert_eq!(
                self.judge.borrow().path(),
                Path::Straight,
                "only straight writes await clearing"
            );
            // Pages staged again meanwhile.
            self.staging.destage_all().await?;
            let held = self.staging.persist_dead_slots().await?;
            *self.held.borrow_mut() = held;
            self.judge.borrow_mut().cleared(self.gate.busy().0);
            return Ok(());
        }
        let began = self.disk.handle().now();
        self.finish().await?;
        let finished = self.disk.handle().now() - began;
        // On failure the way must stay unchanged, as the other one would be unsafe.
        let mut next = self.judge.borrow().ended((self.gate.busy() + finished).0);
        let is_clear = next.path() == Path::Staged || self.clear_the_way().await?;
        if next.path() == Path::Staged {
            self.held.borrow_mut().clear();
        }
        next.entered(self.gate.busy().0, is_clear);
        self.judge.replace(next);
        Ok(())
    }

    fn is_to_change(&self) -> bool {
        let judge = self.judge.borrow();
        let is_clearing = self.staging.is_clearing() && !judge.clearing_timed_out();
        judge.is_over(self.gate.busy().0) || (judge.awaits_clearing() && !is_clearing)
    }

    /// Completes the work that belongs to the phase's time.
    async fn finish(&self) -> Result<(), PageError> {
        let (path, is_trial) = {
            let judge = self.judge.borrow();
            (judge.path(), judge.is_trial())
        };
        match path {
            Path::Straight if Defect::StraightUnflushed.is_seeded() => Ok(()),
            Path::Straight => self.disk.flush().await,
            Path::Staged if is_trial => self.staging.destage_all().await,
            Path::Staged => Ok(()),
        }
    }

    /// Permits direct writes of all pages that aren't staged, and destages the others in the
    /// background. Returns true if there are none.
    async fn clear_the_way(&self) -> Result<bool, PageError> {
        let held = self.staging.persist_dead_slots().await?;
        let is_clear = held.is_empty();
        *self.held.borrow_mut() = held;
        if !is_clear {
            self.staging.clear();
        }
        Ok(is_clear)
    }
}

impl Policy for Auto {
    fn write(&self, batch: Batch) -> Task<'_, ()> {
        Box::pin(self.put(batch))
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn sync(&self) -> Task<'_, BatchNumber> {
        Box::pin(self.make_durable())
    }

    fn read(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        self.shared.staging.read(page, into)
    }

    fn verify(&self, page: PageNumber, into: BufferMut) -> Task<'_, Buffer> {
        self.shared.staging.verify(page, into)
    }

    fn locate(&self, page: PageNumber) -> Option<Place> {
        self.shared.staging.locate(page)
    }

    fn checkpoint(&self) -> Task<'_, ()> {
        Box::pin(async {
            let _inside = self.shared.gate.enter().await;
            self.shared.staging.checkpoint().await?;
            self.shared.disk.flush().await
        })
    }

    fn share_commits(&self, groups: usize) {
        self.shared.staging.share_commits(groups);
    }

    /// Limited by staging, whichever way is current.
    fn largest_batch(&self) -> usize {
        self.shared.staging.largest_batch()
    }

    fn known(&self) -> Vec<PageNumber> {
        self.shared.staging.known()
    }

    fn stats(&self, stats: &mut Stats) {
        self.shared.staging.stats(stats);
        stats.auto = Some(self.shared.judge.borrow().found());
    }

    fn stop(&self) {
        self.shared.staging.stop();
    }

    fn close(&self) -> Task<'_, ()> {
        self.shared.staging.close()
    }

    fn stopped(&self) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        self.shared.staging.stopped()
    }
}
