use std::rc::Rc;

use nandle_io::runtime::Handle;
use nandle_io::{Arena, Buffer, BufferMut, DeviceId, WriteBuffers};

use crate::batch::Change;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::home::{Home, Place};
use crate::identity;
use crate::label::{LABELS_BYTES, Label};
use crate::policy::{self, Parts, Policy};
use crate::queue::Queue;
use crate::{
    BLOCK_BYTES, Batch, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind, Promises, Stats,
};

/// A page store on a device of a runtime's world.
///
/// - What [`commit`](Store::commit) acknowledged, and what [`write`](Store::write) accepted before a
///   [`sync`](Store::sync) was acknowledged, survives any power cut, as far as the [media](crate) keep what they
///   promise. What the policy says of batches that were not acknowledged is in its [`Promises`].
/// - Batches take effect in the order of the calls, also of calls that are under way at the same time; a call begins when its
///   future is polled first.
/// - When a write or a flush fails, the store stops ([`PageError::Latched`]): nothing is acknowledged any more until
///   it was opened again.
/// - A page that was never written reads as whatever the device held, and one that was
///   [discarded](Batch::discard) as anything that it ever held.
///
/// Dropped without [`close`](Store::close) it behaves as after a power cut: nothing acknowledged is lost. But only `close`
/// waits for what goes on in the background, so only then may it be opened again in the same runtime.
pub struct Store {
    home: Rc<Home>,
    policy: Box<dyn Policy>,
    arena: Arena,
    /// Whose batch is being accepted.
    accepting: Queue,
}

impl Store {
    /// Makes a new store on a device, over whatever was there.
    ///
    /// # Errors
    /// The options contradict each other or the device, or the device fails.
    pub async fn create(
        handle: &Handle,
        device: DeviceId,
        create: &CreateOptions,
        open: OpenOptions,
    ) -> Result<Self, PageError> {
        let disk = Disk::new(handle, device, open.read_only)?;
        let (ledger_bytes, area_bytes) = policy::areas(create)?;
        let label = Label::plan(create, ledger_bytes, area_bytes)?;
        check_fits(&label, &disk)?;
        let label = Label { id: identity::choose(&disk, label.end_bytes(), create.id).await?, ..label };
        write_store(&disk, &label, create).await?;
        Self::open(handle, device, open).await
    }

    /// Opens the store on a device, and recovers what a power cut left.
    ///
    /// # Errors
    /// There is no store, or one of another version, or a damaged one; or the device fails.
    pub async fn open(handle: &Handle, device: DeviceId, options: OpenOptions) -> Result<Self, PageError> {
        let disk = Disk::new(handle, device, options.read_only)?;
        let label = read_label(&disk).await?;
        check_fits(&label, &disk)?;
        let home = Home::new(&disk, &label);
        let arena = Arena::new(options.memory_bytes)?;
        let parts = Parts { home: Rc::clone(&home), options, arena: Arena::new(options.memory_bytes)? };
        Ok(Self { home, policy: policy::open(parts).await?, arena, accepting: Queue::default() })
    }

    /// How it writes.
    pub fn policy(&self) -> PolicyKind {
        self.home.label().policy
    }

    /// What its policy promises.
    pub fn promises(&self) -> Promises {
        let promises = self.policy().promises();
        // Made without checksums, or by a version that had none.
        let checks_pages = promises.checks_pages && self.home.label().checks_pages();
        Promises { checks_pages, ..promises }
    }

    /// Length of a page.
    pub fn page_bytes(&self) -> usize {
        self.home.label().page_length()
    }

    /// How many pages it has.
    pub fn pages(&self) -> u64 {
        self.home.label().pages
    }

    /// The most changes that a batch may have. With a staging area it grows with its size (`buffer_bytes`), with `out-of-place`
    /// with that of its zones (`alignment_bytes`).
    pub fn largest_batch(&self) -> usize {
        self.policy.largest_batch()
    }

    /// Memory for one page, of the store's own arena. Its contents are whatever was there before.
    ///
    /// # Errors
    /// All of the store's memory is in use.
    pub fn buffer(&self) -> Result<BufferMut, PageError> {
        Ok(self.arena.allocate(self.page_bytes())?)
    }

    /// Where [`buffer`](Store::buffer) takes its memory from, for threads that fill pages.
    pub(crate) fn arena(&self) -> Arena {
        self.arena.clone()
    }

