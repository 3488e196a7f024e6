//! The disk as a device: passes commands through their stages, one resource after the other.

use std::collections::VecDeque;

use super::activity::{Activity, Event, Events};
use super::cache::{Cache, DirtyRun, Lookup, SegmentId};
use super::host_side::{Command, HostSide, Service};
use super::mechanics::{Arm, Direction, Mechanics};
use super::parameters::{DiskParameters, ReadAhead};
use super::queue::{Candidate, Scheduler};
use super::{DiskError, validation};
use crate::timing::{TimedCompletion, TimedOperation, TimedRequest, Timing};

/// Timing model of a magnetic disk.
///
/// ```
/// use nandle_model::disk::{DiskParameters, MagneticDisk};
/// use nandle_model::timing::{TimedOperation, TimedRequest, Timing};
///
/// let parameters = DiskParameters::from_toml(include_str!("../../drives/barracuda.toml"))?;
/// let mut disk = MagneticDisk::new(&parameters)?;
/// disk.arrive(0, TimedRequest { id: 7, operation: TimedOperation::Read, offset_bytes: 1 << 30, length_bytes: 4096 });
/// let mut completed = Vec::new();
/// while let Some(next_ns) = disk.next_event_ns() {
///     disk.advance(next_ns, &mut completed);
/// }
/// assert_eq!(completed[0].id, 7);
/// # Ok::<(), nandle_model::disk::DiskError>(())
/// ```
#[derive(Debug)]
pub struct MagneticDisk {
    mechanics: Mechanics,
    cache: Cache,
    host: HostSide,
    scheduler: Scheduler,
    events: Events,
    activity: Activity,
    arm: Arm,
    head_sector: u64,
    read_ahead: ReadAhead,
    read_ahead_on_hit: bool,
    segment_sectors: u64,
    write_back: bool,
    sector_bytes: u64,
    /// Decoded reads that need the medium.
    reads: Vec<Command>,
    /// Decoded writes waiting for room in the cache.
    writes: VecDeque<Command>,
    /// Durable writes and flushes waiting for the medium.
    barriers: Vec<Barrier>,
}

/// Command that completes when all of these runs are on the medium, each by order and end.
#[derive(Debug)]
struct Barrier {
    id: u64,
    runs: Vec<(u64, u64)>,
}

/// Next task of the arm.
enum Next {
    Read(Command, Lookup),
    Write(DirtyRun),
}

impl MagneticDisk {
    /// Drive at rest with its heads over the outermost cylinder and an empty cache.
    ///
    /// # Errors
    /// Fails with the first figure that is out of range or contradicts another.
    pub fn new(parameters: &DiskParameters) -> Result<Self, DiskError> {
        validation::validate(parameters)?;
        let mechanics = Mechanics::new(parameters);
        let sectors = mechanics.geometry.sectors();
        Ok(Self {
            cache: Cache::new(&parameters.cache),
            host: HostSide::new(parameters, sectors),
            scheduler: Scheduler::new(&parameters.queue),
            events: Events::default(),
            activity: Activity::Idle,
            arm: Arm::default(),
            head_sector: 0,
            read_ahead: parameters.cache.read_ahead,
            read_ahead_on_hit: parameters.cache.read_ahead_on_hit,
            segment_sectors: u64::from(parameters.cache.segment_sectors),
            write_back: parameters.cache.write_back,
            sector_bytes: parameters.sector_bytes,
            reads: Vec::new(),
            writes: VecDeque::new(),
            barriers: Vec::new(),
            mechanics,
        })
    }

    /// Capacity of the geometry. A request beyond it is truncated.
    pub fn capacity_bytes(&self) -> u64 {
        self.mechanics.geometry.sectors() * self.sector_bytes
    }

    fn start_commands(&mut self, now_ns: u64) {
        while let Some(command) = self.host.take_slot(now_ns) {
            self.catch_up_read_ahead(now_ns);
            let hit = match command.operation {
                TimedOperation::Read => self.cache.look_up(command.first, command.end) != Lookup::Nothing,
                TimedOperation::Write { durable } => self.write_back && !durable,
                TimedOperation::Flush | TimedOperation::Discard => true,
            };
            let service = if hit { Service::Hit } else { Service::Miss };
            let decoded_ns = self.host.decode(&command, service, now_ns);
            self.events.plan(decoded_ns, Event::Decoded(command));
        }
    }

