//! Processor time.

use nandle_io::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Processor time of the calling thread.
pub fn of_thread() -> Nanos {
    of(ClockId::ThreadCPUTime)
}

/// Processor time of all threads of this process.
pub fn of_process() -> Nanos {
    of(ClockId::ProcessCPUTime)
}

fn of(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}
