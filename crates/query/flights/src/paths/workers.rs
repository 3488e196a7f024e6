//! Counting by several threads: each decodes every so-manieth row group, and counts in memory of its own.
//!
//! ```text
//! owner ─► steps, shared out ─┬─► decode, count ─┐
//!                             └─► decode, count ─┴─► groups that are complete, counters that are full, and at the end all counters
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

/// So many batches of groups may wait to be taken.
const BATCHES_WAITING: usize = 8;

/// What the threads have in common.
pub(super) struct Work {
    pub(super) plan: ScanPlan,
    pub(super) space: Arc<KeySpace>,
    pub(super) domains: Vec<Domain>,
    /// Where rows are counted value by value.
    pub(super) values: Option<Arc<Values>>,
    pub(super) clock: ThreadClock,
}

/// What a thread says.
pub(super) enum Told {
    /// Groups that no later row adds to.
    Groups(RecordBatch),
    /// Memory is used up. The counter is waited for, with room.
    Full { counter: MemoryCounter, emptied: SyncSender<MemoryCounter> },
    /// All rows are counted, in so much processor time each step.
    Done(Done),
}

/// What a thread has when it ends.
pub(super) struct Done {
    /// The thread's number: by it what is counted with the rest is in the same order in each run.
    pub(super) part: usize,
    pub(super) counted: Counted,
    pub(super) spans: Spans,
}

/// Where a thread's results go.
pub(super) struct Outlet(SyncSender<Result<Told, CubeError>>);

/// The threads. They end when this is dropped.
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
                // Nobody listens when the cube was given up.
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

    /// What the next thread says; none after all are done.
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
        // Who waits for an emptied counter waits no more.
        self.told = None;
        for handle in self.handles.drain(..) {
            let _ = handle.join();
        }
    }
}

/// Hands each step to the thread that has its row group. How much waits there is bounded by the memory of the stream's copies.
fn share_out(
    plan: &ScanPlan,
    stream: StepStream,
    senders: &[Sender<StepData>],
    is_over: &AtomicBool,
) -> Result<(), ColumnsError> {
    let mut bytes = StreamedBytes::new(plan, stream);
    while let Some(step) = bytes.next_step()? {
        let sender = plan.part_of(step.step, senders.len()).and_then(|part| senders.get(part));
        // A thread that has ended has failed, and said so.
        if is_over.load(Ordering::Relaxed) || sender.is_none_or(|sender| sender.send(step).is_err()) {
            break;
        }
    }
    Ok(())
}

/// Steps as they are sent. It outlives the thread's work, so that no other thread misses this one before it has said why it ended.
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

    /// Has a counter emptied by the thread that has temporary space.
    pub(super) fn emptied(&self, counter: MemoryCounter) -> Result<MemoryCounter, CubeError> {
        let (emptied, waiting) = sync_channel(1);
        let sent = self.0.send(Ok(Told::Full { counter, emptied }));
        let counter = sent.ok().and_then(|()| waiting.recv().ok());
        Ok(counter.ok_or(CountError::Thread)?)
    }
}
