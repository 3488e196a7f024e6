//! Reads of a running partition.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, Time};
use futures_util::stream::StreamExt as _;
use nandle_columns::Place;
use nandle_reads::{FileId, Outstanding, OwnedStep, ReadCounts, ReadsError, StepStream, Want};
use tokio::sync::Mutex;

use super::pieces::Piece;
use super::processor::damaged_column;
use super::pruner::Pruner;
use super::share::Share;
use super::stoppers::Stoppers;
use crate::table::TableFiles;
use crate::{EngineError, Needs};

/// Metric of the time with outstanding requests; overlapping partitions count once.
pub(crate) const DEVICE_TIME: &str = "device_time";

/// Counters of a partition's actual reads.
#[derive(Debug)]
struct Counters {
    requests: Count,
    read_bytes: Count,
    wanted_bytes: Count,
    row_groups_dropped: Count,
    unplanned: Count,
    unplanned_bytes: Count,
    waited: Time,
    device: Time,
}

impl Counters {
    fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let count = |name: &'static str| MetricBuilder::new(metrics).counter(name, partition);
        Self {
            requests: count("requests"),
            read_bytes: count("read_bytes"),
            wanted_bytes: count("wanted_bytes"),
            row_groups_dropped: count("row_groups_dropped"),
            unplanned: count("unplanned"),
            unplanned_bytes: count("unplanned_bytes"),
            waited: MetricBuilder::new(metrics).subset_time("waited_for_reads", partition),
            device: MetricBuilder::new(metrics).subset_time(DEVICE_TIME, partition),
        }
    }
}

/// Reads of a partition. They start with the first request for bytes, and stop on drop.
#[derive(Debug)]
pub(crate) struct PartitionReads {
    share: Arc<Share>,
    files: Arc<TableFiles>,
    pool: Arc<dyn MemoryPool>,
    needs: Option<Arc<Needs>>,
    pruner: StdMutex<Pruner>,
    stoppers: Arc<Stoppers>,
    counters: Counters,
    /// Times of outstanding requests of all partitions.
    outstanding: Arc<StdMutex<Outstanding>>,
    running: Mutex<Option<Running>>,
    /// Last requested piece.
    current: AtomicUsize,
}

#[derive(Debug)]
struct Running {
    stream: StepStream,
    /// Next step of the stream, and number of steps.
    next_step: u32,
    steps: u32,
    counted: ReadCounts,
    _memory: MemoryReservation,
}

/// Byte ranges in memory, in planned order.
type Held = Vec<(Range<u64>, Bytes)>;

impl PartitionReads {
    pub(crate) fn new(
        share: Arc<Share>,
        files: Arc<TableFiles>,
        pool: Arc<dyn MemoryPool>,
        outstanding: Arc<StdMutex<Outstanding>>,
        pruner: Pruner,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
    ) -> Self {
        let counters = Counters::new(metrics, partition);
        let (running, current) = (Mutex::new(None), AtomicUsize::new(usize::MAX));
        let pruner = StdMutex::new(pruner);
        Self {
            share,
            files,
            pool,
            needs: None,
            pruner,
            stoppers: Arc::default(),
            counters,
            outstanding,
            running,
            current,
        }
    }

    /// Records the reads.
    pub(crate) fn noted_in(self, needs: Option<Arc<Needs>>) -> Self {
        Self { needs, ..self }
    }

    /// Registers the reads to be stopped.
    pub(crate) fn stopped_by(self, stoppers: Arc<Stoppers>) -> Self {
        Self { stoppers, ..self }
    }

    fn took(&self, wants: impl Iterator<Item = Want>) {
        if let Some(needs) = &self.needs {
            needs.took(&self.files, wants);
        }
    }

    /// Current piece of the decoder.
    pub(crate) fn place(&self) -> Place {
        let current = self.current.load(Ordering::Relaxed);
        self.share.pieces.get(current).map(|piece| piece.place.clone()).unwrap_or_default()
    }

    /// Current piece with the column that can't be decoded.
    pub(crate) fn damaged_place(&self) -> Place {
        let piece = self.share.pieces.get(self.current.load(Ordering::Relaxed));
        let column = piece.and_then(|piece| damaged_column(&self.files, piece));
        Place { column, ..self.place() }
    }

