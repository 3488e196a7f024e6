//! A controller: its processor and its links, one for each direction, are shared by its drives.
//!
//! Data streams through a link while the drives work on it: a read's transfer ends no earlier than
//! the drives do, and a write's begins no later. With a cache, a write completes when the cache
//! holds it, and is destaged afterwards. Dirty and prefetched data are read without the drives. A
//! full cache admits a write when the drives have completed another, so the host then writes at
//! their rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::backlog::Backlog;
use super::cache::{Extent, Ticket, WriteBackCache};
use super::layout::Layout;
use super::link::Link;
use super::parameters::ControllerParameters;
use super::processor::Processor;
use super::read_ahead::{Found, ReadAhead};
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

/// Cached writes on the drives at a time, for each drive. Enough for a queue with neighbours
/// waiting behind it, and few enough that a read is served soon.
const DESTAGED_AT_ONCE_PER_DRIVE: usize = 64;

/// Upper bound of a request's time on the link.
const LONGEST_TRANSFER_NS: u64 = 10_000_000_000;

/// Scheduled step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// The controller has received a write's data.
    Received(Ticket),
    /// The controller looks a read up in its memory.
    Read(Ticket),
    /// The processor splits the request over the drives.
    Forward(Ticket),
    /// The drives receive their commands.
    Issue(Ticket),
    /// The processor has time to destage.
    Destage,
    /// The host receives the completion.
    Report(Ticket),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at_ns: u64,
    sequence: u64,
    action: Action,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    request: TimedRequest,
    /// Drive requests that are not complete.
    parts_left: usize,
    /// End of the transfer over the link; the request completes no earlier.
    transferred_ns: u64,
    origin: Origin,
    reported: bool,
}

/// Source of a request. Decides what happens when the drives are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The host; it receives the completion.
    Host,
    /// The host, by way of the cache; already completed.
    Cache,
    /// The read-ahead.
    ReadAhead,
}

pub(crate) struct Controller {
    layout: Layout,
    processor: Processor,
    reads: Link,
    writes: Link,
    cache: Option<WriteBackCache>,
    /// Cached writes that are not on the drives yet.
    backlog: Backlog,
    /// A [`Action::Destage`] is scheduled.
    destage_planned: bool,
    read_ahead: Option<ReadAhead>,
    drives: Vec<Box<dyn Timing>>,
    outstanding: Vec<u32>,
    pending: Vec<Option<Pending>>,
    free: Vec<Ticket>,
    due: BinaryHeap<Reverse<Due>>,
    sequence: u64,
    completed: Vec<TimedCompletion>,
}

impl Controller {
    pub(crate) fn new(
        parameters: &ControllerParameters,
        layout: Layout,
        drives: Vec<Box<dyn Timing>>,
    ) -> Self {
        Self {
            read_ahead: parameters
                .read_ahead
                .as_ref()
                .map(|ahead| ReadAhead::new(ahead, layout.capacity_bytes())),
            backlog: Backlog::new(
                layout.volumes(),
                DESTAGED_AT_ONCE_PER_DRIVE * drives.len() / layout.volumes().max(1),
            ),
            layout,
            processor: Processor::new(parameters),
            reads: Link::new(parameters.read_bytes_per_s),
            writes: Link::new(parameters.write_bytes_per_s),
            cache: parameters.cache.as_ref().map(WriteBackCache::new),
            destage_planned: false,
            outstanding: vec![0; drives.len()],
            drives,
            pending: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            sequence: 0,
            completed: Vec::new(),
        }
    }

    /// Drives of this controller, in order.
    pub(crate) fn drives(&self) -> impl Iterator<Item = &Box<dyn Timing>> {
        self.drives.iter()
    }

    /// Drives of this controller, in order, mutable.
    pub(crate) fn drives_mut(&mut self) -> impl Iterator<Item = &mut Box<dyn Timing>> {
        self.drives.iter_mut()
    }

    fn schedule(&mut self, at_ns: u64, action: Action) {
        self.sequence += 1;
        self.due.push(Reverse(Due { at_ns, sequence: self.sequence, action }));
    }

