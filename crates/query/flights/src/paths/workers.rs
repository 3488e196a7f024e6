//! Parallel counting: threads decode row groups round-robin, and count in memory of their own.
//!
//! ```text
//! owner ─► steps, distributed ─┬─► decode, count ─┐
//!                              └─► decode, count ─┴─► complete groups, full counters,
//!                                                     and at the end all counters
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use arrow_array::RecordBatch;
use nandle_columns::{CodeDecoder, ColumnsError, ScanPlan, StepBytes, StepData, StreamedBytes};
use nandle_reads::StepStream;

use super::domain::Domain;
use super::metered::{MeteredBytes, Spans};
use super::part::{Counted, Part};
use super::tables::Tables;
use super::{CubeError, ThreadClock};
use crate::count::Values;
use crate::{CodeBatch, CountError, KeySpace, MemoryCounter};

/// Maximum batches of groups waiting to be taken.
const BATCHES_WAITING: usize = 8;

/// State shared by the threads.
pub(super) struct Work {
    pub(super) plan: ScanPlan,
    pub(super) space: Arc<KeySpace>,
    pub(super) domains: Vec<Domain>,
    /// Values, if rows are counted by values.
    pub(super) values: Option<Arc<Values>>,
    pub(super) clock: ThreadClock,
}

/// Message of a thread.
pub(super) enum Told {
    /// Groups without further rows.
    Groups(RecordBatch),
    /// The memory is full; the thread waits for the emptied counter.
    Full { counter: MemoryCounter, emptied: SyncSender<MemoryCounter> },
    /// All rows are counted, with the processor time of each step.
    Done(Done),
}

/// Final state of a thread.
pub(super) struct Done {
    /// Number of the thread, which makes the order of the rest deterministic.
    pub(super) part: usize,
    pub(super) counted: Counted,
    pub(super) spans: Spans,
}

/// Channel for a thread's results.
pub(super) struct Outlet(SyncSender<Result<Told, CubeError>>);

/// Counting threads. They end on drop.
pub(super) struct Workers {
    told: Option<Receiver<Result<Told, CubeError>>>,
    at_work: usize,
    is_over: Arc<AtomicBool>,
    handles: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts a thread for each counter.
    pub(super) fn start(work: &Arc<Work>, stream: StepStream, counters: Vec<MemoryCounter>) -> Self {
        let (tell, told) = sync_channel(BATCHES_WAITING);
        let parts = counters.len();
        let (mut senders, mut handles) = (Vec::with_capacity(parts), Vec::with_capacity(parts + 1));
        for (part, counter) in counters.into_iter().enumerate() {
            let (sender, steps) = channel();
            senders.push(sender);
            let (work, outlet) = (Arc::clone(work), Outlet(tell.clone()));
            handles.push(std::thread::spawn(move || {
                let mut steps = SentSteps(steps);
                let done = count(&work, (part, parts), &mut steps, counter, &outlet);
                // The receiver is gone if the cube was cancelled.
                let _ = outlet.0.send(done.map(Told::Done));
            }));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let (work, ends) = (Arc::clone(work), Arc::clone(&is_over));
        handles.push(std::thread::spawn(move || {
            if let Err(error) = share_out(&work.plan, stream, &senders, &ends) {
                let _ = tell.send(Err(error.into()));
            }
        }));
        Self { told: Some(told), at_work: parts, is_over, handles }
    }

    /// Returns the next message; `None` after all threads are done.
    pub(super) fn next(&mut self) -> Result<Option<Told>, CubeError> {
        if self.at_work == 0 {
            return Ok(None);
        }
        let told = self.told.as_ref().and_then(|told| told.recv().ok());
        let told = told.ok_or(CountError::Thread)??;
        self.at_work -= usize::from(matches!(told, Told::Done(_)));
        Ok(Some(told))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes threads that wait for an emptied counter.
        self.told = None;
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}

/// Sends each step to the thread of its row group. The memory of the stream's copies limits the
/// queues.
fn share_out(
    plan: &ScanPlan,
    stream: StepStream,
    senders: &[Sender<StepData>],
    is_over: &AtomicBool,
) -> Result<(), ColumnsError> {
    let mut bytes = StreamedBytes::new(plan, stream);
    while let Some(step) = bytes.next_step()? {
        let sender = plan.part_of(step.step, senders.len()).and_then(|part| senders.get(part));
        // A thread that has ended has failed and reported it.
        if is_over.load(Ordering::Relaxed) || sender.is_none_or(|sender| sender.send(step).is_err()) {
            break;
        }
    }
    Ok(())
}

/// Received steps. Outlives the thread's work, so that its own error is reported before others
/// notice its end.
struct SentSteps(Receiver<StepData>);

impl StepBytes for &mut SentSteps {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        Ok(self.0.recv().ok())
    }
}

fn count(
    work: &Work,
    (part, parts): (usize, usize),
    steps: &mut SentSteps,
    counter: MemoryCounter,
    outlet: &Outlet,
) -> Result<Done, CubeError> {
    let mut bytes = MeteredBytes::new(steps, work.clock);
    let mut decoder = CodeDecoder::of_part(&work.plan, part, parts);
    let mut tables = Tables::new(&work.space, &work.domains);
    let mut counters = Part::new(outlet, &work.space, work.values.as_ref(), counter);
    while let Some(batch) = decoder.next(&mut bytes)? {
        let columns = tables.columns(batch.columns)?;
        counters = counters.count(batch.group, &CodeBatch::new(&work.space, &columns)?)?;
    }
    Ok(Done { part, counted: counters.finish()?, spans: bytes.finish() })
}

impl Outlet {
    /// Hands groups out.
    pub(super) fn hand_out(&self, groups: RecordBatch) -> Result<(), CubeError> {
        Ok(self.0.send(Ok(Told::Groups(groups))).map_err(|_| CountError::Thread)?)
    }

    /// Waits until the thread with temporary space has emptied a counter.
    pub(super) fn emptied(&self, counter: MemoryCounter) -> Result<MemoryCounter, CubeError> {
        let (emptied, waiting) = sync_channel(1);
        let sent = self.0.send(Ok(Told::Full { counter, emptied }));
        let counter = sent.ok().and_then(|()| waiting.recv().ok());
        Ok(counter.ok_or(CountError::Thread)?)
    }
}
