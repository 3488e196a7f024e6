use nandle_io::{Completion, DriveCounters, IoError, Nanos, Operation, Request, Wait};
use nandle_profile::experiments::{FailedRequests, WriteAmplificationSource};
use nandle_profile::{Conducted, OperationKind};

use super::host_files::Opened;
use super::{Circumstances, ExperimentEnv, HostFiles, PlannedExperiment};
use crate::Observer;
use crate::load::{
    Cancel, ClosedLoop, Lane, LaneOptions, LoadError, Measurement, OpenStream, Opener, StreamMeasurement,
    Work, run_streams,
};

/// Buffer memory of an experiment, including the write pool.
const BUFFER_BYTES: u64 = 80 << 20;

/// Workplace of one experiment: a world with the device, and budgets of time and writes.
pub struct Lab<'a> {
    /// World and device. A modelled device starts in its initial state.
    pub lane: Lane,
    /// Opens further worlds with the device.
    pub open: &'a Opener<'a>,
    /// Facts about the device and its environment.
    pub circumstances: &'a Circumstances,
    /// Seed of all random choices.
    pub seed: u64,
    /// Interrupts the experiment.
    pub cancel: &'a Cancel,
    env: &'a ExperimentEnv<'a>,
    name: &'static str,
    observer: &'a mut dyn Observer,
    /// Start time of the experiment in the current world.
    began: Nanos,
    /// Time spent in previous worlds.
    elapsed_before: Nanos,
    ends: Nanos,
    write_left_bytes: u64,
    bytes_written: u64,
    remarks: Vec<String>,
    cut_short: Option<String>,
    failed: Option<FailedRequests>,
    /// Reused buffer.
    completions: Vec<Completion>,
}

impl<'a> Lab<'a> {
    /// Opens a lab with its own world for a chosen experiment.
    ///
    /// # Errors
    /// The device can't be opened, or memory is short.
    pub fn open(
        env: &'a ExperimentEnv<'a>,
        chosen: &PlannedExperiment,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, LoadError> {
        let (io, device) = (env.open)(env.circumstances.slots).map_err(LoadError::Opening)?;
        let options = LaneOptions {
            buffer_bytes: BUFFER_BYTES,
            read_pool_bytes: env.read_pool_bytes,
            patience: env.patience,
        };
        let mut lane = Lane::new(io, device, options)?;
        let began = lane.io().now();
        Ok(Self {
            lane,
            open: env.open,
            circumstances: &env.circumstances,
            seed: env.seed,
            cancel: env.cancel,
            env,
            name: chosen.experiment.name(),
            observer,
            began,
            elapsed_before: Nanos::ZERO,
            ends: began + chosen.time,
            write_left_bytes: chosen.write_bytes_max,
            bytes_written: 0,
            remarks: Vec::new(),
            cut_short: None,
            failed: None,
            completions: Vec::new(),
        })
    }

    /// Current time.
    pub fn now(&mut self) -> Nanos {
        self.lane.io().now()
    }

    /// Time since the experiment began.
    pub fn elapsed(&mut self) -> Nanos {
        self.elapsed_before + self.now().since(self.began)
    }

    /// Remaining time.
    pub fn time_left(&mut self) -> Nanos {
        self.ends.since(self.now())
    }

    /// Bytes that may still be written.
    pub fn write_left_bytes(&self) -> u64 {
        self.write_left_bytes
    }

    /// Runs `work` without charging its time. Preparing a modelled device takes only virtual time,
    /// so no user waits for it.
    ///
    /// # Errors
    /// Any error of `work`.
    pub(super) fn untimed<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, LoadError>,
    ) -> Result<T, LoadError> {
        let began = self.now();
        let result = work(self);
        let passed = self.now().since(began);
        (self.began, self.ends) = (self.began + passed, self.ends + passed);
        result
    }

    /// Adds a remark for the reader of the figures. Duplicates are dropped.
    pub fn remark(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.remarks.contains(&sentence) {
            self.remarks.push(sentence);
        }
    }

    /// Records why the question isn't answered in full. Only the first reason is kept.
    pub fn cut_short(&mut self, reason: impl Into<String>) {
        self.cut_short.get_or_insert_with(|| reason.into());
    }

    /// Records failed requests of a run while others succeeded. Runs of the lab itself are recorded
    /// automatically.
    pub fn note_failures(&mut self, measurement: &Measurement) {
        let requests = measurement.failed + measurement.damaged;
        if let Some(first) = measurement.first_error.as_ref().filter(|_| requests > 0) {
            self.note_failed(requests, first);
        }
    }

