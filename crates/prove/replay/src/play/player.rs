use nandle_io::{Completion, Device, Heartbeat, Io, IoError, Nanos, Request, Wait};
use nandle_trace::{Operation, Record, TraceError, Zones};
use slab::Slab;

use super::ahead::Ahead;
use super::memory::{Memory, PIECE_BYTES_MAX};
use super::outcome::{Done, Played};
use super::requests::{Extent, Piece};
use super::timing::Schedule;
use super::{Places, PlayError, Timing};

/// How often a wait without an end looks around.
const LOOK_AROUND: Nanos = Nanos::from_millis(100);
/// With less time than this until the next request, nothing is read ahead.
const SPARE_TIME: Nanos = Nanos::from_millis(1);
/// Completions between two words of progress.
const STRIDE: u64 = 1024;

/// How a trace is played.
#[derive(Debug, Clone)]
pub struct PlayOptions {
    /// When requests are sent.
    pub timing: Timing,
    /// The most requests in flight; what is due beyond them is held.
    pub queue_depth: u32,
    /// Where addresses come to lie.
    pub places: Places,
    /// A device that completes nothing for so long is given up.
    pub patience: Nanos,
    /// Memory that reads go into; what finds none is held.
    pub read_bytes: u64,
}

/// Is told what is done, and may end it.
pub trait PlayWatcher {
    /// So many requests are done.
    fn progress(&mut self, requests: u64);

    /// Whether to end.
    fn is_cancelled(&self) -> bool;

    /// A request is done.
    fn completed(&mut self, request: &PlayedRequest) {
        let _ = request;
    }
}

/// A request that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedRequest {
    /// As the trace has it.
    pub record: Record,
    /// From when it was due.
    pub response: Nanos,
    /// From when it was sent.
    pub service: Nanos,
    /// Whether it failed.
    pub has_failed: bool,
}

/// Plays a trace's requests on a device. Memory doesn't depend on how many there are. A request that fails is counted, and the
/// others go on.
///
/// # Errors
/// The trace can't be read, memory is short, the device is silent or fails every request, or the watcher ended it.
pub fn play(
    io: &mut dyn Io,
    device: &Device,
    records: impl Iterator<Item = Result<Record, TraceError>>,
    options: &PlayOptions,
    watcher: &mut dyn PlayWatcher,
) -> Result<Played, PlayError> {
    let memory = Memory::new(options.read_bytes)?;
    // Without it a silent device is given up late, and nothing else is amiss.
    let _heartbeat = io.waker().and_then(|waker| Heartbeat::start(waker, LOOK_AROUND).ok());
    let began = io.now();
    let player = Player {
        in_flight_max: options.timing.in_flight_max(options.queue_depth).max(1) as usize,
        piece_bytes: device.shape.largest_transfer_bytes.min(PIECE_BYTES_MAX),
        io,
        device,
        options,
        records: Ahead::new(Zones::over(records)),
        schedule: Schedule::new(options.timing, began),
        memory,
        head: None,
        flights: Slab::new(),
        ended: false,
        held_until: None,
        last_completed: began,
        last_progress: began,
        played: Played::new(),
    };
    player.drive(began, watcher)
}

struct Player<'a, I> {
    io: &'a mut dyn Io,
    device: &'a Device,
    options: &'a PlayOptions,
    in_flight_max: usize,
    piece_bytes: u64,
    records: Ahead<I>,
    schedule: Schedule,
    memory: Memory,
    /// The next request, of which a part may have been sent.
    head: Option<Head>,
    flights: Slab<Flight>,
    /// Nothing more is taken from the trace.
    ended: bool,
    /// The last time at which a request that was due found no room.
    held_until: Option<Nanos>,
    last_completed: Nanos,
    /// Of a device with nothing to do, when it was given something.
    last_progress: Nanos,
    played: Played,
}

struct Head {
    record: Record,
    due: Nanos,
    extent: Extent,
    /// Its place among those in flight, once a part of it is.
    key: Option<usize>,
    pieces: u32,
}

/// A request of which a part is on its way, or was.
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
    fn drive(mut self, began: Nanos, watcher: &mut dyn PlayWatcher) -> Result<Played, PlayError> {
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

    /// Whether there is a request that is due, and room for it.
    fn has_due(&mut self) -> Result<bool, PlayError> {
        let is_full = self.flights.len() >= self.in_flight_max;
        if self.head.is_none() {
            // When the next one is due without a schedule, a completion decides.
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

    /// Sends what is left of the next request. `false` when there is no room for all of it.
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
        // A discard moves nothing, so it may be of any length.
        let most_bytes =
            if head.record.operation == Operation::Discard { u64::MAX } else { self.piece_bytes };
        head.extent.piece(&self.options.places, most_bytes)
    }

    /// Sends one operation. `false` when there is no memory for it, or no slot.
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
                // It is due when it can be sent.
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

    /// All of a request was sent.
    fn note_whole(&mut self, head: &Head) {
        self.played.cut += u64::from(head.pieces > 1);
        self.played.widened += u64::from(head.extent.is_widened);
        self.played.folded += u64::from(head.extent.is_folded);
        if let Some(flight) = head.key.and_then(|key| self.flights.get_mut(key)) {
            debug_assert!(flight.pieces > 0, "the last piece is still in flight");
            flight.is_whole = true;
        }
    }

    /// Sends no more of the request that would be next.
    fn give_up_head(&mut self) {
        let Some(key) = self.head.take().and_then(|head| head.key) else { return };
        if self.flights.get(key).is_some_and(|flight| flight.pieces == 0) {
            self.flights.remove(key);
        } else if let Some(flight) = self.flights.get_mut(key) {
            flight.is_whole = true;
        }
    }

    /// Sleeps until shortly before the next request is due, and polls from there on: a timer would be late.
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
        self.played.add(&Done { record, due, sent, completed, failure: failure.as_ref() });
        let (response, service) = (completed.since(due), completed.since(sent));
        let has_failed = failure.is_some();
        watcher.completed(&PlayedRequest { record: *record, response, service, has_failed });
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
