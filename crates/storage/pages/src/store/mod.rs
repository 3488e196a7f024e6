mod checks;
mod facts;
mod grow;
mod header;
mod memory_of_many;
mod one_state;
mod read_many;
mod stopped;
mod verify;

use std::rc::Rc;

use nandle_io::runtime::Handle;
use nandle_io::{Arena, Buffer, BufferMut, DeviceId};

use self::grow::Growth;
use self::one_state::StateWatch;
use crate::defects::Defect;
use crate::disk::Disk;
use crate::home::{Home, Place};
use crate::identity;
use crate::label::{Copies, Label};
use crate::memory::memory_of;
use crate::policy::{self, Parts, Policy};
use crate::queue::Queue;
use crate::{
    Batch, BatchNumber, CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind, Promises, Stats,
};

/// A page store on a device of a runtime's world.
///
/// - What [`commit`](Store::commit) acknowledged, and what [`write`](Store::write) accepted before a
///   [`sync`](Store::sync) was acknowledged, survives any power cut, as far as the [media](crate) keep what they
///   promise. What the policy says of batches that were not acknowledged is in its [`Promises`].
/// - Batches take effect in the order of the calls, also of calls that are under way at the same time; a call begins when its
///   future is polled first.
/// - When a write or a flush fails, the store stops ([`PageError::Latched`]): every call is refused, reads too, until it was
///   opened again.
/// - A future of a call may be dropped at any time. A change that was accepted by then stays accepted, as a whole; one that
///   wasn't never happens. Reading one of its pages tells which (under `direct` and `auto` each page for itself, and some
///   time later).
/// - A page that was never written reads as whatever the device held, and one that was
///   [discarded](Batch::discard) as anything that it ever held.
///
/// Dropped without [`close`](Store::close) it behaves as after a power cut: nothing acknowledged is lost. But only `close`
/// waits for what goes on in the background, so only then may it be opened again in the same runtime.
///
/// On a device in memory; a modelled drive, a file or an array goes in its place:
///
/// ```
/// use nandle_io::runtime::Runtime;
/// use nandle_io::{Io, Nanos, conformance::MemoryWorld};
/// use nandle_pages::{Batch, CreateOptions, OpenOptions, PageNumber, PolicyKind, Store};
///
/// let mut world = MemoryWorld::new(32, Nanos::from_micros(50));
/// let device = world.add(16 << 20, 4096);
/// let runtime = Runtime::new(Box::new(world));
/// let handle = runtime.handle();
/// runtime.block_on(async move {
///     let options = CreateOptions::new(PolicyKind::StableBuffer, 4096, 1000).with_buffer_bytes(1 << 20);
///     let store = Store::create(&handle, device.id, &options, OpenOptions::default()).await?;
///     let mut batch = Batch::new();
///     for number in [7, 3, 900] {
///         let mut page = store.buffer()?;
///         page.fill(number as u8);
///         batch.put(PageNumber(number), page.freeze());
///     }
///     store.commit(batch).await?; // all three, or none of them, survive a power cut from here on
///     assert_eq!(store.read(PageNumber(3)).await?[0], 3);
///     store.close().await
/// })?;
/// # Ok::<(), nandle_pages::PageError>(())
/// ```
pub struct Store {
    home: Rc<Home>,
    policy: Rc<dyn Policy>,
    arena: Arena,
    /// Whose batch is being accepted.
    accepting: Queue,
    state_watch: StateWatch,
    /// As they were when it was opened, and which copy is to be written next.
    labels: Copies,
    growing: Growth,
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
        Self::create_after(handle, device, create, open, BatchNumber::NONE).await
    }

    /// Makes a new store whose batches have greater numbers than `last`.
    pub(crate) async fn create_after(
        handle: &Handle,
        device: DeviceId,
        create: &CreateOptions,
        open: OpenOptions,
        last: BatchNumber,
    ) -> Result<Self, PageError> {
        let disk = Disk::new(handle, device, open.read_only)?;
        open.check(create.page_bytes as u64)?;
        let (ledger_bytes, area_bytes) = policy::areas(create)?;
        let label = Label::plan(create, ledger_bytes, area_bytes)?;
        label.check_fits(disk.shape().capacity_bytes)?;
        let label = Label { id: identity::choose(&disk, label.end_bytes(), create.id).await?, ..label };
        write_store(&disk, label, create, last).await.map_err(PageError::of_opening)?;
        Self::open(handle, device, open).await
    }

    /// Opens the store on a device, and recovers what a power cut left.
    ///
    /// # Errors
    /// There is no store, one of a later format, or a damaged one; one of an earlier format is opened
    /// [to read only](OpenOptions::read_only); or the device fails.
    pub async fn open(handle: &Handle, device: DeviceId, options: OpenOptions) -> Result<Self, PageError> {
        Self::open_with(handle, device, options, Arena::new(options.memory_bytes)?).await
    }

    /// The same with memory for clients that is there already.
    pub(crate) async fn open_with(
        handle: &Handle,
        device: DeviceId,
        options: OpenOptions,
        arena: Arena,
    ) -> Result<Self, PageError> {
        let disk = Disk::new(handle, device, options.read_only)?;
        let labels = Copies::read(&disk).await?;
        labels.label.check_fits(disk.shape().capacity_bytes)?;
        options.check(labels.label.page_bytes)?;
        if !options.read_only {
            labels.label.check_writable()?;
            labels.renew(&disk).await?;
        }
        let home = Home::new(&disk, &labels.label);
        let parts = Parts { home: Rc::clone(&home), options, arena: Arena::new(options.memory_bytes)? };
        Ok(Self {
            home,
            policy: policy::open(parts)
                .await
                .map_err(|error| labels.label.outer_error(error.of_opening()))?
                .into(),
            arena,
            accepting: Queue::default(),
            state_watch: StateWatch::default(),
            labels,
            growing: Growth::default(),
        })
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

    /// The last batch that was durable when the store was opened: all batches up to this number are there, and no other. It is
    /// no less than the number of any commit that had returned. Of a store that is opened to read only it is the last batch that it
    /// shows. Always [`NONE`](BatchNumber::NONE) under a policy without [atomic batches](Promises::atomic_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        self.policy.opened_batch()
    }

    /// How many pages it has.
    pub fn pages(&self) -> u64 {
        self.home.pages() - self.home.label().hidden_pages()
    }

    /// The most changes that a batch may have: more than 1 000 pages of 4 KiB where the store was made with
    /// [default options](CreateOptions::largest_batch). With a staging area it grows with its size (`buffer_bytes`), with
    /// `out-of-place` with that of its zones (`alignment_bytes`) and their number (`spare_percent`).
    pub fn largest_batch(&self) -> usize {
        self.policy.largest_batch()
    }

    /// Memory for one page, of the store's own arena, or mapped for itself where all of that is in use. Its contents are whatever
    /// was there before.
    ///
    /// # Errors
    /// The system has no memory left.
    pub fn buffer(&self) -> Result<BufferMut, PageError> {
        Ok(memory_of(&self.arena, self.page_bytes())?)
    }

    /// Reads a page. Sees every batch whose `write` or `commit` has returned.
    ///
    /// # Errors
    /// The store has [stopped](PageError::Latched): what was accepted and not acknowledged may be gone when it is opened again. Or
    /// the page is beyond the end, the device fails, or what it returns isn't what was written last: always where the store
    /// [checks its pages](Promises::checks_pages), else as far as the page was written since the store was opened.
    pub async fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        self.read_with(page, self.buffer()?).await
    }

    /// The same with memory from elsewhere, if it takes any.
    pub(crate) async fn read_with(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        self.read_inner(self.inner(page)?, into).await
    }

    /// Reads a page of the store, that of the header, too.
    async fn read_inner(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        self.home.disk().check_running()?;
        debug_assert_eq!(into.len(), self.page_bytes(), "memory for {page}");
        self.home.disk().count(|stats| stats.pages_read += 1);
        let read = self.policy.read(page, into).await;
        let contents = read.map_err(|error| self.outer_error(error))?;
        debug_assert_eq!(contents.len(), self.page_bytes(), "contents of {page}");
        Ok(contents)
    }

    /// See [`Policy::locate`]; of a page by its number in the store.
    pub(crate) fn locate(&self, page: PageNumber) -> Option<Place> {
        let place = self.policy.locate(page);
        debug_assert!(
            place.is_none_or(|place| (1..=self.page_bytes()).contains(&(place.stored_bytes as usize))),
            "{page} is said to be longer than a page, or nothing: {place:?}"
        );
        place
    }

    /// Pages, by their numbers in the store, of which something is known: where they are, if they aren't at home, or what they hold.
    pub(crate) fn known(&self) -> Vec<PageNumber> {
        let known = self.policy.known();
        debug_assert!(known.is_sorted_by(|one, next| one < next), "known pages ascend, each of them once");
        debug_assert!(
            known.last().is_none_or(|last| last.0 < self.home.pages()),
            "{known:?} of {}",
            self.pages()
        );
        known
    }

    /// Lets so many groups of commits be on their way at once, and as many flushes at the device.
    pub(crate) fn share_commits(&self, groups: usize) {
        self.home.disk().set_flush_depth(groups);
        self.policy.share_commits(groups);
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
    pub async fn write(&self, mut batch: Batch) -> Result<(), PageError> {
        self.check_batch(&batch)?;
        self.write_apart(&mut batch).await?;
        self.home.disk().count(|stats| stats.pages_written += batch.len() as u64);
        let batch = self.inner_batch(batch)?;
        let written = if self.policy.keeps_order() {
            self.policy.write(batch).await
        } else {
            // One that finds room must not overtake one that waits for some.
            let _mine = self.accepting.enter().await;
            let _accepting = self.state_watch.accept(&batch);
            self.policy.write(batch).await
        };
        written.map_err(|error| self.outer_error(error))
    }

    /// Makes everything durable that was accepted before, and returns the number of the last batch of it.
    ///
    /// # Errors
    /// The device fails: then the store stops.
    pub async fn sync(&self) -> Result<BatchNumber, PageError> {
        self.home.disk().check_writable()?;
        self.policy.sync().await.map_err(|error| self.outer_error(error))
    }

    /// Makes a batch durable, together with all that was accepted before, and returns its number: greater than that of any batch
    /// whose commit had returned before this call. An empty batch has the number of the last one before it.
    ///
    /// # Errors
    /// As for [`write`](Store::write) and [`sync`](Store::sync). After an error the batch may still survive a power
    /// cut.
    pub async fn commit(&self, batch: Batch) -> Result<BatchNumber, PageError> {
        if !self.policy.keeps_order() {
            self.write(batch).await?;
            return self.sync().await;
        }
        self.check_batch(&batch)?;
        self.home.disk().count(|stats| stats.pages_written += batch.len() as u64);
        let batch = self.inner_batch(batch)?;
        self.policy.commit(batch).await.map_err(|error| self.outer_error(error))
    }

    /// Brings every page to its own place, durably.
    ///
    /// # Errors
    /// A staged page can't be read back: the others are in their places, and this one is an error until it is written again. Or the
    /// device fails: then the store stops.
    pub async fn checkpoint(&self) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        self.policy.checkpoint().await.map_err(|error| self.outer_error(error))
    }

    /// What it did since it was opened.
    pub fn stats(&self) -> Stats {
        let mut stats = self.home.disk().counts();
        self.policy.stats(&mut stats);
        stats
    }

    /// Makes everything durable that was accepted, waits for what goes on in the background, and ends. What is staged
    /// stays there for the next opening, if there is room for a directory of it; [`checkpoint`](Store::checkpoint) first destages
    /// it.
    ///
    /// # Errors
    /// The device fails.
    pub async fn close(self) -> Result<(), PageError> {
        let synced = self.sync().await;
        self.policy.stop();
        self.policy.stopped().await;
        match synced {
            Ok(_) => self.policy.close().await,
            Err(PageError::ReadOnly) => Ok(()),
            Err(error) => Err(error),
        }
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

async fn write_store(
    disk: &Rc<Disk>,
    label: Label,
    create: &CreateOptions,
    last: BatchNumber,
) -> Result<(), PageError> {
    policy::format(disk, &label, create, last).await?;
    header::format(disk, &label).await?;
    if !Defect::LabelFirst.is_seeded() {
        disk.flush().await?;
    }
    Copies::create(disk, label).await
}
