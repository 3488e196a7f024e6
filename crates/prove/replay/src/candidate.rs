use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use nandle_io::runtime::{Handle, Runtime};
use nandle_io::{Device, DeviceId, DriveCounters, Io, Nanos};
use nandle_pages::{CreateOptions, OpenOptions, PageError, PageNumber, PolicyKind, Stats, Store};
use serde::{Deserialize, Serialize};

use crate::batches::{batch, batch_pages, discard, pieces};
use crate::contents::Contents;
use crate::cursor::Cursor;
use crate::fill::{fill, since};
use crate::outcome::{InstanceCounts, PolicyOutcome, Run, Sample};
use crate::times::Times;
use crate::versions::Versions;
use crate::work::{Step, Work};
use crate::{ReplayError, Watcher};

/// Interval at which long operations check for cancellation.
const RECHECK_INTERVAL: Nanos = Nanos::from_millis(100);
/// Significant decimal digits of latencies.
const LATENCY_DIGITS: u8 = 3;
/// Bytes of the number and version of a page to verify.
const EXPECTED_BYTES: u64 = size_of::<(u64, u32)>() as u64;
/// Pages read back concurrently.
const VERIFY_DEPTH: usize = 32;

/// Point at which a write must be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Before the same client's next write.
    Each,
    /// At the trace's syncs.
    Trace,
    /// At the end.
    None,
}

/// Options of a candidate.
#[derive(Debug, Clone, Copy)]
pub struct CandidateOptions {
    /// Concurrent writes, one per client.
    pub queue_depth: u32,
    /// Point at which a write must be durable.
    pub durability: Durability,
    /// Options of the store.
    pub open: OpenOptions,
    /// Share of each page that compresses to almost nothing, in percent. The rest is noise.
    pub compressible_percent: u8,
}

impl CandidateOptions {
    fn contents(&self) -> Contents {
        Contents { compressible_percent: self.compressible_percent }
    }
}

/// A store under test on its own device.
pub struct Candidate {
    runtime: Runtime,
    store: Rc<Store>,
    cursor: Rc<Cursor>,
    tally: Rc<RefCell<Tally>>,
    work: Rc<Work>,
    options: CandidateOptions,
    buffer_bytes: u64,
    /// Maximum pages of a batch.
    batch_pages: u32,
    device: DeviceId,
    /// Drive counters at the start of the work.
    counted: Option<DriveCounters>,
    /// Store statistics at the start of the work.
    done_before: Stats,
    elapsed: Nanos,
    checkpoint: Nanos,
    samples: Vec<Sample>,
}

/// Counters shared by the client tasks.
struct Tally {
    latencies: Times,
    syncs: Times,
    /// True if anything was written since the last sync. A sync with nothing to make durable isn't
    /// measured.
    has_unsynced: bool,
    writes: u64,
    /// Writes of the trace that took more than one batch.
    split_writes: u64,
}

impl Tally {
    fn new() -> Self {
        Self {
            latencies: Times::to_digits(LATENCY_DIGITS),
            syncs: Times::to_digits(LATENCY_DIGITS),
            has_unsynced: false,
            writes: 0,
            split_writes: 0,
        }
    }
}

impl Candidate {
    /// Memory of a candidate besides its pages, in bytes: the store's index, the version of each
    /// page, and the list of pages to verify. It grows with the address range of the work, not with
    /// the number of pages written.
    pub fn index_bytes(create: &CreateOptions, work: &Work) -> u64 {
        let verified = work.pages_held_max().saturating_mul(EXPECTED_BYTES);
        create.index_bytes().saturating_add(Versions::most_bytes(work.pages)).saturating_add(verified)
    }

    /// Creates a store in its own world.
    ///
    /// # Errors
    /// The store can't be created.
    pub fn new(
        io: Box<dyn Io>,
        device: &Device,
        create: &CreateOptions,
        work: &Rc<Work>,
        options: CandidateOptions,
    ) -> Result<Self, ReplayError> {
        let runtime = Runtime::new(io);
        let handle = runtime.handle();
        let made = runtime.block_on(Store::create(&handle, device.id, create, options.open));
        let store = made.map_err(failed(create.policy, "making the store"))?;
        Ok(Self {
            batch_pages: batch_pages(&store, options),
            store: Rc::new(store),
            cursor: Rc::new(Cursor::new(work)),
            tally: Rc::new(RefCell::new(Tally::new())),
            work: Rc::clone(work),
            options,
            buffer_bytes: if create.policy.has_staging_area() { create.buffer_bytes } else { 0 },
            device: device.id,
            counted: handle.counters(device.id),
            done_before: Stats::default(),
            elapsed: Nanos::ZERO,
            checkpoint: Nanos::ZERO,
            samples: Vec::new(),
            runtime,
        })
    }

