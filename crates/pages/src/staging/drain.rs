//! From the staging area home.

use std::collections::VecDeque;
use std::rc::Rc;

use nandle_io::Buffer;

use super::engine::{Shared, staged_damage};
use super::order::Instance;
use super::space::Placement;
use super::table::Entry;
use crate::defects::Defect;
use crate::disk::Reading;
use crate::home::Run;
use crate::page::checksum;
use crate::{PageError, PageNumber};

/// The most pages that one request writes home.
const RUN_PAGES: usize = 256;
/// As long as nobody is in a hurry, 1/this of the requests that a task may have at the device.
const CALM: usize = 4;

/// Pages that are on their way home: nobody else takes them meanwhile.
struct Claim {
    pattern: Option<usize>,
    versions: Vec<(PageNumber, Entry)>,
}

/// Starts a background task if there is need for one and room for another.
pub(super) fn start(shared: &Rc<Shared>) {
    if shared.is_in_a_hurry() {
        shared.disk.look_again();
    }
    let mut state = shared.state.borrow_mut();
    if state.workers >= shared.options.drain_tasks || !shared.needs_draining(&mut state) {
        return;
    }
    state.workers += 1;
    drop(state);
    let worker = Rc::clone(shared);
    shared.disk.handle().spawn_named("page store: draining", async move {
        work(&worker).await;
        worker.state.borrow_mut().workers -= 1;
        worker.changed.notify();
    });
}

async fn work(shared: &Rc<Shared>) {
    loop {
        let is_stopped = shared.state.borrow().is_stopped;
        let drains = shared.needs_draining(&mut shared.state.borrow_mut());
        // What fails here has stopped the store, so everybody learns of it.
        let moved_on = match (is_stopped, drains) {
            (false, true) => work_once(shared).await,
            (false, false) if shared.settling_is_due() => shared.settle().await,
            (true, _) | (false, false) => Ok(false),
        };
        if !matches!(moved_on, Ok(true)) {
            return;
        }
    }
}

async fn work_once(shared: &Rc<Shared>) -> Result<bool, PageError> {
    if shared.settling_is_due() && shared.settle().await? {
        return Ok(true);
    }
    match shared.claim() {
        Some(claim) => bring_home(shared, claim).await.map(|()| true),
        None => Ok(false),
    }
}

/// Does the next thing that leads to free slots, for somebody who waits for them. Returns false when there is nothing of
/// that kind to do.
pub(super) async fn make_space(shared: &Rc<Shared>) -> Result<bool, PageError> {
    if work_once(shared).await? {
        return Ok(true);
    }
    let groups = shared.state.borrow().chain.assigned_groups();
    shared.make_durable(groups).await?;
    shared.settle().await
}

/// Brings everything home that is staged.
pub(super) async fn everything(shared: &Rc<Shared>) -> Result<(), PageError> {
    let _hurry = shared.hurry();
    while step(shared).await? {}
    shared.settle().await.map(|_| ())
}

/// The same in the background, as long as the store isn't being closed. What goes on already does it for both.
pub(super) fn clear(shared: &Rc<Shared>) {
    if shared.is_clearing.replace(true) {
        return;
    }
    shared.state.borrow_mut().workers += 1;
    let worker = Rc::clone(shared);
    shared.disk.handle().spawn_named("page store: clearing the staging area", async move {
        let hurry = worker.hurry();
        // What fails here has stopped the store, so everybody learns of it.
        while !worker.state.borrow().is_stopped && matches!(step(&worker).await, Ok(true)) {}
        drop(hurry);
        worker.is_clearing.set(false);
        worker.state.borrow_mut().workers -= 1;
        worker.changed.notify();
    });
}

/// Brings the next pages home, or waits for others who do so. Returns whether there were any.
async fn step(shared: &Rc<Shared>) -> Result<bool, PageError> {
    if let Some(claim) = shared.claim() {
        return bring_home(shared, claim).await.map(|()| true);
    }
    let others = shared.state.borrow().homing.len();
    if others == 0 {
        return Ok(false);
    }
    let moved_on = || shared.state.borrow().homing.len() < others || shared.disk.check_writable().is_err();
    shared.changed.wait(|| moved_on().then_some(())).await;
    shared.disk.check_writable().map(|()| true)
}

