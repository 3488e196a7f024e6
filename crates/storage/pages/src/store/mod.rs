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
/// - Batches acknowledged by [`commit`](Store::commit), and those accepted by
///   [`write`](Store::write) before an acknowledged [`sync`](Store::sync), survive any power cut if
///   the [media](crate) keep their promises. The policy's [`Promises`] cover unacknowledged
///   batches.
/// - Batches take effect in the order of their calls, even concurrent ones. A call begins when its
///   future is first polled.
/// - After a failed write or flush the store stops ([`PageError::Latched`]): every call fails,
///   reads included, until it is reopened.
/// - A call's future may be dropped at any time. An accepted change stays accepted as a whole; any
///   other never happens. Reading one of its pages shows which (under `direct` and `auto` for that
///   page alone, and some time later).
/// - A page never written reads as the device's contents, and a [discarded](Batch::discard) page as
///   anything that it ever held.
///
/// Dropping a store without [`close`](Store::close) has the effect of a power cut: nothing
/// acknowledged is lost. Only `close` waits for background tasks, so only a closed store may be
/// reopened in the same runtime.
///
/// An example on a device in memory, which may be replaced by a modelled drive, a file or an array:
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
    /// Order of the batches being accepted.
    accepting: Queue,
    state_watch: StateWatch,
    /// Copies of the label at the time of the opening, with the one to write next.
    labels: Copies,
    growing: Growth,
}

impl Store {
    /// Creates a store on a device, and overwrites its contents.
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

    /// Creates a store whose batch numbers start after `last`.
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

    /// Opens the store on a device, and recovers it after a power cut.
    ///
    /// # Errors
    /// The device holds no store, one of a later format, or a damaged one; one of an earlier format
    /// isn't opened [read-only](OpenOptions::read_only); or the device fails.
    pub async fn open(handle: &Handle, device: DeviceId, options: OpenOptions) -> Result<Self, PageError> {
        Self::open_with(handle, device, options, Arena::new(options.memory_bytes)?).await
    }

    /// Opens a store with existing memory for clients.
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

    /// Write policy.
    pub fn policy(&self) -> PolicyKind {
        self.home.label().policy
    }

    /// Guarantees of the policy.
    pub fn promises(&self) -> Promises {
        let promises = self.policy().promises();
        // The store may lack checksums.
        let checks_pages = promises.checks_pages && self.home.label().checks_pages();
        Promises { checks_pages, ..promises }
    }