    /// Policy of the store.
    pub fn policy(&self) -> PolicyKind {
        self.store.policy()
    }

    /// Share of the work that is done.
    pub fn share(&self) -> f64 {
        self.tally.borrow().writes as f64 / self.work.all_page_writes() as f64
    }

    /// Ends stretches early once `stop` returns true. On a slow drive with durable writes, a
    /// stretch takes long.
    pub fn stop_when(&self, stop: impl Fn() -> bool + 'static) {
        self.cursor.stop_when(stop);
    }

    /// Writes the initial contents, which no figure includes. A store under `auto` is then
    /// reopened, so that it forgets what it learned from sequential filling.
    ///
    /// # Errors
    ///
    /// The store failed, or the `stop` of [`stop_when`](Candidate::stop_when) returned true.
    pub fn fill(mut self) -> Result<Self, ReplayError> {
        let pages = self.work.filled_pages();
        if pages > 0 {
            let (store, cursor) = (Rc::clone(&self.store), Rc::clone(&self.cursor));
            let filled = fill(store, cursor, self.options.contents(), pages, self.batch_pages);
            let handle = self.runtime.handle();
            let filled = self.runtime.block_on(self.unless_stopped(&handle, filled));
            filled.ok_or(ReplayError::Cancelled)?.map_err(failed(self.policy(), "filling the store"))?;
            if self.cursor.is_stopped() {
                return Err(ReplayError::Cancelled);
            }
            if self.policy() == PolicyKind::Auto {
                self.store = reopen(&self.runtime, self.store, self.device, self.options.open)?;
            }
            self.counted = handle.counters(self.device);
            self.done_before = self.store.stats();
        }
        Ok(self)
    }

    /// Statistics of the store since the first step.
    fn stats(&self) -> Stats {
        since(self.store.stats(), &self.done_before)
    }

    /// Performs the next `steps` steps. Returns false if none are left.
    ///
    /// # Errors
    /// The store failed.
    pub fn run_stretch(&mut self, steps: usize) -> Result<bool, ReplayError> {
        if !self.cursor.open_stretch(steps) {
            return Ok(false);
        }
        let handle = self.runtime.handle();
        let began = handle.now();
        let clients: Vec<_> =
            (0..self.options.queue_depth).map(|_| handle.spawn(self.client(&handle))).collect();
        let worked = self.runtime.block_on(async {
            for client in clients {
                client.await?;
            }
            Ok(())
        });
        self.elapsed += handle.now() - began;
        worked.map_err(failed(self.policy(), "replaying"))?;
        self.sample();
        Ok(true)
    }

    /// Writes all pages back. The time counts as part of the work.
    ///
    /// # Errors
    ///
    /// The store failed, or the `stop` of [`stop_when`](Candidate::stop_when) returned true.
    pub fn checkpoint(&mut self) -> Result<(), ReplayError> {
        let handle = self.runtime.handle();
        let began = handle.now();
        let done = self.runtime.block_on(self.unless_stopped(&handle, self.store.checkpoint()));
        self.checkpoint = handle.now() - began;
        self.elapsed += self.checkpoint;
        done.ok_or(ReplayError::Cancelled)?.map_err(failed(self.policy(), "the final checkpoint"))?;
        self.sample();
        Ok(())
    }