    fn perform(&mut self, now_ns: u64, action: Action, completed: &mut Vec<TimedCompletion>) {
        match action {
            Action::Received(ticket) => self.received(now_ns, ticket),
            Action::Read(ticket) => self.read(now_ns, ticket),
            Action::Forward(ticket) => self.forward(now_ns, ticket),
            Action::Issue(ticket) => self.issue(now_ns, ticket),
            Action::Destage => {
                self.destage_planned = false;
                self.destage(now_ns);
            }
            Action::Report(ticket) => self.report(now_ns, ticket, completed),
        }
    }

    fn received(&mut self, now_ns: u64, ticket: Ticket) {
        let Some(request) = self.request(ticket) else { return };
        if self.cache.as_mut().is_some_and(|cache| cache.admit(extent_of(ticket, request))) {
            self.cached(now_ns, ticket);
        }
    }

    /// Serves a read from the controller's memory or from the drives.
    fn read(&mut self, now_ns: u64, ticket: Ticket) {
        let Some(TimedRequest { offset_bytes, length_bytes, .. }) = self.request(ticket) else { return };
        if self.cache.as_ref().is_some_and(|cache| cache.holds(offset_bytes, length_bytes)) {
            return self.deliver(now_ns, ticket, length_bytes);
        }
        let Some(read_ahead) = &mut self.read_ahead else { return self.forward(now_ns, ticket) };
        let fetches = read_ahead.follow(offset_bytes, length_bytes);
        match read_ahead.find(offset_bytes, length_bytes, ticket) {
            Found::Nothing => self.forward(now_ns, ticket),
            Found::OnItsWay(0) => self.deliver(now_ns, ticket, length_bytes),
            Found::OnItsWay(lines) => self.expect_parts(ticket, lines),
        }
        for (offset_bytes, length_bytes) in fetches {
            self.fetch(now_ns, offset_bytes, length_bytes);
        }
    }

    fn fetch(&mut self, now_ns: u64, offset_bytes: u64, length_bytes: u64) {
        let request = TimedRequest { id: 0, operation: TimedOperation::Read, offset_bytes, length_bytes };
        let ticket = self.admit(Pending::new(request, Origin::ReadAhead));
        self.forward(now_ns, ticket);
    }

    /// Receives a write's data from the host: into the cache, or straight to the drives.
    fn take_write(&mut self, accepted_ns: u64, ticket: Ticket, bytes: u64) {
        let (start_ns, sent_ns) = self.writes.send(accepted_ns, bytes);
        let received_ns = self.cache.as_mut().map(|cache| cache.receive(start_ns, sent_ns, bytes));
        if let Some(pending) = self.pending.get_mut(ticket).and_then(Option::as_mut) {
            pending.transferred_ns = received_ns.unwrap_or(sent_ns);
            pending.origin = if received_ns.is_some() { Origin::Cache } else { Origin::Host };
        }
        match received_ns {
            Some(received_ns) => self.schedule(received_ns, Action::Received(ticket)),
            None => self.schedule(start_ns, Action::Forward(ticket)),
        }
    }

    /// Sends data in memory to the host.
    fn deliver(&mut self, now_ns: u64, ticket: Ticket, bytes: u64) {
        let (_, end_ns) = self.reads.send(now_ns, bytes);
        self.schedule(end_ns, Action::Report(ticket));
    }

    fn expect_parts(&mut self, ticket: Ticket, parts: usize) {
        if let Some(pending) = self.pending.get_mut(ticket).and_then(Option::as_mut) {
            pending.parts_left = parts;
        }
    }

    /// Completes a request that the cache has admitted, and queues it for destaging.
    fn cached(&mut self, now_ns: u64, ticket: Ticket) {
        let access_ns = self.cache.as_ref().map_or(0, WriteBackCache::access_ns);
        self.schedule(now_ns + access_ns, Action::Report(ticket));
        if let Some(request) = self.request(ticket) {
            self.backlog.add(self.layout.volume_at(request.offset_bytes), request.offset_bytes, ticket);
        }
        self.destage(now_ns);
    }

