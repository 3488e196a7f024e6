use nandle_io::{Arena, Device, Heartbeat, Io, Nanos};

use super::LoadError;
use super::operations::Operations;
use super::threads::Ticket;

/// Interval at which a waiting lane checks for interruption and for a stalled device.
const POLL_INTERVAL: Nanos = Nanos::from_millis(200);

/// Resources of one load thread: a world, its device, and memory. A lane serves any number of runs,
/// one after the other.
pub struct Lane {
    pub(super) io: Box<dyn Io>,
    pub(super) device: Device,
    pub(super) arena: Arena,
    pub(crate) patience: Nanos,
    registered_bytes: usize,
    read_pool: Option<Arena>,
    /// Start barrier of the first run.
    pub(super) ticket: Option<Ticket>,
    _heartbeat: Option<Heartbeat>,
}

/// Parameters of a lane.
#[derive(Debug, Clone, Copy)]
pub struct LaneOptions {
    /// Memory for the buffers of all requests outstanding at one time.
    pub buffer_bytes: u64,
    /// Additional memory that reads of a real device cycle through, like a database's buffer pool.
    /// It should exceed the processor's caches. A few buffers reused at once stay in those caches,
    /// so a disk whose reads are copied by the host's processor looks faster than a database will
    /// see it. With 0, there is one buffer per outstanding request.
    pub read_pool_bytes: u64,
    /// Time without completions after which a run is abandoned.
    pub patience: Nanos,
}

impl Lane {
    /// Creates a lane on a device of a world.
    ///
    /// # Errors
    /// Memory, or the heartbeat thread, can't be had.
    pub fn new(mut io: Box<dyn Io>, device: Device, options: LaneOptions) -> Result<Self, LoadError> {
        let arena = arena(options.buffer_bytes)?;
        // A modelled device's time doesn't depend on the memory.
        let is_modelled = io.waker().is_none();
        let pool_bytes = if is_modelled { 0 } else { options.read_pool_bytes };
        let read_pool = if pool_bytes > 0 { Some(prefaulted_arena(pool_bytes)?) } else { None };
        // Database engines don't register their read buffers, and the system's limit would cover
        // only part of a pool.
        let registered_bytes = if read_pool.is_some() { 0 } else { io.register(&arena) };
        // A world without a waker is modelled. There a stalled device is a deadlock, which is
        // detected at once.
        let heartbeat = io.waker().map(|waker| Heartbeat::start(waker, POLL_INTERVAL)).transpose();
        let heartbeat = heartbeat
            .map_err(|error| LoadError::Opening(format!("a thread that looks for Ctrl-C: {error}")))?;
        Ok(Self {
            io,
            device,
            arena,
            patience: options.patience,
            registered_bytes,
            read_pool,
            ticket: None,
            _heartbeat: heartbeat,
        })
    }

    /// The lane's world.
    pub fn io(&mut self) -> &mut dyn Io {
        self.io.as_mut()
    }

    /// Checks that a run with `queue_depth` requests outstanding can begin.
    ///
    /// # Errors
    /// The world has too few slots, or requests of an abandoned run are still in flight. Their
    /// completions would be taken for this run's.
    pub(crate) fn check_idle(&self, queue_depth: u32) -> Result<(), LoadError> {
        let (slots, outstanding) = (self.io.slots(), self.io.in_flight());
        if outstanding > 0 {
            return Err(LoadError::Abandoned { outstanding });
        }
        if queue_depth as usize > slots {
            return Err(LoadError::TooDeep { queue_depth, slots });
        }
        Ok(())
    }

    /// Gives each reader an equal part of the read pool.
    ///
    /// # Errors
    /// Requests of an earlier run still use a part of it.
    pub(super) fn spread_reads(&self, all: &mut [&mut Operations]) -> Result<(), LoadError> {
        let Some(pool) = &self.read_pool else { return Ok(()) };
        let readers = all.iter().filter(|operations| operations.has_reads()).count();
        for operations in all {
            let spread = operations.spread_reads(pool, pool.bytes() / readers.max(1));
            spread.map_err(|error| LoadError::Opening(error.to_string()))?;
        }
        Ok(())
    }

    /// Waits until the other threads of this load are ready.
    ///
    /// # Errors
    /// One of those threads could not be started.
    pub(super) fn wait_for_start(&mut self) -> Result<(), LoadError> {
        self.ticket.take().map_or(Ok(()), Ticket::wait)
    }

    /// The lane's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The memory of its buffers.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Bytes of memory registered with the world.
    pub fn registered_bytes(&self) -> usize {
        self.registered_bytes
    }
}

fn arena(bytes: u64) -> Result<Arena, LoadError> {
    let arena = Arena::new(usize::try_from(bytes).unwrap_or(usize::MAX));
    arena.map_err(|error| LoadError::Opening(error.to_string()))
}

/// Allocates an arena and touches all of it, so that page faults don't count as device time.
fn prefaulted_arena(bytes: u64) -> Result<Arena, LoadError> {
    let arena = arena(bytes)?;
    let whole = arena.allocate(arena.bytes()).map(|mut whole| whole.fill(0));
    whole.map_err(|error| LoadError::Opening(error.to_string()))?;
    Ok(arena)
}