    fn handle(&mut self, now_ns: u64, event: Event, completed: &mut Vec<TimedCompletion>) {
        match event {
            Event::Decoded(command) => self.execute(command, now_ns),
            Event::Deliverable(command) => {
                let delivered_ns = self.host.transfer(command.sectors(), now_ns);
                self.events.plan(delivered_ns, Event::Completed(command.id));
            }
            Event::ArmDone => self.finish_arm(now_ns),
            Event::Completed(id) => {
                completed.push(TimedCompletion { id, completed_ns: now_ns });
                self.host.release_slot();
                self.start_commands(now_ns);
            }
        }
    }

    fn execute(&mut self, command: Command, now_ns: u64) {
        match command.operation {
            TimedOperation::Read if command.sectors() > 0 => {
                self.reads.push(command);
                self.dispatch(now_ns);
            }
            TimedOperation::Write { .. } if command.sectors() > 0 => {
                self.writes.push_back(command);
                self.accept_writes(now_ns);
                self.dispatch(now_ns);
            }
            TimedOperation::Flush => {
                let runs = self.cache.unwritten_runs().map(|run| (run.order, run.end)).collect();
                self.barriers.push(Barrier { id: command.id, runs });
                self.pass_barriers(now_ns);
            }
            _ => self.events.plan(now_ns, Event::Completed(command.id)),
        }
    }

    /// Admits waiting writes to the cache, in order, while there is room.
    fn accept_writes(&mut self, now_ns: u64) {
        while let Some(&command) = self.writes.front() {
            self.catch_up_read_ahead(now_ns);
            let in_use = self.activity.in_use();
            let Some(segment) = self.cache.accept_write(command.first, command.end, now_ns, in_use) else {
                return;
            };
            self.writes.pop_front();
            if in_use.reading_ahead.is_some_and(|ahead| !self.cache.is_clean(ahead)) {
                self.stop_read_ahead(now_ns);
            }
            self.receive(command, segment, now_ns);
        }
    }

    /// Receives the host's data. Completes the command now, or schedules it for when the medium has
    /// the data.
    fn receive(&mut self, command: Command, segment: SegmentId, now_ns: u64) {
        let received_ns = self.host.transfer(command.sectors(), now_ns);
        self.cache.note_arrival(segment, received_ns);
        let durable = command.operation == TimedOperation::Write { durable: true };
        match self.cache.dirty_run(segment) {
            Some(run) if durable || !self.write_back => {
                self.barriers.push(Barrier { id: command.id, runs: vec![(run.order, command.end)] });
            }
            _ => self.events.plan(received_ns, Event::Completed(command.id)),
        }
    }

    fn finish_arm(&mut self, now_ns: u64) {
        match self.activity {
            Activity::Reading { segment, end, after } => {
                self.arm = after;
                self.cache.extend(segment, end);
                self.cache.deliver(segment, end);
                let limit = self.read_ahead_limit(segment, end);
                self.activity = Activity::ReadingAhead { segment, next: end, limit };
                self.head_sector = end;
            }
            Activity::Writing { segment, end, after } => {
                self.arm = after;
                self.cache.finish_destage(segment, end);
                self.activity = Activity::Idle;
                self.head_sector = end;
                self.pass_barriers(now_ns);
            }
            Activity::Idle | Activity::ReadingAhead { .. } => {}
        }
        self.accept_writes(now_ns);
        self.dispatch(now_ns);
    }

    /// Completes the barriers whose runs are all on the medium.
    fn pass_barriers(&mut self, now_ns: u64) {
        let cache = &self.cache;
        let events = &mut self.events;
        self.barriers.retain(|barrier| {
            let waits = barrier.runs.iter().any(|&(order, end)| !cache.is_on_medium(order, end));
            if !waits {
                events.plan(now_ns, Event::Completed(barrier.id));
            }
            waits
        });
    }