    /// Adds failed requests. Only the first failure's message is kept.
    pub fn note_failed(&mut self, requests: u64, first: &str) {
        let none_yet = || FailedRequests { requests: 0, first_error: first.to_owned() };
        self.failed.get_or_insert_with(none_yet).requests += requests;
    }

    /// Reports the current activity. The progress follows from the time.
    pub fn report(&mut self, doing: &str) {
        let (passed, left) = (self.elapsed().0 as f64, self.time_left().0 as f64);
        let share = passed / (passed + left).max(1.0);
        self.observer.progress(&format!("{}: {doing}", self.name), share.min(1.0));
    }

    /// Runs a closed loop. Writes end at the write limit. If no writes are left, nothing runs and
    /// the result is empty.
    ///
    /// # Errors
    /// See [`ClosedLoop::run`].
    pub fn run(&mut self, mut load: ClosedLoop, work: Work) -> Result<Measurement, LoadError> {
        let (block_bytes, share) = (work.block_bytes, write_share(work.operation));
        if share > 0.0 {
            let left = self.write_left_bytes / block_bytes.max(1) * block_bytes;
            if left == 0 {
                self.out_of_writes();
                return Ok(Measurement::new());
            }
            load.stop.bytes = Some(load.stop.bytes.map_or(left, |bytes| bytes.min(left)));
        }
        let measurement = load.run(&mut self.lane, work, self.cancel)?;
        self.account(&measurement, block_bytes, share);
        Ok(measurement)
    }

    /// Runs several scheduled streams concurrently. Returns `None` without running if the write
    /// limit is too low.
    ///
    /// # Errors
    /// See [`run_streams`].
    pub fn run_streams(
        &mut self,
        streams: Vec<OpenStream>,
    ) -> Result<Option<Vec<StreamMeasurement>>, LoadError> {
        let shares: Vec<(u64, f64)> = streams
            .iter()
            .map(|stream| (stream.work.block_bytes, write_share(stream.work.operation)))
            .collect();
        let writes =
            streams.iter().zip(&shares).map(|(OpenStream { schedule, .. }, (block_bytes, share))| {
                schedule.rate_per_s * schedule.time.as_secs_f64() * *block_bytes as f64 * share
            });
        if writes.sum::<f64>() > self.write_left_bytes as f64 {
            self.out_of_writes();
            return Ok(None);
        }
        let measured = run_streams(&mut self.lane, streams, self.cancel)?;
        for (stream, (block_bytes, share)) in measured.iter().zip(shares) {
            self.account(&stream.measurement, block_bytes, share);
        }
        Ok(Some(measured))
    }

    /// Charges bytes written outside [`Lab::run`] to the write limit.
    pub fn count_written(&mut self, bytes: u64) {
        self.bytes_written += bytes;
        self.write_left_bytes = self.write_left_bytes.saturating_sub(bytes);
    }

    /// Returns true if `bytes` more may be written. Otherwise the experiment is cut short.
    pub fn may_write(&mut self, bytes: u64) -> bool {
        let may = bytes <= self.write_left_bytes;
        if !may {
            self.out_of_writes();
        }
        may
    }

