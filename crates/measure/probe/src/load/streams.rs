//! Several independent request streams on one lane, each with its own schedule. Latencies are
//! recorded per stream, for example for readers and writers.

use nandle_io::{Completion, Nanos, Wait};

use super::open_loop::Schedule;
use super::operations::Operations;
use super::outstanding::{Outstanding, same_time_count};
use super::{Cancel, Lane, Latencies, LoadError, Measurement, OpenLoop, ScheduleLag, Work};

/// Stream of scheduled requests.
pub struct OpenStream {
    /// Schedule of the requests.
    pub schedule: OpenLoop,
    /// Work of the requests.
    pub work: Work,
}

/// Result of one stream.
#[derive(Debug, Clone)]
pub struct StreamMeasurement {
    /// Measured requests. `elapsed` is the same for all streams of a run and ends with the last
    /// completion of any.
    pub measurement: Measurement,
    /// Deviation from the schedule.
    pub lag: ScheduleLag,
}

/// Runs streams concurrently and returns their results in order.
///
/// # Errors
/// See [`ClosedLoop::run`](super::ClosedLoop::run), for any stream.
pub fn run_streams(
    lane: &mut Lane,
    streams: Vec<OpenStream>,
    cancel: &Cancel,
) -> Result<Vec<StreamMeasurement>, LoadError> {
    let wanted = streams.iter().map(|stream| stream.schedule.queue_depth.max(1));
    let queue_depth = wanted.fold(0, u32::saturating_add);
    lane.check_idle(queue_depth)?;
    Run::new(lane, streams)?.drive(cancel)
}

struct Run<'lane> {
    lane: &'lane mut Lane,
    streams: Vec<Stream>,
    began: Nanos,
    cpu_began: Nanos,
}

struct Stream {
    operations: Operations,
    outstanding: Outstanding,
    schedule: Schedule,
    measurement: Measurement,
    lag_ns: Latencies,
    ends: Nanos,
}

/// Distance between the first tokens of two streams: the upper half of a token is the stream's
/// number.
const TOKENS_OF_STREAM: u64 = 1 << 32;

impl<'lane> Run<'lane> {
    fn new(lane: &'lane mut Lane, streams: Vec<OpenStream>) -> Result<Self, LoadError> {
        let prepare = |stream: OpenStream| {
            let queue_depth = stream.schedule.queue_depth.max(1);
            let operations = Operations::new(stream.work, &lane.device, &lane.arena, queue_depth)?;
            Ok((stream.schedule, operations, queue_depth))
        };
        let mut prepared = streams.into_iter().map(prepare).collect::<Result<Vec<_>, LoadError>>()?;
        let mut all: Vec<&mut Operations> =
            prepared.iter_mut().map(|(_, operations, _)| operations).collect();
        lane.spread_reads(&mut all)?;
        lane.wait_for_start()?;
        let (began, cpu_began) = (lane.io.now(), lane.io.cpu_time());
        let started =
            |(number, (schedule, operations, queue_depth)): (u64, (OpenLoop, Operations, u32))| Stream {
                operations,
                outstanding: Outstanding::with_tokens_from(number * TOKENS_OF_STREAM, began, queue_depth),
                schedule: Schedule::new(&schedule, began),
                measurement: Measurement::new(),
                lag_ns: Latencies::new(),
                ends: began + schedule.time,
            };
        let streams = (0..).zip(prepared).map(started).collect();
        Ok(Self { lane, streams, began, cpu_began })
    }

    fn drive(mut self, cancel: &Cancel) -> Result<Vec<StreamMeasurement>, LoadError> {
        let mut completions = Vec::new();
        loop {
            let now = self.lane.io.now();
            let cancelled = cancel.is_cancelled();
            for stream in self.streams.iter_mut().filter(|stream| !cancelled && now < stream.ends) {
                stream.send_due(self.lane, now);
            }
            let over = |stream: &Stream| cancelled || now >= stream.ends;
            if self.streams.iter().all(|stream| over(stream) && stream.outstanding.count() == 0) {
                break;
            }
            let wait = self.next_wait(now, cancelled);
            self.lane.io.reap(wait, &mut completions);
            self.complete_all(&mut completions)?;
        }
        if cancel.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        self.conclude()
    }

