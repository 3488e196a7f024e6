use nandle_io::{Completion, Device, Heartbeat, Io, IoError, Nanos, Request, Wait};
use nandle_trace::{Operation, Record, TraceError, ZoneTranslator};
use slab::Slab;

use super::memory::{PIECE_BYTES_MAX, RequestMemory};
use super::outcome::{CompletionTimes, PlaySummary};
use super::read_ahead::ReadAhead;
use super::requests::{Extent, Piece};
use super::timing::Schedule;
use super::{AddressMap, PlayError, Timing};

/// Interval at which an unlimited wait checks for cancellation.
const LOOK_AROUND: Nanos = Nanos::from_millis(100);
/// Minimum time before the next request for reading ahead.
const SPARE_TIME: Nanos = Nanos::from_millis(1);
/// Completions between two progress reports.
const STRIDE: u64 = 1024;

/// Options of a play.
#[derive(Debug, Clone)]
pub struct PlayOptions {
    /// Timing of requests.
    pub timing: Timing,
    /// Maximum requests in flight; further requests that are due are held.
    pub queue_depth: u32,
    /// Mapping of addresses.
    pub places: AddressMap,
    /// Time without any completion after which the device is given up.
    pub patience: Nanos,
    /// Memory for reads, in bytes; reads that don't fit are held.
    pub read_bytes: u64,
}

/// Receives progress, and may cancel the play.
pub trait PlayWatcher {
    /// Reports the number of completed requests.
    fn progress(&mut self, requests: u64);

    /// Returns true to cancel the play.
    fn is_cancelled(&self) -> bool;

    /// Reports a completed request.
    fn completed(&mut self, request: &CompletedRequest) {
        let _ = request;
    }
}

/// A completed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedRequest {
    /// Record of the trace.
    pub record: Record,
    /// Time since the request was due.
    pub response: Nanos,
    /// Time since the request was sent.
    pub service: Nanos,
    /// True if the request failed.
    pub has_failed: bool,
}

/// Plays the requests of a trace on a device, in memory independent of their number. Failed
/// requests are counted, and the others continue.
///
/// # Errors
///
/// The trace can't be read, memory is short, the device stopped or fails every request, or the
/// watcher cancelled the play.
pub fn play(
    io: &mut dyn Io,
    device: &Device,
    records: impl Iterator<Item = Result<Record, TraceError>>,
    options: &PlayOptions,
    watcher: &mut dyn PlayWatcher,
) -> Result<PlaySummary, PlayError> {
    let memory = RequestMemory::new(options.read_bytes)?;
    // Without a heartbeat, only a stalled device is detected late.
    let _heartbeat = io.waker().and_then(|waker| Heartbeat::start(waker, LOOK_AROUND).ok());
    let began = io.now();
    let player = Player {
        in_flight_max: options.timing.in_flight_max(options.queue_depth).max(1) as usize,
        piece_bytes: device.shape.largest_transfer_bytes.min(PIECE_BYTES_MAX),
        io,
        device,
        options,
        records: ReadAhead::new(ZoneTranslator::over(records)),
        schedule: Schedule::new(options.timing, began),
        memory,
        head: None,
        flights: Slab::new(),
        ended: false,
        held_until: None,
        last_completed: began,
        last_progress: began,
        played: PlaySummary::new(),
    };
    player.drive(began, watcher)
}

struct Player<'a, I> {
    io: &'a mut dyn Io,
    device: &'a Device,
    options: &'a PlayOptions,
    in_flight_max: usize,
    piece_bytes: u64,
    records: ReadAhead<I>,
    schedule: Schedule,
    memory: RequestMemory,
    /// Next request; part of it may have been sent.
    head: Option<Head>,
    flights: Slab<Flight>,
    /// True if no more requests are taken from the trace.
    ended: bool,
    /// Last time at which a due request found no room.
    held_until: Option<Nanos>,
    last_completed: Nanos,
    /// Time of the last completion, or of the first submission to an idle device.
    last_progress: Nanos,
    played: PlaySummary,
}

struct Head {
    record: Record,
    due: Nanos,
    extent: Extent,
    /// Key among the flights, once a part of the request is in flight.
    key: Option<usize>,
    pieces: u32,
}