    /// Charges the writes of a run and records its failures.
    fn account(&mut self, measurement: &Measurement, block_bytes: u64, share: f64) {
        self.note_failures(measurement);
        let moved = measurement.cpu_requests.saturating_mul(block_bytes) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "never negative; saturates"
        )]
        let written = (moved * share).round() as u64;
        self.count_written(written);
    }

    pub(super) fn out_of_writes(&mut self) {
        self.cut_short("the write limit was reached; give a larger --write-limit");
    }

    /// Leaves the device idle for a time.
    ///
    /// # Errors
    /// The user interrupted it.
    pub fn pause(&mut self, time: Nanos) -> Result<(), LoadError> {
        let until = self.now() + time;
        let mut none = Vec::new();
        while self.now() < until {
            if self.cancel.is_cancelled() {
                return Err(LoadError::Cancelled);
            }
            self.lane.io().reap(Wait::until_time(until), &mut none);
        }
        Ok(())
    }

    /// Executes a single operation and returns its time from submission to completion.
    ///
    /// # Errors
    /// It failed, the device stopped answering, or the user interrupted it.
    pub fn once(&mut self, operation: Operation) -> Result<Nanos, LoadError> {
        Ok(self.carry_out(operation)?.0)
    }

    /// Like [`Lab::once`], but also returns the operation with its memory.
    ///
    /// # Errors
    /// See [`Lab::once`].
    pub fn carry_out(&mut self, operation: Operation) -> Result<(Nanos, Operation), LoadError> {
        if self.cancel.is_cancelled() {
            return Err(LoadError::Cancelled);
        }
        let began = self.now();
        let (name, offset_bytes) = (operation.name(), operation.offset_bytes());
        let device = self.lane.device().id;
        let slots = self.lane.io().slots();
        let taken = self.lane.io().submit(device, Request { token: 0, operation });
        taken.map_err(|_| LoadError::TooDeep { queue_depth: 1, slots })?;
        loop {
            self.lane.io().reap(Wait::until_completed(1), &mut self.completions);
            if let Some(completion) = self.completions.pop() {
                let failed = |error: IoError| LoadError::AllFailed { requests: 1, first: error.to_string() };
                completion.result.map_err(failed)?;
                return Ok((completion.completed_at.since(completion.submitted_at), completion.operation));
            }
            let age = self.now().since(began);
            if age >= self.lane.patience {
                return Err(LoadError::Stalled {
                    silent: age,
                    outstanding: 1,
                    operation: name,
                    offset_bytes,
                    age,
                });
            }
        }
    }

    /// Flushes the device and returns the time taken.
    ///
    /// # Errors
    /// See [`Lab::once`].
    pub fn flush(&mut self) -> Result<Nanos, LoadError> {
        self.once(Operation::Flush)
    }

    /// Files and blocking calls of the host.
    pub fn host_files(&self) -> Option<&'a dyn HostFiles> {
        self.env.host_files
    }

    /// Bytes of the read pool.
    pub fn read_pool_bytes(&self) -> u64 {
        self.env.read_pool_bytes
    }

    /// Opens a lane on another device, with `buffer_bytes` of buffers.
    ///
    /// # Errors
    /// It could not be opened, or memory is short.
    pub fn lane_on(&self, opened: Opened, buffer_bytes: u64) -> Result<Lane, LoadError> {
        let (io, device) = opened.map_err(LoadError::Opening)?;
        Lane::new(io, device, LaneOptions { buffer_bytes, read_pool_bytes: 0, patience: self.env.patience })
    }

    /// Counters of the drive with their source; `None` if there are none.
    pub fn counters(&mut self) -> Option<(DriveCounters, WriteAmplificationSource)> {
        let device = self.lane.device().id;
        let modelled =
            self.lane.io().counters(device).map(|counters| (counters, WriteAmplificationSource::Model));
        modelled.or_else(|| Some(((self.env.drive_log)()?, WriteAmplificationSource::NvmeOcpLog)))
    }

    /// Opens the device with its write cache off; `None` if that would change the device's
    /// settings.
    pub fn without_cache(&self) -> Option<&'a Opener<'a>> {
        self.env.open_without_cache
    }

    /// Replaces the lane by one on another device. The time budget continues.
    ///
    /// # Errors
    /// See [`Lab::open`].
    pub fn reopen(&mut self, open: &Opener<'_>) -> Result<(), LoadError> {
        let (passed, left) = (self.elapsed(), self.time_left());
        let (io, device) = open(self.circumstances.slots).map_err(LoadError::Opening)?;
        let options = LaneOptions {
            buffer_bytes: BUFFER_BYTES,
            read_pool_bytes: self.env.read_pool_bytes,
            patience: self.env.patience,
        };
        self.lane = Lane::new(io, device, options)?;
        let now = self.now();
        self.ends = now + left;
        self.elapsed_before = passed;
        self.began = now;
        Ok(())
    }

    /// Creates the record of the experiment.
    pub(super) fn conclude<T>(mut self, findings: T, ended_by: Option<String>) -> Conducted<T> {
        let elapsed_ns = self.elapsed().0;
        let ended_by = ended_by.or(self.cut_short);
        Conducted {
            complete: ended_by.is_none() && self.failed.is_none(),
            ended_by,
            failed: self.failed,
            elapsed_ns,
            bytes_written: self.bytes_written,
            remarks: self.remarks,
            findings,
        }
    }
}

/// Share of write requests.
fn write_share(operation: OperationKind) -> f64 {
    match operation {
        OperationKind::Read => 0.0,
        OperationKind::Write => 1.0,
        OperationKind::Mixed { read_percent } => f64::from(100 - read_percent.min(100)) / 100.0,
    }
}