    /// Reads a page. Sees every batch whose `write` or `commit` has returned.
    ///
    /// # Errors
    /// The page is beyond the end, the device fails, or what it returns isn't what was written last: always where the store
    /// [checks its pages](Promises::checks_pages), else as far as the page was written since the store was opened.
    pub async fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        self.home.disk().count(|stats| stats.pages_read += 1);
        self.policy.read(page, self.buffer()?).await
    }

    /// See [`Policy::locate`].
    pub(crate) fn locate(&self, page: PageNumber) -> Option<Place> {
        self.policy.locate(page)
    }

    /// Pages of which something is known: where they are, if they aren't at home, or what they hold.
    pub(crate) fn known(&self) -> Vec<PageNumber> {
        self.policy.known()
    }

    /// Where page 0 has its place, and the others behind it; `None` where pages have none.
    pub(crate) fn homes_offset_bytes(&self) -> Option<u64> {
        let label = self.home.label();
        (!label.policy.has_zones()).then(|| label.home_of(PageNumber(0)))
    }

    /// See [`Disk::set_flush_depth`].
    pub(crate) fn set_flush_depth(&self, flushes: usize) {
        self.home.disk().set_flush_depth(flushes);
    }

    /// Whether batches that are accepted at the same time make each other durable better than one flush for all does.
    pub(crate) fn keeps_order(&self) -> bool {
        self.policy.keeps_order()
    }

    /// Accepts a batch, which later reads see. It is durable once a [`sync`](Store::sync) or a
    /// [`commit`](Store::commit) that began afterwards has returned.
    ///
    /// # Errors
    /// A change doesn't fit the store, the batch is too large for the policy, or the store has stopped.
    pub async fn write(&self, batch: Batch) -> Result<(), PageError> {
        self.check_batch(&batch)?;
        self.home.disk().count(|stats| stats.pages_written += batch.len() as u64);
        if self.policy.keeps_order() {
            return self.policy.write(batch).await;
        }
        // One that finds room must not overtake one that waits for some.
        let _mine = self.accepting.enter().await;
        self.policy.write(batch).await
    }

    /// Makes everything durable that was accepted before.
    ///
    /// # Errors
    /// The device fails: then the store stops.
    pub async fn sync(&self) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        self.policy.sync().await
    }

    /// Makes a batch durable, together with all that was accepted before.
    ///
    /// # Errors
    /// As for [`write`](Store::write) and [`sync`](Store::sync). After an error the batch may still survive a power
    /// cut.
    pub async fn commit(&self, batch: Batch) -> Result<(), PageError> {
        if !self.policy.keeps_order() {
            self.write(batch).await?;
            return self.sync().await;
        }
        self.check_batch(&batch)?;
        self.home.disk().count(|stats| stats.pages_written += batch.len() as u64);
        self.policy.commit(batch).await
    }

    /// Brings every page to its own place, durably.
    ///
    /// # Errors
    /// The device fails: then the store stops.
    pub async fn checkpoint(&self) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        self.policy.checkpoint().await
    }

    /// Reads and checks all pages whose contents are known: those in the staging area, and those at home that were written
    /// since the store was opened, or ever where it [checks its pages](Promises::checks_pages). Returns how many they were.
    ///
    /// # Errors
    /// The first page that is damaged or can't be read.
    pub async fn verify(&self) -> Result<u64, PageError> {
        let known = self.policy.known();
        for page in &known {
            self.policy.verify(*page, self.buffer()?).await?;
        }
        Ok(known.len() as u64)
    }

    /// What it did since it was opened.
    pub fn stats(&self) -> Stats {
        let mut stats = self.home.disk().counts();
        self.policy.stats(&mut stats);
        stats
    }

    /// Makes everything durable that was accepted, waits for what goes on in the background, and ends. What is staged
    /// stays there for the next opening; [`checkpoint`](Store::checkpoint) first destages it.
    ///
    /// # Errors
    /// The device fails.
    pub async fn close(self) -> Result<(), PageError> {
        let synced = self.sync().await;
        self.policy.stop();
        self.policy.stopped().await;
        match synced {
            Ok(()) => self.policy.close().await,
            Err(PageError::ReadOnly) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn check_page(&self, page: PageNumber) -> Result<(), PageError> {
        let pages = self.pages();
        if page.0 < pages { Ok(()) } else { Err(PageError::BeyondEnd { page, pages }) }
    }

    fn check_batch(&self, batch: &Batch) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        let most = self.largest_batch();
        if batch.len() > most {
            return Err(PageError::BatchTooLarge { changes: batch.len(), most });
        }
        let expected = self.page_bytes();
        for (page, change) in batch.changes() {
            self.check_page(*page)?;
            match change {
                Change::Put(contents) if contents.len() != expected => {
                    let got = contents.len();
                    return Err(PageError::PageLength { page: *page, got, expected });
                }
                Change::Put(_) | Change::Discard => {}
            }
        }
        Ok(())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.policy.stop();
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("label", self.home.label()).finish_non_exhaustive()
    }
}

fn check_fits(label: &Label, disk: &Disk) -> Result<(), PageError> {
    let (needed_bytes, capacity_bytes) = (label.end_bytes(), disk.shape().capacity_bytes);
    if needed_bytes <= capacity_bytes {
        return Ok(());
    }
    let mend =
        "take a larger device, or fewer pages; if the store was here before, its file has been cut short";
    Err(PageError::TooSmall { needed_bytes, capacity_bytes, mend })
}

async fn write_store(disk: &Rc<Disk>, label: &Label, create: &CreateOptions) -> Result<(), PageError> {
    policy::format(disk, label, create).await?;
    if !Defect::LabelFirst.is_seeded() {
        disk.flush().await?;
    }
    let arena = Arena::new(BLOCK_BYTES)?;
    let mut block = arena.allocate(BLOCK_BYTES)?;
    label.encode(&mut block);
    let block = block.freeze();
    let copies: WriteBuffers = [block.clone(), block].into_iter().collect();
    disk.write("writing the label", 0, copies).await?;
    disk.flush().await
}

async fn read_label(disk: &Rc<Disk>) -> Result<Label, PageError> {
    let capacity_bytes = disk.shape().capacity_bytes;
    if capacity_bytes < LABELS_BYTES {
        return Err(PageError::NotAStore { found: "it is smaller than a label" });
    }
    let arena = Arena::new(BLOCK_BYTES)?;
    let mut first_error = None;
    for offset_bytes in [0, BLOCK_BYTES as u64] {
        let block = disk.read("reading the label", offset_bytes, arena.allocate(BLOCK_BYTES)?).await;
        match block.and_then(|block| Label::decode(&block)) {
            Ok(label) => return Ok(label),
            Err(error) => _ = first_error.get_or_insert(error),
        }
    }
    Err(first_error.unwrap_or(PageError::NotAStore { found: "it is empty" }))
}