    /// Starts the arm's next task, unless the arm is busy.
    fn dispatch(&mut self, now_ns: u64) {
        if self.activity.is_busy() {
            return;
        }
        self.catch_up_read_ahead(now_ns);
        self.serve_hits(now_ns);
        match self.next_for_arm(now_ns) {
            Some(Next::Read(command, lookup)) => self.start_read(command, lookup, now_ns),
            Some(Next::Write(run)) => self.start_write(run, now_ns),
            None => {}
        }
    }

    /// Serves waiting reads that the cache holds by now.
    fn serve_hits(&mut self, now_ns: u64) {
        let mut waiting = std::mem::take(&mut self.reads);
        waiting.retain(|command| match self.cache.look_up(command.first, command.end) {
            Lookup::Full(segment) => {
                self.cache.deliver(segment, command.end);
                self.lengthen_read_ahead(segment, command.end, now_ns);
                self.events.plan(now_ns, Event::Deliverable(*command));
                false
            }
            _ => true,
        });
        self.reads = waiting;
    }

    fn next_for_arm(&mut self, now_ns: u64) -> Option<Next> {
        let runs: Vec<DirtyRun> = self.cache.waiting_runs().collect();
        let lookups: Vec<Lookup> =
            self.reads.iter().map(|command| self.cache.look_up(command.first, command.end)).collect();
        let mut candidates: Vec<Candidate> =
            runs.iter().map(|run| self.write_candidate(run, now_ns)).collect();
        let writes = candidates.len();
        for (command, &lookup) in self.reads.iter().zip(&lookups) {
            candidates.push(self.read_candidate(command, lookup, now_ns));
        }
        let chosen = self.scheduler.choose(&candidates, self.head_sector, now_ns)?;
        match chosen.checked_sub(writes) {
            None => runs.get(chosen).copied().map(Next::Write),
            Some(index) => {
                let lookup = lookups.get(index).copied()?;
                Some(Next::Read(self.reads.remove(index), lookup))
            }
        }
    }

    fn read_candidate(&self, command: &Command, lookup: Lookup, now_ns: u64) -> Candidate {
        let sector = missing_from(command, lookup);
        let arm = self.arm_for_read(sector, lookup, now_ns);
        let margin_ns = self.scheduler.positioning_margin_ns();
        let start_ns = self.mechanics.expected_start_ns(arm, sector, Direction::Read, 0, margin_ns);
        Candidate { since_ns: command.taken_ns, sector, start_ns }
    }

    fn write_candidate(&self, run: &DirtyRun, now_ns: u64) -> Candidate {
        let not_before_ns = self.data_ready_ns(run);
        let arm = self.arm_called_away(now_ns);
        let margin_ns = self.scheduler.positioning_margin_ns();
        let start_ns =
            self.mechanics.expected_start_ns(arm, run.first, Direction::Write, not_before_ns, margin_ns);
        Candidate { since_ns: run.since_ns, sector: run.first, start_ns }
    }

    fn start_read(&mut self, command: Command, lookup: Lookup, now_ns: u64) {
        let from = missing_from(&command, lookup);
        let arm = self.arm_for_read(from, lookup, now_ns);
        let Some(segment) = self.cache.claim_for_read(from, lookup, self.activity.in_use()) else {
            // Every segment is dirty: one must be destaged first.
            self.reads.push(command);
            if let Some(run) = self.cache.waiting_runs().min_by_key(|run| run.order) {
                self.start_write(run, now_ns);
            }
            return;
        };
        let transfer = self.mechanics.transfer(arm, from, command.end, Direction::Read, 0);
        let end_ns = transfer.arm.free_ns;
        let first_ns = if from > command.first { now_ns } else { transfer.first_sector_ns };
        // The interface starts as early as it can without waiting for the head.
        let unhurried_ns = (end_ns + self.host.sector_transfer_ns())
            .saturating_sub(command.sectors() * self.host.sector_transfer_ns());
        self.events.plan(first_ns.max(unhurried_ns), Event::Deliverable(command));
        self.events.plan(end_ns, Event::ArmDone);
        self.activity = Activity::Reading { segment, end: command.end, after: transfer.arm };
    }

