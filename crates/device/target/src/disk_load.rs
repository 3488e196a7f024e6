//! Load on a disk by other processes: the disk's counters (`/sys/block/…/stat`) minus those of this
//! process (`/proc/self/io`). Both count bytes transferred to or from storage, so the page cache
//! affects neither. Writes of the file system for this process, such as its journal, count as
//! others'.

use std::path::Path;

use nandle_io::Nanos;
use nandle_profile::OthersLoad;

use crate::facts::request_queue;
use crate::roots::{Roots, read_text};

/// Sector size of these counters, independent of the disk.
const SECTOR_BYTES: u64 = 512;

/// Counters of a disk and of this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSample {
    disk: String,
    all: Counters,
    /// `None` if the kernel doesn't count per process.
    own: Option<Counters>,
    /// Time of the reading since the system's start.
    uptime: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counters {
    /// Completed requests; 0 for a process, since the kernel doesn't count its requests.
    requests: u64,
    read_bytes: u64,
    written_bytes: u64,
}

/// Disk whose queue receives a path's requests; `None` if there isn't exactly one.
pub fn disk_of(path: &Path) -> Option<String> {
    request_queue(path).ok().map(|queue| queue.disk)
}

impl DiskSample {
    /// Current counters of a disk; `None` if it has none.
    pub fn take(disk: &str) -> Option<Self> {
        Self::read(&Roots::default(), disk)
    }

    /// Counters in a recorded system.
    pub fn read(roots: &Roots, disk: &str) -> Option<Self> {
        let stat = read_text(&roots.sys.join("block").join(disk).join("stat"))?;
        let own = read_text(&roots.proc.join("self/io")).and_then(|text| of_process(&text));
        let uptime = uptime(&read_text(&roots.proc.join("uptime"))?)?;
        Some(Self { disk: disk.to_owned(), all: of_disk(&stat)?, own, uptime })
    }

    /// Load of others since `earlier`, if this process was idle: the whole load of the disk.
    pub fn since_idle(&self, earlier: &Self) -> Option<OthersLoad> {
        self.load((earlier.all, self.all), self.uptime.since(earlier.uptime), true)
    }

    /// Load of others since `earlier`, without that of this process.
    pub fn since_busy(&self, earlier: &Self) -> Option<OthersLoad> {
        let (own_before, own) = earlier.own.zip(self.own)?;
        let beside = |sample: &Self, own: Counters| Counters {
            requests: 0,
            read_bytes: sample.all.read_bytes.saturating_sub(own.read_bytes),
            written_bytes: sample.all.written_bytes.saturating_sub(own.written_bytes),
        };
        let both = (beside(earlier, own_before), beside(self, own));
        self.load(both, self.uptime.since(earlier.uptime), false)
    }

    fn load(
        &self,
        (before, now): (Counters, Counters),
        elapsed: Nanos,
        has_requests: bool,
    ) -> Option<OthersLoad> {
        let seconds = elapsed.as_secs_f64();
        let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        (seconds > 0.0).then(|| OthersLoad {
            disk: self.disk.clone(),
            elapsed_ns: elapsed.0,
            requests_per_s: has_requests.then(|| per_s(now.requests, before.requests)),
            read_bytes_per_s: per_s(now.read_bytes, before.read_bytes),
            written_bytes_per_s: per_s(now.written_bytes, before.written_bytes),
        })
    }
}

/// Parses the kernel's `Documentation/block/stat.rst`: reads, merged, sectors, ticks, then the same
/// for writes.
fn of_disk(stat: &str) -> Option<Counters> {
    let fields: Vec<u64> = stat.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let [reads, _, sectors_read, _, writes, _, sectors_written, ..] = *fields.as_slice() else { return None };
    Some(Counters {
        requests: reads.saturating_add(writes),
        read_bytes: sectors_read.saturating_mul(SECTOR_BYTES),
        written_bytes: sectors_written.saturating_mul(SECTOR_BYTES),
    })
}

/// Parses `read_bytes: N` and `write_bytes: N`.
fn of_process(io: &str) -> Option<Counters> {
    let of = |name: &str| {
        io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
    };
    Some(Counters { requests: 0, read_bytes: of("read_bytes")?, written_bytes: of("write_bytes")? })
}

/// Parses the first of the two numbers of seconds.
fn uptime(text: &str) -> Option<Nanos> {
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
    let uptime = Nanos((seconds * 1e9) as u64);
    Some(uptime)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "  1000   0   2000   10   500   0   4000   20   0   15   30   0 0 0 0 0 0\n";
    const IO: &str = "rchar: 9\nwchar: 9\nsyscr: 9\nsyscw: 9\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 0\n";

    fn sample(at_s: u64, requests: u64, all: (u64, u64), own: Option<(u64, u64)>) -> DiskSample {
        let counters =
            |requests, (read_bytes, written_bytes)| Counters { requests, read_bytes, written_bytes };
        DiskSample {
            disk: "sda".into(),
            all: counters(requests, all),
            own: own.map(|own| counters(0, own)),
            uptime: Nanos::from_secs(at_s),
        }
    }

    #[test]
    fn counters_are_parsed() {
        let counters =
            |requests, read_bytes, written_bytes| Some(Counters { requests, read_bytes, written_bytes });
        assert_eq!(of_disk(STAT), counters(1500, 1_024_000, 2_048_000));
        assert_eq!(of_process(IO), counters(0, 4096, 8192));
        assert_eq!((of_disk("1 2 3"), of_process("rchar: 1")), (None, None));
        assert_eq!(uptime("350735.47 234388.90\n"), Some(Nanos(350_735_470_000_000)));
    }

    #[test]
    fn this_process_is_excluded_from_the_load() {
        let before = sample(7, 100, (1000, 500), Some((0, 0)));
        let after = sample(9, 300, (10_000, 20_500), Some((8000, 18_000)));
        let beside = after.since_busy(&before).unwrap();
        assert!(
            (beside.read_bytes_per_s - 500.0).abs() < 1e-9 && beside.requests_per_s.is_none(),
            "{beside:?}"
        );
        assert!((beside.written_bytes_per_s - 1000.0).abs() < 1e-9, "{beside:?}");
        let idle = after.since_idle(&before).unwrap();
        assert!(idle.requests_per_s.is_some_and(|rate| (rate - 100.0).abs() < 1e-9), "{idle:?}");
        let uncounted = sample(9, 300, (10_000, 20_500), None);
        assert_eq!(uncounted.since_busy(&before), None);
    }
}