/// Brings these pages home, those of them that are staged.
pub(super) async fn these(shared: &Rc<Shared>, pages: &[PageNumber]) -> Result<(), PageError> {
    let claimed = shared.claim_these(pages);
    if !claimed.versions.is_empty() {
        bring_home(shared, claimed).await?;
    }
    let on_their_way = || pages.iter().any(|page| shared.state.borrow().homing.contains(page));
    let has_arrived = || !on_their_way() || shared.disk.check_writable().is_err();
    shared.changed.wait(|| has_arrived().then_some(())).await;
    shared.disk.check_writable()
}

impl Shared {
    fn needs_draining(&self, state: &mut super::engine::State) -> bool {
        // What is home or superseded has only to be settled; in a ring that needn't give room in front of it.
        let settling = match self.placement {
            Placement::Slots => state.settling + state.homed.len() + state.superseded.len(),
            Placement::Ring => 0,
        };
        let coming = settling as u64 * self.label.page_blocks();
        let (blocks, room) = (state.space.blocks(), state.space.room_blocks() + coming);
        let draining = self.draining;
        if room < blocks / draining.starts_below {
            state.is_draining = true;
        }
        if room > blocks / draining.ends_above && draining.ends_above > 1 {
            state.is_draining = false;
        }
        state.is_draining && !state.is_stopped && self.disk.check_writable().is_ok()
    }

    fn settling_is_due(&self) -> bool {
        let state = self.state.borrow();
        // What a group supersedes that isn't written as a whole yet lives on: settling can't give it back.
        let written = state.chain.written_groups();
        let superseded = state.superseded.partition_point(|(_, by)| *by <= written);
        let pages = (state.homed.len() + superseded) as u64;
        pages * self.label.page_blocks() >= (state.space.blocks() / self.draining.settles_at).max(1)
    }

    /// The next pages in order that can go home.
    fn claim(&self) -> Option<Claim> {
        // Half of the memory for all that go home at the same time, the tasks and two who wait for room.
        let claims = self.options.drain_tasks + 2;
        let most = (self.arena.bytes() / 2 / claims / self.label.page_length()).max(1);
        let state = &mut *self.state.borrow_mut();
        loop {
            let Instance { pattern, pages } = state.order.next(most)?;
            let whole_groups = state.chain.assigned_groups();
            let mut versions = Vec::with_capacity(pages.len());
            for page in pages {
                // A page of the group that is being written comes into the order when the group is whole; one that
                // is on its way, when it has arrived.
                let entry = state.table.get(page).filter(|entry| entry.sequence <= whole_groups);
                let Some(entry) = entry.filter(|_| !state.homing.contains(&page)) else { continue };
                versions.push((page, entry.clone()));
            }
            if !versions.is_empty() {
                state.homing.extend(versions.iter().map(|(page, _)| *page));
                return Some(Claim { pattern, versions });
            }
        }
    }

    /// Of these pages, those that are staged and that nobody has taken.
    fn claim_these(&self, pages: &[PageNumber]) -> Claim {
        let state = &mut *self.state.borrow_mut();
        let whole_groups = state.chain.assigned_groups();
        let mut versions = Vec::new();
        for page in pages {
            let entry = state.table.get(*page).filter(|entry| entry.sequence <= whole_groups).cloned();
            if let Some(entry) = entry
                && state.homing.insert(*page)
            {
                state.order.removed(*page);
                versions.push((*page, entry));
            }
        }
        Claim { pattern: None, versions }
    }

    fn arrived(&self, claim: &Claim, is_home: bool) {
        let state = &mut *self.state.borrow_mut();
        for (page, entry) in &claim.versions {
            state.homing.remove(page);
            if is_home && let Some(slot) = state.table.remove_version(*page, entry.sequence) {
                state.homed.push(slot);
            } else if state.table.get(*page).is_some() {
                state.order.added(*page);
            }
        }
    }
}