    fn start_write(&mut self, run: DirtyRun, now_ns: u64) {
        let arm = self.arm_called_away(now_ns);
        let ready_ns = self.data_ready_ns(&run);
        let transfer = self.mechanics.transfer(arm, run.first, run.end, Direction::Write, ready_ns);
        self.cache.start_destage(run.segment);
        self.events.plan(transfer.arm.free_ns, Event::ArmDone);
        self.activity = Activity::Writing { segment: run.segment, end: run.end, after: transfer.arm };
    }

    /// Earliest time to write a run's first sector so that no later one arrives too late.
    fn data_ready_ns(&self, run: &DirtyRun) -> u64 {
        let pace_ns = self.mechanics.sector_ns(run.first).min(self.host.sector_transfer_ns());
        run.arrived_ns.saturating_sub((run.end - run.first - 1) * pace_ns)
    }

    /// Arm for a read from `sector` on. A read that continues the read-ahead loses no time.
    fn arm_for_read(&self, sector: u64, lookup: Lookup, now_ns: u64) -> Arm {
        match (self.activity, lookup) {
            (Activity::ReadingAhead { segment, next, limit }, Lookup::Beginning { segment: hit, .. })
                if segment == hit && next == sector && next < limit =>
            {
                self.arm
            }
            _ => self.arm_called_away(now_ns),
        }
    }

    fn arm_called_away(&self, now_ns: u64) -> Arm {
        match self.activity {
            Activity::ReadingAhead { next, limit, .. } => {
                self.mechanics.call_away(self.arm, next, limit, now_ns)
            }
            _ => self.arm.at(now_ns),
        }
    }

    /// Advances the read-ahead to `now_ns`.
    fn catch_up_read_ahead(&mut self, now_ns: u64) {
        if let Activity::ReadingAhead { segment, next, limit } = self.activity {
            let (arm, next) = self.mechanics.read_until(self.arm, next, limit, now_ns);
            self.arm = arm;
            self.cache.extend(segment, next);
            self.activity = Activity::ReadingAhead { segment, next, limit };
            self.head_sector = next;
        }
    }

    fn stop_read_ahead(&mut self, now_ns: u64) {
        self.arm = self.arm_called_away(now_ns);
        self.activity = Activity::Idle;
    }

    /// Extends the read-ahead after a full hit on its segment.
    fn lengthen_read_ahead(&mut self, hit: SegmentId, end: u64, now_ns: u64) {
        let Activity::ReadingAhead { segment, next, limit } = self.activity else { return };
        let at_rest = next >= limit;
        if segment != hit || (at_rest && !self.read_ahead_on_hit) {
            return;
        }
        if at_rest {
            self.arm = self.arm.at(now_ns);
        }
        let limit = limit.max(self.read_ahead_limit(segment, end));
        self.activity = Activity::ReadingAhead { segment, next, limit };
    }

    /// Sector before which the read-ahead of a request stops.
    fn read_ahead_limit(&self, segment: SegmentId, request_end: u64) -> u64 {
        let limit = match self.read_ahead {
            ReadAhead::Request => request_end,
            ReadAhead::Sectors { sectors } => request_end + u64::from(sectors),
            ReadAhead::Tracks => self.whole_tracks_end(self.cache.first_sector(segment), request_end),
        };
        limit.min(self.mechanics.geometry.sectors())
    }

    fn whole_tracks_end(&self, segment_first: u64, request_end: u64) -> u64 {
        let mut limit = self.mechanics.geometry.locate(request_end).track_end;
        loop {
            let further = self.mechanics.geometry.locate(limit).track_end;
            if further <= limit || further - segment_first > self.segment_sectors {
                return limit;
            }
            limit = further;
        }
    }
}

/// First sector of a read that is not cached.
fn missing_from(command: &Command, lookup: Lookup) -> u64 {
    match lookup {
        Lookup::Beginning { end, .. } => end,
        Lookup::Full(_) | Lookup::Nothing => command.first,
    }
}

impl Timing for MagneticDisk {
    fn arrive(&mut self, now_ns: u64, request: TimedRequest) {
        self.host.enqueue(request);
        self.start_commands(now_ns);
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.events.next_ns()
    }

    fn advance(&mut self, now_ns: u64, completed: &mut Vec<TimedCompletion>) {
        while let Some((at_ns, event)) = self.events.take_due(now_ns) {
            self.handle(at_ns, event, completed);
        }
    }
}