    /// Reads bytes of a piece; fails if its file has changed since planning.
    pub(crate) async fn read(&self, number: usize, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, EngineError> {
        let read = self.read_piece(number, ranges).await;
        // If the file has changed, report that instead of the error.
        if let Some(piece) = self.share.pieces.get(number) {
            self.files.check_unchanged(piece.number)?;
        }
        read
    }

    /// Returns planned bytes, and reads unplanned ones urgently.
    async fn read_piece(&self, number: usize, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, EngineError> {
        let timer = self.counters.waited.timer();
        self.current.store(number, Ordering::Relaxed);
        let mut running = self.running.lock().await;
        let running = match running.as_mut() {
            Some(running) => {
                for steps in self.ruled_out(number + 1) {
                    running.stream.skip_steps(steps);
                }
                running
            }
            None => running.insert(self.begin(number)?),
        };
        let (Some(piece), Some(steps)) = (self.share.pieces.get(number), self.share.steps.get(number)) else {
            unreachable!("piece {number} is one of this partition")
        };
        let took = |step: &OwnedStep| self.took(step.parts().map(|(want, _)| *want));
        let held = running.take(piece, steps, &took).await.map_err(|error| self.files.named(error))?;
        let mut bytes = Vec::with_capacity(ranges.len());
        for range in ranges {
            bytes.push(match found(&held, range) {
                Some(bytes) => bytes,
                None => self.read_urgently(running, piece, range).await?,
            });
        }
        self.count(running);
        timer.done();
        Ok(bytes)
    }

    /// Steps of pieces from `first` on that dynamic filters exclude.
    fn ruled_out(&self, first: usize) -> Vec<Range<u32>> {
        let mut pruner = self.pruner.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = pruner.ruled_out(first, &self.share);
        self.counters.row_groups_dropped.add(steps.len());
        steps
    }

    fn begin(&self, first: usize) -> Result<Running, EngineError> {
        let memory =
            MemoryConsumer::new(format!("planned reads of {}", self.place().file)).register(&self.pool);
        let bytes = usize::try_from(self.share.memory_bytes()).unwrap_or(usize::MAX);
        memory.try_grow(bytes)?;
        let (read, plan) = (Arc::clone(&self.files.read), Arc::clone(&self.share.plan));
        let (steps, copies_bytes) = (plan.steps(), self.share.copies_bytes);
        // The source has skipped the earlier pieces.
        let skipped = self.share.steps.get(..first).unwrap_or_default().iter().cloned();
        let skipped = skipped.chain(self.ruled_out(first + 1)).collect();
        let stream = self.files.owner.scan_without(read, plan, copies_bytes, skipped);
        self.stoppers.add(stream.stopper())?;
        Ok(Running { stream, next_step: 0, steps, counted: ReadCounts::default(), _memory: memory })
    }

    async fn read_urgently(
        &self,
        running: &Running,
        piece: &Piece,
        range: &Range<u64>,
    ) -> Result<Bytes, EngineError> {
        let length_bytes = range.end - range.start;
        self.counters.unplanned.add(1);
        self.counters.unplanned_bytes.add(usize::try_from(length_bytes).unwrap_or(usize::MAX));
        let file = FileId(u32::try_from(piece.number).unwrap_or(u32::MAX));
        self.took(std::iter::once(Want { file, offset_bytes: range.start, length_bytes, step: 0 }));
        let read = running.stream.ask_urgently(file, range.start, length_bytes).await;
        read.map(Bytes::from).map_err(|error| self.files.named(error))
    }

    fn count(&self, running: &mut Running) {
        let counts = running.stream.counts();
        let more = |count: &Count, now: u64, before: u64| {
            count.add(usize::try_from(now - before).unwrap_or(usize::MAX));
        };
        more(&self.counters.requests, counts.requests, running.counted.requests);
        more(&self.counters.read_bytes, counts.read_bytes, running.counted.read_bytes);
        more(&self.counters.wanted_bytes, counts.wanted_bytes, running.counted.wanted_bytes);
        running.counted = counts;
        let mut outstanding = self.outstanding.lock().unwrap_or_else(PoisonError::into_inner);
        let before = outstanding.total();
        outstanding.merge(running.stream.take_outstanding());
        self.counters.device.add_duration(Duration::from_nanos(outstanding.total().since(before).0));
    }
}

impl Running {
    /// Takes the steps of a piece. Earlier steps belong to pieces that the engine skipped. A piece
    /// that was taken before has no steps left.
    async fn take(
        &mut self,
        piece: &Piece,
        steps: &Range<u32>,
        took: &(dyn Fn(&OwnedStep) + Sync),
    ) -> Result<Held, ReadsError> {
        let mut held = Assembly::new(piece);
        while self.next_step < steps.end {
            let Some(step) = self.stream.next().await.transpose()? else {
                let why = format!("step {} of the scan was to come, and none came", self.next_step);
                return Err(ReadsError::OwnerGone { why });
            };
            self.next_step = step.number() + 1;
            took(&step);
            if steps.contains(&step.number()) {
                held.add(&step);
            }
        }
        if self.next_step == self.steps {
            // The end of the stream brings its last counts.
            let end = self.stream.next().await.transpose()?;
            assert!(end.is_none(), "the last step was handed out");
            self.next_step = u32::MAX;
        }
        Ok(held.stretches)
    }
}

/// Copies the bytes of steps and joins ranges that were cut to fit the memory. The decoder must not
/// receive the steps' own memory: rows may refer to it for as long as the query keeps them, and
/// steps need it back.
struct Assembly<'a> {
    expected: std::slice::Iter<'a, Range<u64>>,
    /// Incomplete range.
    open: Option<(Range<u64>, Vec<u8>)>,
    stretches: Held,
}

impl<'a> Assembly<'a> {
    fn new(piece: &'a Piece) -> Self {
        Self { expected: piece.ranges.iter(), open: None, stretches: Vec::with_capacity(piece.ranges.len()) }
    }

    fn add(&mut self, step: &OwnedStep) {
        for (want, bytes) in step.parts() {
            let next = || {
                let range = self.expected.find(|range| !range.is_empty());
                let range = range.unwrap_or_else(|| unreachable!("a step has no more than its piece wants"));
                let length = usize::try_from(range.end - range.start).unwrap_or_default();
                (range.clone(), Vec::with_capacity(length))
            };
            let (range, mut copied) = self.open.take().unwrap_or_else(next);
            copied.extend_from_slice(bytes);
            if want.end_bytes() == range.end {
                self.stretches.push((range, Bytes::from(copied)));
            } else {
                self.open = Some((range, copied));
            }
        }
    }
}

/// Finds a range within those held.
fn found(held: &Held, range: &Range<u64>) -> Option<Bytes> {
    if range.is_empty() {
        return Some(Bytes::new());
    }
    let (whole, bytes) =
        held.iter().find(|(whole, _)| whole.start <= range.start && range.end <= whole.end)?;
    let at = |bytes: u64| usize::try_from(bytes - whole.start).ok();
    Some(bytes.slice(at(range.start)?..at(range.end)?))
}