/// A request that has been sent at least in part.
struct Flight {
    record: Record,
    due: Nanos,
    sent: Nanos,
    completed: Nanos,
    pieces: u32,
    is_whole: bool,
    failure: Option<IoError>,
}

impl<I: Iterator<Item = Result<Record, TraceError>>> Player<'_, I> {
    fn drive(mut self, began: Nanos, watcher: &mut dyn PlayWatcher) -> Result<PlaySummary, PlayError> {
        let mut completions = Vec::new();
        let mut is_cancelled = false;
        loop {
            if !is_cancelled && watcher.is_cancelled() {
                (is_cancelled, self.ended) = (true, true);
                self.give_up_head();
            }
            while self.has_due()? && self.send_head() {}
            if self.flights.is_empty() && self.head.is_none() && self.ended {
                break;
            }
            let wait = self.next_wait()?;
            self.io.reap(wait, &mut completions);
            self.check_patience(completions.is_empty())?;
            for completion in completions.drain(..) {
                self.complete(completion, watcher);
            }
        }
        if is_cancelled {
            return Err(PlayError::Cancelled);
        }
        self.played.elapsed = self.last_completed.since(began);
        if let (0, Some(first_error)) = (self.played.requests(), &self.played.first_error) {
            return Err(PlayError::AllFailed {
                failed: self.played.failed(),
                first_error: first_error.clone(),
            });
        }
        Ok(self.played)
    }

    /// Returns true if a request is due and the queue has room for it.
    fn has_due(&mut self) -> Result<bool, PlayError> {
        let is_full = self.flights.len() >= self.in_flight_max;
        if self.head.is_none() {
            // Without a schedule, the next due time depends on a completion.
            if self.ended || is_full && !self.options.timing.is_open_loop() {
                return Ok(false);
            }
            let Some(record) = self.records.next()? else {
                self.ended = true;
                return Ok(false);
            };
            let due = self.schedule.due(&record, self.io.now(), self.last_completed);
            let extent = Extent::of(&record, &self.options.places);
            self.head = Some(Head { record, due, extent, key: None, pieces: 0 });
        }
        let Some(head) = &self.head else { return Ok(false) };
        let now = self.io.now();
        if head.due > now {
            return Ok(false);
        }
        if is_full && head.key.is_none() {
            self.held_until = Some(now);
            return Ok(false);
        }
        Ok(true)
    }

    /// Sends the rest of the next request. Returns false if there is no room for all of it.
    fn send_head(&mut self) -> bool {
        let Some(mut head) = self.head.take() else { return false };
        let is_sync = head.record.operation == Operation::Sync;
        let is_refused = head.record.operation == Operation::Discard && !self.device.shape.discards;
        let mut piece =
            if is_sync { Some(Piece { offset_bytes: 0, length_bytes: 0 }) } else { self.piece_of(&head) };
        if is_refused || piece.is_none() {
            self.played.passed_over += 1;
            return true;
        }
        while let Some(next) = piece {
            if !self.send_piece(&mut head, next) {
                self.held_until = Some(self.io.now());
                self.head = Some(head);
                return false;
            }
            head.extent.sent(next);
            piece = if is_sync { None } else { self.piece_of(&head) };
        }
        self.note_whole(&head);
        true
    }

    fn piece_of(&self, head: &Head) -> Option<Piece> {
        // A discard transfers no data, so its length is unlimited.
        let most_bytes =
            if head.record.operation == Operation::Discard { u64::MAX } else { self.piece_bytes };
        head.extent.piece(&self.options.places, most_bytes)
    }

    /// Sends one operation. Returns false if there is no memory or no slot for it.
    fn send_piece(&mut self, head: &mut Head, piece: Piece) -> bool {
        let Some(operation) = self.memory.operation(head.record.operation, piece) else { return false };
        let now = self.io.now();
        let was_idle = self.io.in_flight() == 0;
        let key = head.key.unwrap_or(self.flights.vacant_key());
        let request = Request { token: key as u64, operation };
        if self.io.submit(self.device.id, request).is_err() {
            return false;
        }
        if was_idle {
            self.last_progress = now;
        }
        if head.key.is_none() {
            if matches!(self.options.timing, Timing::Closed { .. }) {
                // A closed-loop request is due when it can be sent.
                head.due = now;
            }
            head.key = Some(self.flights.insert(Flight::new(head, now)));
            self.played.sent(now.since(head.due), self.held_until.is_some_and(|until| head.due <= until));
        }
        if let Some(flight) = self.flights.get_mut(key) {
            flight.pieces += 1;
        }
        head.pieces += 1;
        true
    }

    /// Records that all of a request was sent.
    fn note_whole(&mut self, head: &Head) {
        self.played.cut += u64::from(head.pieces > 1);
        self.played.widened += u64::from(head.extent.is_widened);
        self.played.folded += u64::from(head.extent.is_folded);
        if let Some(flight) = head.key.and_then(|key| self.flights.get_mut(key)) {
            debug_assert!(flight.pieces > 0, "the last piece is still in flight");
            flight.is_whole = true;
        }
    }

    /// Drops the rest of the next request.
    fn give_up_head(&mut self) {
        let Some(key) = self.head.take().and_then(|head| head.key) else { return };
        if self.flights.get(key).is_some_and(|flight| flight.pieces == 0) {
            self.flights.remove(key);
        } else if let Some(flight) = self.flights.get_mut(key) {
            flight.is_whole = true;
        }
    }

    /// Returns a wait until shortly before the next due time, then polls: a timer would be late.
    fn next_wait(&mut self) -> Result<Wait, PlayError> {
        let due = self.head.as_ref().map(|head| head.due).filter(|due| *due > self.io.now());
        let Some(due) = due else { return Ok(Wait::until_completed(1)) };
        while due.since(self.io.now()) > SPARE_TIME && self.records.read_some()? {}
        let slack = self.io.timer_slack();
        let is_far = slack == Nanos::ZERO || due.since(self.io.now()) > slack;
        Ok(if is_far { Wait::until_time(due - slack) } else { Wait::NONE })
    }

    fn check_patience(&self, is_silent: bool) -> Result<(), PlayError> {
        let silent = self.io.now().since(self.last_progress);
        if !is_silent || self.io.in_flight() == 0 || silent < self.options.patience {
            return Ok(());
        }
        let oldest = self.flights.iter().map(|(_, flight)| flight).min_by_key(|flight| flight.sent);
        let (operation, address) =
            oldest.map_or(("request", 0), |oldest| (oldest.record.operation.name(), oldest.record.address));
        Err(PlayError::Stalled { silent, in_flight: self.flights.len(), operation, address })
    }

    fn complete(&mut self, completion: Completion, watcher: &mut dyn PlayWatcher) {
        self.last_completed = self.last_completed.max(completion.completed_at);
        self.last_progress = self.last_progress.max(completion.completed_at);
        let Ok(key) = usize::try_from(completion.token) else { return };
        let Some(flight) = self.flights.get_mut(key) else { return };
        flight.pieces -= 1;
        flight.completed = flight.completed.max(completion.completed_at);
        if let Err(error) = completion.result {
            flight.failure.get_or_insert(error);
        }
        if flight.pieces == 0 && flight.is_whole {
            let flight = self.flights.remove(key);
            self.finish(&flight, watcher);
        }
    }

    fn finish(&mut self, flight: &Flight, watcher: &mut dyn PlayWatcher) {
        let Flight { record, due, sent, completed, failure, .. } = flight;
        debug_assert!(due <= sent && sent <= completed, "a request is due, sent and completed in this order");
        let (due, sent, completed) = (*due, *sent, *completed);
        self.played.add(&CompletionTimes { record, due, sent, completed, failure: failure.as_ref() });
        let (response, service) = (completed.since(due), completed.since(sent));
        let has_failed = failure.is_some();
        watcher.completed(&CompletedRequest { record: *record, response, service, has_failed });
        let done = self.played.requests() + self.played.failed();
        if done.is_multiple_of(STRIDE) {
            watcher.progress(done);
        }
    }
}

impl Flight {
    fn new(head: &Head, now: Nanos) -> Self {
        let Head { record, due, .. } = *head;
        Self { record, due, sent: now, completed: now, pieces: 0, is_whole: false, failure: None }
    }
}
