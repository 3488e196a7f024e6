//! From the staging area home.

use std::rc::Rc;

use nandle_io::Buffer;

use super::engine::{Shared, staged_damage};
use super::order::Instance;
use super::table::Entry;
use crate::defects::Defect;
use crate::page::checksum;
use crate::{PageError, PageNumber};

/// The most pages that one request writes home.
const RUN_PAGES: usize = 256;

/// Pages that are on their way home: nobody else takes them meanwhile.
struct Claim {
    pattern: Option<usize>,
    versions: Vec<(PageNumber, Entry)>,
}

/// Starts a background task if there is need for one and room for another.
pub(super) fn start(shared: &Rc<Shared>) {
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
    while shared.needs_draining(&mut shared.state.borrow_mut()) {
        // What fails here has stopped the store, so everybody learns of it.
        match work_once(shared).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
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
    loop {
        while let Some(claim) = shared.claim() {
            bring_home(shared, claim).await?;
        }
        let others = shared.state.borrow().homing.len();
        if others == 0 {
            break;
        }
        let moved_on =
            || shared.state.borrow().homing.len() < others || shared.disk.check_writable().is_err();
        shared.changed.wait(|| moved_on().then_some(())).await;
        shared.disk.check_writable()?;
    }
    shared.settle().await.map(|_| ())
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
        let (blocks, room) = (state.space.blocks(), state.space.room_blocks());
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
    let mut writes = Vec::new();
    for (first, run) in runs(claim, contents) {
        let home = Rc::clone(&shared.home);
        let write = async move { home.write(first, run).await };
        writes.push(shared.disk.handle().spawn_named("page store: writing home", write));
    }
    let mut result = Ok(());
    for write in writes {
        result = result.and(write.await);
    }
    result
}

/// The contents of all pages: from memory, or read back, all at the same time. None for a page of which a newer version
/// came meanwhile, so that its slot may hold another page by now.
async fn read_back(
    shared: &Rc<Shared>,
    versions: &[(PageNumber, Entry)],
) -> Result<Vec<Option<Buffer>>, PageError> {
    let mut reads = Vec::with_capacity(versions.len());
    for (_, entry) in versions {
        let Some(contents) = &entry.memory else {
            let into = shared.arena.allocate(shared.label.page_length())?;
            let offset_bytes = shared.offset_of(shared.state.borrow().space.block_of(entry.slot));
            let read = shared.disk.read("reading a staged page back", offset_bytes, into);
            reads.push(Reading::Coming(Box::pin(read)));
            continue;
        };
        reads.push(Reading::Done(contents.clone()));
    }
    let mut contents = Vec::with_capacity(versions.len());
    for ((page, entry), reading) in versions.iter().zip(reads) {
        let buffer = match reading {
            Reading::Done(buffer) => buffer,
            Reading::Coming(read) => read.await?,
        };
        let got = checksum(*page, &buffer);
        let is_whole = got == entry.sum;
        let newest = shared.state.borrow().table.get(*page).map(|newest| newest.sequence);
        if !is_whole && newest == Some(entry.sequence) {
            return Err(staged_damage(*page, got, entry.sum));
        }
        contents.push(is_whole.then_some(buffer));
    }
    Ok(contents)
}

enum Reading {
    Done(Buffer),
    Coming(crate::policy::Task<'static, Buffer>),
}

/// Pages that follow one another go in one request.
fn runs(claim: &Claim, contents: Vec<Option<Buffer>>) -> Vec<(PageNumber, Vec<(Buffer, u32)>)> {
    let mut runs: Vec<(PageNumber, Vec<(Buffer, u32)>)> = Vec::new();
    for ((page, entry), buffer) in claim.versions.iter().zip(contents) {
        let Some(buffer) = buffer else { continue };
        match runs.last_mut() {
            Some((first, run)) if first.0 + run.len() as u64 == page.0 && run.len() < RUN_PAGES => {
                run.push((buffer, entry.sum));
            }
            _ => runs.push((*page, vec![(buffer, entry.sum)])),
        }
    }
    runs
}
