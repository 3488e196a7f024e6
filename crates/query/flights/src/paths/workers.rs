//! Counting by several threads: each decodes every so-manieth row group, and counts in memory of its own.
//!
//! ```text
//! owner ─► steps, shared out ─┬─► decode, count ─┐
//!                             └─► decode, count ─┴─► counters that are full, to be emptied, and at the end all of them
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use nandle_columns::{CodeDecoder, ColumnsError, ScanPlan, StepBytes, StepData, StreamedBytes};
use nandle_reads::StepStream;

use super::domain::Domain;
use super::metered::{MeteredBytes, Spans};
use super::tables::Tables;
use super::{CubeError, ThreadClock};
use crate::{CodeBatch, CountError, KeySpace, MemoryCounter};

/// What the threads have in common.
pub(super) struct Work {
    pub(super) plan: ScanPlan,
    pub(super) space: Arc<KeySpace>,
    pub(super) domains: Vec<Domain>,
    pub(super) clock: ThreadClock,
}

/// What a thread says.
pub(super) enum Told {
    /// Memory is used up. The counter is waited for, with room.
    Full { counter: MemoryCounter, emptied: SyncSender<MemoryCounter> },
    /// All rows are counted, in so much processor time each step.
    Done(Done),
}

/// What a thread has when it ends.
pub(super) struct Done {
    /// The thread's number: by it results are in the same order in each run.
    pub(super) part: usize,
    pub(super) counter: MemoryCounter,
    pub(super) spans: Spans,
}

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
        let (tell, told) = channel();
        let parts = counters.len();
        let (mut senders, mut handles) = (Vec::with_capacity(parts), Vec::with_capacity(parts + 1));
        for (part, counter) in counters.into_iter().enumerate() {
            let (sender, steps) = channel();
            senders.push(sender);
            let (work, tell) = (Arc::clone(work), tell.clone());
            handles.push(std::thread::spawn(move || {
                let done = count(&work, (part, parts), SentSteps(steps), counter, &tell);
                // Nobody listens when the cube was given up.
                let _ = tell.send(done.map(Told::Done));
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

struct SentSteps(Receiver<StepData>);

impl StepBytes for SentSteps {
    fn next_step(&mut self) -> Result<Option<StepData>, ColumnsError> {
        Ok(self.0.recv().ok())
    }
}

fn count(
    work: &Work,
    (part, parts): (usize, usize),
    steps: SentSteps,
    mut counter: MemoryCounter,
    tell: &Sender<Result<Told, CubeError>>,
) -> Result<Done, CubeError> {
    let mut bytes = MeteredBytes::new(steps, work.clock);
    let mut decoder = CodeDecoder::of_part(&work.plan, part, parts);
    let mut tables = Tables::new(&work.space, &work.domains);
    while let Some(batch) = decoder.next(&mut bytes)? {
        let columns = tables.columns(batch.columns)?;
        let batch = CodeBatch::new(&work.space, &columns)?;
        let mut from = counter.try_push(&batch, 0);
        while from < batch.rows() {
            counter = emptied(counter, tell)?;
            from = counter.try_push(&batch, from);
        }
    }
    Ok(Done { part, counter, spans: bytes.finish() })
}

/// Has a counter emptied by the thread that has temporary space.
fn emptied(
    counter: MemoryCounter,
    tell: &Sender<Result<Told, CubeError>>,
) -> Result<MemoryCounter, CubeError> {
    let (emptied, waiting) = sync_channel(1);
    let sent = tell.send(Ok(Told::Full { counter, emptied }));
    let counter = sent.ok().and_then(|()| waiting.recv().ok());
    Ok(counter.ok_or(CountError::Thread)?)
}
