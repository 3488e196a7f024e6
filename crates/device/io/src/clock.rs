//! The system's clocks. No other module reads them.

use rustix::time::{ClockId, clock_gettime};

use crate::Nanos;

/// Lateness of a sleeping thread: the kernel's timer slack of 50 us, and as much again to get a
/// processor.
pub(crate) const TIMER_SLACK: Nanos = Nanos::from_micros(100);

/// `CLOCK_MONOTONIC`.
pub(crate) fn monotonic() -> Nanos {
    from_timespec(clock_gettime(ClockId::Monotonic))
}

/// Processor time of this process, user and system, including the kernel's threads for it.
pub(crate) fn process_cpu() -> Nanos {
    from_timespec(clock_gettime(ClockId::ProcessCPUTime))
}

fn from_timespec(time: rustix::time::Timespec) -> Nanos {
    let secs = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
    Nanos(secs.saturating_mul(1_000_000_000).saturating_add(nanos))
}