    /// Destages cached writes while the processor is free of the host's commands.
    fn destage(&mut self, now_ns: u64) {
        while self.backlog.has_next() {
            let free_ns = self.processor.may_lay_out_ns();
            if free_ns > now_ns {
                if !std::mem::replace(&mut self.destage_planned, true) {
                    self.schedule(free_ns, Action::Destage);
                }
                return;
            }
            if let Some(ticket) = self.backlog.take_next() {
                self.forward(now_ns, ticket);
            }
        }
    }

    fn forward(&mut self, now_ns: u64, ticket: Ticket) {
        let Some(request) = self.request(ticket) else { return };
        let issued_ns = self.processor.lay_out(now_ns, &self.layout, request);
        if issued_ns == now_ns {
            self.issue(now_ns, ticket);
        } else {
            self.schedule(issued_ns, Action::Issue(ticket));
        }
    }

    fn issue(&mut self, now_ns: u64, ticket: Ticket) {
        let Some(request) = self.request(ticket) else { return };
        let parts: Vec<(usize, u64, u64)> = match request.operation {
            TimedOperation::Flush => self.layout.members().map(|drive| (drive, 0, 0)).collect(),
            TimedOperation::Read | TimedOperation::Write { .. } | TimedOperation::Discard => {
                self.drive_parts(request)
            }
        };
        self.expect_parts(ticket, parts.len());
        for (index, offset_bytes, length_bytes) in parts {
            let part =
                TimedRequest { id: ticket as u64, operation: request.operation, offset_bytes, length_bytes };
            if let (Some(drive), Some(count)) = (self.drives.get_mut(index), self.outstanding.get_mut(index))
            {
                *count += 1;
                drive.arrive(now_ns, part);
            }
        }
    }

    /// Drive, offset and length of each part. A read goes to the less busy mirror.
    fn drive_parts(&self, request: TimedRequest) -> Vec<(usize, u64, u64)> {
        let mut parts = Vec::new();
        for part in self.layout.split(request.offset_bytes, request.length_bytes) {
            let mut members = self.layout.members_of(part.column);
            let least_busy = |members: std::ops::Range<usize>| {
                members.min_by_key(|&drive| self.outstanding.get(drive).copied().unwrap_or(u32::MAX))
            };
            match request.operation {
                TimedOperation::Read => {
                    parts.extend(
                        least_busy(members).map(|drive| (drive, part.offset_bytes, part.length_bytes)),
                    );
                }
                TimedOperation::Write { .. } | TimedOperation::Flush | TimedOperation::Discard => members
                    .by_ref()
                    .for_each(|drive| parts.push((drive, part.offset_bytes, part.length_bytes))),
            }
        }
        parts
    }

    fn part_done(&mut self, now_ns: u64, ticket: Ticket) {
        let Some(pending) = self.pending.get_mut(ticket).and_then(Option::as_mut) else { return };
        pending.parts_left = pending.parts_left.saturating_sub(1);
        if pending.parts_left > 0 {
            return;
        }
        let pending = *pending;
        match pending.origin {
            Origin::Cache => return self.destaged(now_ns, ticket, pending),
            Origin::ReadAhead => return self.fetched(now_ns, ticket, pending),
            Origin::Host => {}
        }
        let end_ns = match pending.request.operation {
            TimedOperation::Read => self.reads.stream(now_ns, pending.request.length_bytes),
            TimedOperation::Write { .. } | TimedOperation::Flush | TimedOperation::Discard => {
                now_ns.max(pending.transferred_ns)
            }
        };
        self.schedule(end_ns, Action::Report(ticket));
    }

    fn fetched(&mut self, now_ns: u64, ticket: Ticket, pending: Pending) {
        self.release(ticket);
        let waiting = self.read_ahead.as_mut().map(|ahead| ahead.arrived(pending.request.offset_bytes));
        for reader in waiting.into_iter().flatten() {
            self.part_done(now_ns, reader);
        }
    }

    fn destaged(&mut self, now_ns: u64, ticket: Ticket, pending: Pending) {
        if pending.reported {
            self.release(ticket);
        } else if let Some(pending) = self.pending.get_mut(ticket).and_then(Option::as_mut) {
            pending.origin = Origin::Host;
        }
        self.backlog.written(self.layout.volume_at(pending.request.offset_bytes));
        let Some(cache) = &mut self.cache else { return };
        cache.release(extent_of(ticket, pending.request));
        while let Some(admitted) = self.cache.as_mut().and_then(WriteBackCache::next_admitted) {
            self.cached(now_ns, admitted);
        }
        self.destage(now_ns);
    }