async fn bring_home(shared: &Rc<Shared>, claim: Claim) -> Result<(), PageError> {
    let moved = move_pages(shared, &claim).await;
    shared.arrived(&claim, moved.is_ok());
    match &moved {
        Ok(()) => shared.disk.count(|stats| {
            let pages = claim.versions.len() as u64;
            stats.pages_homed += pages;
            if let Some(won) = claim.pattern.and_then(|pattern| stats.instances.get_mut(pattern)) {
                won.count += 1;
                won.pages += pages;
            }
        }),
        // Acknowledged pages can't be brought home: better to stop than to run full.
        Err(error) => shared.disk.latch(error),
    }
    shared.changed.notify();
    moved
}

async fn move_pages(shared: &Rc<Shared>, claim: &Claim) -> Result<(), PageError> {
    let newest = claim.versions.iter().map(|(_, entry)| entry.sequence).max().unwrap_or(0);
    if !Defect::HomeBeforeDurable.is_seeded() {
        shared.make_durable(newest).await?;
    }
    let contents = read_back(shared, &claim.versions).await?;
    shared.home.write(shared.runs(claim, contents), || shared.drain_depth()).await
}

/// The contents of all pages: from memory, or read back and checked. None for a page of which a newer version came
/// meanwhile, so that its slot may hold another page by now.
async fn read_back(
    shared: &Rc<Shared>,
    versions: &[(PageNumber, Entry)],
) -> Result<Vec<Option<Buffer>>, PageError> {
    let mut coming = VecDeque::new();
    let mut contents = Vec::with_capacity(versions.len());
    for (place, (_, entry)) in versions.iter().enumerate() {
        contents.push(entry.memory.clone());
        if entry.memory.is_some() {
            continue;
        }
        while coming.len() >= shared.drain_depth().max(1) {
            next_of(shared, versions, &mut coming, &mut contents).await?;
        }
        let into = shared.arena.allocate(shared.label.page_length())?;
        let offset_bytes = shared.label.offset_of(shared.state.borrow().space.block_of(entry.slot));
        coming.push_back((place, shared.disk.read("reading a staged page back", offset_bytes, into)));
    }
    while !coming.is_empty() {
        next_of(shared, versions, &mut coming, &mut contents).await?;
    }
    Ok(contents)
}

/// Waits for the read that has been on its way longest, and checks what it brings.
async fn next_of(
    shared: &Rc<Shared>,
    versions: &[(PageNumber, Entry)],
    coming: &mut VecDeque<(usize, Reading)>,
    contents: &mut [Option<Buffer>],
) -> Result<(), PageError> {
    let Some((place, read)) = coming.pop_front() else { return Ok(()) };
    let Some((page, entry)) = versions.get(place) else { return Ok(()) };
    let buffer = read.await?;
    let got = checksum(*page, &buffer);
    if got == entry.sum {
        contents.get_mut(place).into_iter().for_each(|place| *place = Some(buffer.clone()));
        return Ok(());
    }
    let newest = shared.state.borrow().table.get(*page).map(|newest| newest.sequence);
    if newest == Some(entry.sequence) { Err(staged_damage(*page, got, entry.sum)) } else { Ok(()) }
}

impl Shared {
    /// Requests that a task has at the device. A commit's own write waits behind them there, so they are few as long as
    /// nobody waits for room.
    fn drain_depth(&self) -> usize {
        let depth = self.options.drain_depth;
        if self.is_in_a_hurry() { depth } else { depth / CALM }
    }

    /// Pages that follow one another go in one request.
    fn runs(&self, claim: &Claim, contents: Vec<Option<Buffer>>) -> Vec<Run> {
        let largest_bytes = self.disk.shape().largest_transfer_bytes;
        let most = usize::try_from(largest_bytes / self.label.page_bytes).unwrap_or(usize::MAX);
        let longest_pages = most.clamp(1, RUN_PAGES);
        let mut runs: Vec<Run> = Vec::with_capacity(contents.len());
        for ((page, entry), buffer) in claim.versions.iter().zip(contents) {
            let Some(buffer) = buffer else { continue };
            let new = match runs.last_mut() {
                Some(run) => run.extend(*page, buffer, entry.sum, longest_pages).err(),
                None => Some(buffer),
            };
            runs.extend(new.map(|buffer| Run::of(*page, buffer, entry.sum)));
        }
        runs
    }
}
