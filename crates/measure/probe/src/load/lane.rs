use nandle_io::{Arena, Device, Heartbeat, Io, Nanos};

use super::LoadError;
use super::operations::Operations;
use super::several::Ticket;

/// How often a waiting lane looks whether the user has interrupted it, or the device has stopped answering.
const LOOK_AROUND: Nanos = Nanos::from_millis(200);

/// What one thread needs to put load on a device: a world, the device in it, and memory. It serves any number of
/// runs, one after the other.
pub struct Lane {
    pub(super) io: Box<dyn Io>,
    pub(super) device: Device,
    pub(super) arena: Arena,
    pub(crate) patience: Nanos,
    registered_bytes: usize,
    read_pool: Option<Arena>,
    /// What the first run waits for, when it is ready to submit.
    pub(super) ticket: Option<Ticket>,
    /// Ends with the lane.
    _heartbeat: Option<Heartbeat>,
}

/// How a lane is made.
#[derive(Debug, Clone, Copy)]
pub struct LaneOptions {
    /// Memory for the buffers of all requests outstanding at one time.
    pub buffer_bytes: u64,
    /// Memory beside that through which reads of a real device go, as through a database's pool: more than processors' caches hold. A few
    /// buffers that are used again at once lie in those caches, and a disk whose reads are copies of the host's processor looks faster than a
    /// database will find it. Without any, reads have as many buffers as requests outstanding.
    pub read_pool_bytes: u64,
    /// How long the device may be silent before a run is given up.
    pub patience: Nanos,
}

impl Lane {
    /// A lane on a device of a world.
    ///
    /// # Errors
    /// The memory can't be had, or the thread that makes a waiting lane look around.
    pub fn new(mut io: Box<dyn Io>, device: Device, options: LaneOptions) -> Result<Self, LoadError> {
        let arena = arena(options.buffer_bytes)?;
        // A modelled device takes as long into whichever memory.
        let is_modelled = io.waker().is_none();
        let pool_bytes = if is_modelled { 0 } else { options.read_pool_bytes };
        let read_pool = if pool_bytes > 0 { Some(used_before(pool_bytes)?) } else { None };
        // Scans of engines don't register what they read into, and of a pool the system would let but a part be registered.
        let registered_bytes = if read_pool.is_some() { 0 } else { io.register(&arena) };
        // A world without a waker is a modelled one: there a silent device is a deadlock, and found at once.
        let heartbeat = io.waker().map(|waker| Heartbeat::start(waker, LOOK_AROUND)).transpose();
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

    /// The world.
    pub fn io(&mut self) -> &mut dyn Io {
        self.io.as_mut()
    }

    /// Whether a run can begin that has so many requests outstanding.
    ///
    /// # Errors
    /// The world has no room for them, or requests of a run that was given up are still in flight: their completions
    /// would be taken for this run's.
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

    /// Lets all that read go through the pool, each through a part of it.
    ///
    /// # Errors
    /// Requests of a run before have a part of it still.
    pub(super) fn spread_reads(&self, all: &mut [&mut Operations]) -> Result<(), LoadError> {
        let Some(pool) = &self.read_pool else { return Ok(()) };
        let readers = all.iter().filter(|operations| operations.has_reads()).count();
        for operations in all {
            let spread = operations.spread_reads(pool, pool.bytes() / readers.max(1));
            spread.map_err(|error| LoadError::Opening(error.to_string()))?;
        }
        Ok(())
    }

    /// Waits for the other threads of this load, where there are some.
    ///
    /// # Errors
    /// There was no thread for one of them.
    pub(super) fn wait_for_start(&mut self) -> Result<(), LoadError> {
        self.ticket.take().map_or(Ok(()), Ticket::wait)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its memory.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// How many bytes of its memory the world has registered.
    pub fn registered_bytes(&self) -> usize {
        self.registered_bytes
    }
}

fn arena(bytes: u64) -> Result<Arena, LoadError> {
    let arena = Arena::new(usize::try_from(bytes).unwrap_or(usize::MAX));
    arena.map_err(|error| LoadError::Opening(error.to_string()))
}

/// An arena whose memory the system has given already: what that takes isn't the device's.
fn used_before(bytes: u64) -> Result<Arena, LoadError> {
    let arena = arena(bytes)?;
    let whole = arena.allocate(arena.bytes()).map(|mut whole| whole.fill(0));
    whole.map_err(|error| LoadError::Opening(error.to_string()))?;
    Ok(arena)
}