    fn report(&mut self, now_ns: u64, ticket: Ticket, completed: &mut Vec<TimedCompletion>) {
        let Some(pending) = self.pending.get_mut(ticket).and_then(Option::as_mut) else { return };
        completed.push(TimedCompletion { id: pending.request.id, completed_ns: now_ns });
        pending.reported = true;
        if pending.origin == Origin::Host {
            self.release(ticket);
        }
    }

    fn request(&self, ticket: Ticket) -> Option<TimedRequest> {
        self.pending.get(ticket)?.map(|pending| pending.request)
    }

    fn admit(&mut self, pending: Pending) -> Ticket {
        if let Some(ticket) = self.free.pop()
            && let Some(slot) = self.pending.get_mut(ticket)
        {
            *slot = Some(pending);
            return ticket;
        }
        self.pending.push(Some(pending));
        self.pending.len() - 1
    }

    fn release(&mut self, ticket: Ticket) {
        if let Some(slot) = self.pending.get_mut(ticket) {
            *slot = None;
            self.free.push(ticket);
        }
    }

    /// Earliest event of the drives, with the drive's index.
    fn next_drive_event(&self) -> Option<(u64, usize)> {
        let events = self.drives.iter().enumerate();
        events.filter_map(|(index, drive)| Some((drive.next_event_ns()?, index))).min()
    }

    fn advance_drive(&mut self, now_ns: u64, index: usize) {
        let mut finished = std::mem::take(&mut self.completed);
        if let Some(drive) = self.drives.get_mut(index) {
            drive.advance(now_ns, &mut finished);
        }
        for done in finished.drain(..) {
            if let Some(count) = self.outstanding.get_mut(index) {
                *count = count.saturating_sub(1);
            }
            self.part_done(done.completed_ns, usize::try_from(done.id).unwrap_or(usize::MAX));
        }
        self.completed = finished;
    }
}

impl Pending {
    fn new(request: TimedRequest, origin: Origin) -> Self {
        Self { request, parts_left: 0, transferred_ns: 0, origin, reported: false }
    }
}

fn extent_of(ticket: Ticket, request: TimedRequest) -> Extent {
    Extent { ticket, offset_bytes: request.offset_bytes, length_bytes: request.length_bytes }
}

impl Timing for Controller {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        // A transfer may start in the past, while the drives deliver, but no earlier than this.
        let past_ns = now_ns.saturating_sub(LONGEST_TRANSFER_NS);
        self.reads.forget_before(past_ns);
        self.writes.forget_before(past_ns);
        let accepted_ns = self.processor.take_in(now_ns);
        let ticket = self.admit(Pending::new(request, Origin::Host));
        if let (Some(read_ahead), TimedOperation::Write { .. } | TimedOperation::Discard) =
            (&mut self.read_ahead, request.operation)
        {
            read_ahead.forget(request.offset_bytes, request.length_bytes);
        }
        match request.operation {
            TimedOperation::Write { .. } => self.take_write(accepted_ns, ticket, request.length_bytes),
            // The cache survives a power cut, so a flush completes at once.
            TimedOperation::Flush if self.cache.is_some() => {
                self.schedule(accepted_ns, Action::Report(ticket));
            }
            TimedOperation::Read => self.schedule(accepted_ns, Action::Read(ticket)),
            TimedOperation::Flush | TimedOperation::Discard => {
                self.schedule(accepted_ns, Action::Forward(ticket));
            }
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        let own = self.due.peek().map(|Reverse(due)| due.at_ns);
        let drives = self.next_drive_event().map(|(at_ns, _)| at_ns);
        own.into_iter().chain(drives).min()
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        while let Some(event_ns) = self.next_event_ns()
            && event_ns <= now_ns
        {
            match self.next_drive_event() {
                Some((at_ns, index)) if at_ns == event_ns => self.advance_drive(event_ns, index),
                _ => {
                    if let Some(Reverse(due)) = self.due.pop() {
                        self.perform(due.at_ns, due.action, completed);
                    }
                }
            }
        }
    }
}