    /// Sleeps until shortly before the next arrival, then polls, because a timer would be late.
    fn next_wait(&self, now: Nanos, cancelled: bool) -> Wait {
        let sending = self.streams.iter().filter(|stream| !cancelled && stream.is_sending(now));
        let Some(next) = sending.map(|stream| stream.schedule.due().min(stream.ends)).min() else {
            return Wait::until_completed(1);
        };
        let slack = self.lane.io.timer_slack();
        if slack == Nanos::ZERO || next.since(now) > slack {
            Wait::until_time(next - slack)
        } else {
            Wait::NONE
        }
    }

    fn complete_all(&mut self, completions: &mut Vec<Completion>) -> Result<(), LoadError> {
        let now = self.lane.io.now();
        for (number, stream) in (0..).zip(&mut self.streams) {
            let is_its = |completion: &mut Completion| completion.token / TOKENS_OF_STREAM == number;
            stream.complete_all(completions.extract_if(.., is_its).collect(), self.began);
            stream.outstanding.check(now, self.lane.patience)?;
        }
        Ok(())
    }

    fn conclude(self) -> Result<Vec<StreamMeasurement>, LoadError> {
        let elapsed = self.lane.io.now().since(self.began);
        let cpu = self.lane.io.cpu_time().since(self.cpu_began);
        self.streams.into_iter().map(|stream| stream.conclude(elapsed, cpu)).collect()
    }
}

impl Stream {
    /// Returns true if the stream can still submit arrivals. A full queue waits for completions
    /// instead.
    fn is_sending(&self, now: Nanos) -> bool {
        now < self.ends && !self.outstanding.is_full()
    }

    /// Submits all arrivals that are due.
    fn send_due(&mut self, lane: &mut Lane, now: Nanos) {
        self.outstanding.pass(now);
        while self.schedule.due() <= now && !self.outstanding.is_full() {
            let due = self.schedule.due();
            let Some(operation) = self.operations.next() else { return };
            let (io, device) = (lane.io.as_mut(), lane.device.id);
            if let Err(operation) = self.outstanding.submit(io, device, due, operation) {
                self.operations.recycle(operation);
                return;
            }
            self.lag_ns.record(now.since(due).0);
            self.schedule.advance();
        }
    }

    fn complete_all(&mut self, mut completions: Vec<Completion>, began: Nanos) {
        while let Some(first) = completions.first() {
            let (at, count) = (first.completed_at, same_time_count(&completions));
            self.outstanding.completed(at, u32::try_from(count).unwrap_or(u32::MAX));
            for completion in completions.drain(..count) {
                self.complete(completion, began);
            }
        }
    }

    fn complete(&mut self, completion: Completion, began: Nanos) {
        let info = self.outstanding.take(completion.token);
        let due = info.map_or(completion.submitted_at, |info| info.due);
        self.measurement.cpu_requests += 1;
        if completion.result.is_err() {
            self.measurement.count_failure(&completion);
        } else if self.operations.is_damaged(&completion.operation) {
            self.measurement.count_damage(&completion);
        } else {
            self.measurement.count(began, due, completion.completed_at, self.operations.block_bytes());
        }
        self.operations.recycle(completion.operation);
    }

    fn conclude(mut self, elapsed: Nanos, cpu: Nanos) -> Result<StreamMeasurement, LoadError> {
        self.measurement.elapsed = elapsed;
        self.measurement.cpu = cpu;
        self.measurement.outstanding_ns = self.outstanding.area_ns();
        let lag = ScheduleLag { lag_ns: self.lag_ns.summary(), unsent: self.schedule.left_before(self.ends) };
        Ok(StreamMeasurement { measurement: self.measurement.unless_all_failed()?, lag })
    }
}