    /// Returns the result of `work`, or `None` if cancelled first: a slow drive may have minutes of
    /// work left.
    async fn unless_stopped<T>(&self, handle: &Handle, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        let mut recheck = pin!(handle.sleep(RECHECK_INTERVAL));
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            while recheck.as_mut().poll(context).is_ready() {
                if self.cursor.is_stopped() {
                    return Poll::Ready(None);
                }
                recheck.set(handle.sleep(RECHECK_INTERVAL));
            }
            Poll::Pending
        })
        .await
    }

    /// Reads every written page back, and ends the replay.
    ///
    /// # Errors
    ///
    /// A page can't be read, or doesn't hold its last contents; or the watcher cancelled the
    /// replay.
    pub fn finish(self, verify: bool, watcher: &mut dyn Watcher) -> Result<PolicyOutcome, ReplayError> {
        // Reading back isn't part of the figures.
        let stats = self.stats();
        let counters = self.runtime.handle().counters(self.device);
        let verified_pages = if verify { self.verify(watcher)? } else { 0 };
        let tally = self.tally.borrow();
        let run = Run {
            policy: self.policy(),
            promises: self.store.promises(),
            buffer_bytes: self.buffer_bytes,
            page_bytes: self.store.page_bytes() as u64,
            writes: tally.writes,
            batch_pages: self.batch_pages,
            split_writes: tally.split_writes,
            elapsed_ns: self.elapsed.0,
            checkpoint_ns: self.checkpoint.0,
            drive: counters.zip(self.counted).map(|(now, then)| now.since(then)),
            verified_pages,
            samples: self.samples,
        };
        Ok(PolicyOutcome::new(run, [&tally.latencies, &tally.syncs], &stats))
    }

    /// A client that performs steps one by one until the stretch ends.
    fn client(&self, handle: &Handle) -> impl Future<Output = Result<(), PageError>> + use<> {
        let (store, cursor, tally) =
            (Rc::clone(&self.store), Rc::clone(&self.cursor), Rc::clone(&self.tally));
        let (handle, durability) = (handle.clone(), self.options.durability);
        let (contents, batch_pages) = (self.options.contents(), self.batch_pages);
        async move {
            while let Some(step) = cursor.take() {
                let began = handle.now();
                match step {
                    Step::Sync if durability == Durability::Trace => {
                        let counts = std::mem::take(&mut tally.borrow_mut().has_unsynced);
                        store.sync().await?;
                        if counts {
                            tally.borrow_mut().syncs.add((handle.now() - began).0);
                        }
                    }
                    Step::Sync => {}
                    Step::Discard { page, pages } => {
                        for (page, pages) in pieces(page, pages, batch_pages) {
                            store.write(discard(&cursor, page, pages)).await?;
                        }
                    }
                    Step::Write { page, pages } => {
                        for (page, pages) in pieces(page, pages, batch_pages) {
                            let batch = batch(&store, &cursor, contents, page, pages)?;
                            match durability {
                                Durability::Each => store.commit(batch).await.map(drop)?,
                                Durability::Trace | Durability::None => store.write(batch).await?,
                            }
                        }
                        let mut tally = tally.borrow_mut();
                        tally.has_unsynced = true;
                        tally.latencies.add((handle.now() - began).0);
                        tally.writes += u64::from(pages);
                        tally.split_writes += u64::from(pages > batch_pages);
                    }
                }
            }
            Ok(())
        }
    }

    fn sample(&mut self) {
        let stats = self.stats();
        self.samples.push(Sample {
            elapsed_ns: self.elapsed.0,
            writes: self.tally.borrow().writes,
            staged_pages: stats.staged_pages,
            pages_straight: stats.pages_straight,
            device_written_bytes: stats.device_written_bytes,
            instances: InstanceCounts::of(&stats),
        });
    }

    fn verify(&self, watcher: &mut dyn Watcher) -> Result<u64, ReplayError> {
        let expected = self.cursor.expected();
        let (policy, contents) = (self.policy(), self.options.contents());
        for part in expected.chunks(VERIFY_DEPTH) {
            if watcher.is_cancelled() {
                return Err(ReplayError::Cancelled);
            }
            let handle = self.runtime.handle();
            let reads: Vec<_> = part
                .iter()
                .map(|&(page, version)| {
                    let store = Rc::clone(&self.store);
                    handle.spawn(async move {
                        let bytes = store.read(PageNumber(page)).await?;
                        Ok((page, contents.holds(&bytes, page, version)))
                    })
                })
                .collect();
            for read in reads {
                let (page, holds) = self.runtime.block_on(read).map_err(failed(policy, "reading back"))?;
                if !holds {
                    return Err(ReplayError::Lost { policy, page });
                }
            }
        }
        Ok(expected.len() as u64)
    }
}

/// Closes and reopens a store that nothing else uses.
fn reopen(
    runtime: &Runtime,
    store: Rc<Store>,
    device: DeviceId,
    options: OpenOptions,
) -> Result<Rc<Store>, ReplayError> {
    let policy = store.policy();
    let store = Rc::into_inner(store);
    debug_assert!(store.is_some(), "whatever has filled the store has ended");
    let handle = runtime.handle();
    let opened = runtime.block_on(async {
        if let Some(store) = store {
            store.close().await?;
        }
        Store::open(&handle, device, options).await
    });
    Ok(Rc::new(opened.map_err(failed(policy, "opening the filled store"))?))
}

fn failed(policy: PolicyKind, action: &'static str) -> impl Fn(PageError) -> ReplayError {
    move |source| ReplayError::Store { policy, action, source: Box::new(source) }
}