    /// Length of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.home.label().page_length()
    }

    /// Last batch that was durable when the store was opened: all batches up to this number are
    /// present, and no others. At least the number of any commit that had returned. In a read-only
    /// store it is the last visible batch. Always [`NONE`](BatchNumber::NONE) under a policy
    /// without [atomic batches](Promises::atomic_batch).
    pub fn last_durable_batch(&self) -> BatchNumber {
        self.policy.opened_batch()
    }

    /// Number of pages.
    pub fn pages(&self) -> u64 {
        self.home.pages() - self.home.label().hidden_pages()
    }

    /// Maximum number of changes in a batch: more than 1 000 pages of 4 KiB with [default
    /// options](CreateOptions::largest_batch). It grows with the staging area (`buffer_bytes`), or
    /// under `out-of-place` with the length (`alignment_bytes`) and number (`spare_percent`) of the
    /// zones.
    pub fn largest_batch(&self) -> usize {
        self.policy.largest_batch()
    }

    /// Memory for one page, from the store's arena, or allocated separately if that is full.
    /// Contents are unspecified.
    ///
    /// # Errors
    /// No memory is available.
    pub fn buffer(&self) -> Result<BufferMut, PageError> {
        Ok(memory_of(&self.arena, self.page_bytes())?)
    }

    /// Reads a page. Sees every batch whose `write` or `commit` has returned.
    ///
    /// # Errors
    /// The store has [stopped](PageError::Latched), as unacknowledged batches may vanish on
    /// reopening. Or the page is beyond the end, the device fails, or the contents aren't those of
    /// the last write. The latter is always detected if the store [checks its
    /// pages](Promises::checks_pages), otherwise only for pages written since the opening.
    pub async fn read(&self, page: PageNumber) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        self.read_with(page, self.buffer()?).await
    }

    /// Reads a page into the given memory, if any is needed.
    pub(crate) async fn read_with(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        self.check_page(page)?;
        self.read_inner(self.inner(page)?, into).await
    }

    /// Reads a page by its inner number, including the header's.
    async fn read_inner(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        self.home.disk().check_running()?;
        debug_assert_eq!(into.len(), self.page_bytes(), "memory for {page}");
        self.home.disk().count(|stats| stats.pages_read += 1);
        let read = self.policy.read(page, into).await;
        let contents = read.map_err(|error| self.outer_error(error))?;
        debug_assert_eq!(contents.len(), self.page_bytes(), "contents of {page}");
        Ok(contents)
    }

    /// See [`Policy::locate`]; takes an inner page number.
    pub(crate) fn locate(&self, page: PageNumber) -> Option<Place> {
        let place = self.policy.locate(page);
        debug_assert!(
            place.is_none_or(|place| (1..=self.page_bytes()).contains(&(place.stored_bytes as usize))),
            "{page} is said to be longer than a page, or nothing: {place:?}"
        );
        place
    }

    /// Inner numbers of pages with known contents or places other than home.
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

    /// Limits the commit groups and the flushes in flight.
    pub(crate) fn share_commits(&self, groups: usize) {
        self.home.disk().set_flush_depth(groups);
        self.policy.share_commits(groups);
    }

    /// Returns true if concurrent batches take effect in order without serialisation by the store.
    pub(crate) fn keeps_order(&self) -> bool {
        self.policy.keeps_order()
    }

    /// Accepts a batch, which later reads see. A later [`sync`](Store::sync) or
    /// [`commit`](Store::commit) makes it durable.
    ///
    /// # Errors
    /// A change doesn't fit the store, the batch is too large, or the store has stopped.
    pub async fn write(&self, mut batch: Batch) -> Result<(), PageError> {
        self.check_batch(&batch)?;
        self.write_apart(&mut batch).await?;
        self.home.disk().count(|stats| stats.pages_written += batch.len() as u64);
        let batch = self.inner_batch(batch)?;
        let written = if self.policy.keeps_order() {
            self.policy.write(batch).await
        } else {
            // A batch must not overtake an earlier batch that waits for room.
            let _mine = self.accepting.enter().await;
            let _accepting = self.state_watch.accept(&batch);
            self.policy.write(batch).await
        };
        written.map_err(|error| self.outer_error(error))
    }

    /// Makes everything accepted so far durable. Returns the number of the last batch.
    ///
    /// # Errors
    /// The device fails, which stops the store.
    pub async fn sync(&self) -> Result<BatchNumber, PageError> {
        self.home.disk().check_writable()?;
        self.policy.sync().await.map_err(|error| self.outer_error(error))
    }

    /// Commits a batch durably, together with everything accepted so far. Returns its number,
    /// greater than that of any batch whose commit had returned before this call. An empty batch
    /// has the number of the previous one.
    ///
    /// # Errors
    /// As for [`write`](Store::write) and [`sync`](Store::sync). After an error the batch may still
    /// survive a power cut.
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

    /// Writes every page to its home place, durably.
    ///
    /// # Errors
    /// A staged page can't be read back; all others are home, and reads of this one fail until it
    /// is rewritten. Or the device fails, which stops the store.
    pub async fn checkpoint(&self) -> Result<(), PageError> {
        self.home.disk().check_writable()?;
        self.policy.checkpoint().await.map_err(|error| self.outer_error(error))
    }

    /// Statistics since the opening.
    pub fn stats(&self) -> Stats {
        let mut stats = self.home.disk().counts();
        self.policy.stats(&mut stats);
        stats
    }

    /// Makes everything accepted durable, waits for background tasks, and closes the store. Staged
    /// pages stay staged if there is room for a directory of them;
    /// [`checkpoint`](Store::checkpoint) destages them first.
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
