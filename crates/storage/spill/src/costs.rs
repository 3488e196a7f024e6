//! Cost model of temporary space, and the cluster size and fan-in chosen by it.

mod requests;

use nandle_io::buffer::GRAIN_BYTES;

use crate::SpillError;
use crate::budget::buffer_bytes_of_many;
use crate::merge::{MergePlan, predicted_bytes};
use crate::rows::cluster_head::CLUSTER_HEAD_BYTES;
use crate::space::cluster::HEADER_BYTES;

/// Bandwidth of random reads of one size at one queue depth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadCost {
    /// Length of a request, in bytes.
    pub request_bytes: usize,
    /// Queue depth: requests outstanding.
    pub depth: u32,
    /// Bandwidth of these reads, in bytes per second.
    pub bytes_per_second: f64,
}

/// Measured performance of a device; the caller fills it from a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct SpillCosts {
    /// Random reads by size and depth, in any order. A cluster has one of these sizes.
    pub random_reads: Vec<ReadCost>,
    /// Bandwidth of sequential writes, in bytes per second.
    pub write_bytes_per_second: f64,
    /// Shortest write that reaches that bandwidth, in bytes. Shorter writes are used when memory is
    /// short.
    pub write_request_bytes: usize,
    /// Writes that must be outstanding to reach that bandwidth. Fewer are used when memory is
    /// short.
    pub writes_outstanding: usize,
    /// Time that the host spends on a request, in seconds. It is added to the measured read time,
    /// because the reads of a merge or a join arrive less evenly than those of a measurement.
    pub request_seconds: f64,
    /// Bytes released at once: a multiple of the device's erase block or zone.
    pub zone_bytes: u64,
}

impl Default for SpillCosts {
    /// Assumptions for a device that was never measured. Reads take 100 µs plus transfer at 1 GB/s,
    /// sixteen run at once, and all together reach 1 GB/s. Writes of 256 KiB reach the same
    /// bandwidth. The host spends 2 µs on a request.
    fn default() -> Self {
        const ACCESS_SECONDS: f64 = 100e-6;
        const BYTES_PER_SECOND: f64 = 1e9;
        let sizes = (12..=20).map(|power| 1_usize << power);
        let costs = sizes.flat_map(|request_bytes| {
            [1_u32, 2, 4, 8, 16].map(|depth| {
                let one_seconds = ACCESS_SECONDS + request_bytes as f64 / BYTES_PER_SECOND;
                let bytes_per_second = f64::from(depth) * request_bytes as f64 / one_seconds;
                ReadCost { request_bytes, depth, bytes_per_second: bytes_per_second.min(BYTES_PER_SECOND) }
            })
        });
        Self {
            random_reads: costs.collect(),
            write_bytes_per_second: BYTES_PER_SECOND,
            write_request_bytes: 256 << 10,
            writes_outstanding: 4,
            request_seconds: 2e-6,
            zone_bytes: 4 << 20,
        }
    }
}

/// Memory for write buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteMemory {
    pub(crate) buffer_bytes: usize,
    pub(crate) buffers: usize,
}

impl WriteMemory {
    pub(crate) fn bytes(self) -> usize {
        self.buffers * self.buffer_bytes
    }
}

/// Upper bound of the expected bytes. Moving more would take any device years.
pub(crate) const EXPECTED_BYTES_MAX: u64 = 1 << 50;
/// Bytes of a cluster that hold no rows.
const OVERHEAD_BYTES: usize = HEADER_BYTES + CLUSTER_HEAD_BYTES;
/// Shortest cluster, in bytes. A shorter one would hold little but its headers.
const CLUSTER_BYTES_MIN: usize = 512;

/// Size of a sort or join, and the memory and device it runs on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Bytes of all rows.
    pub(crate) bytes: u64,
    /// Bytes of rows in a run.
    pub(crate) run_bytes: u64,
    /// Memory for merging, in bytes.
    pub(crate) memory_bytes: usize,
    /// Memory of each run besides its cluster, in bytes.
    pub(crate) by_run_bytes: usize,
    /// Logical block of the device, in bytes.
    pub(crate) block_bytes: usize,
    pub(crate) cluster_bytes_max: usize,
}

/// Clusters read ahead for each outstanding request. A cluster that has arrived but waits behind a
/// slower one occupies a buffer without keeping the device busy. On the modelled X25-E, where reads
/// of 4 KiB need a depth of eight, a merge takes 3.2 s with eight clusters ahead, 2.3 s with
/// sixteen, and 2.0 s with 32 or more.
const AHEAD_BY_DEPTH: usize = 4;

/// Returns the number of clusters to read ahead to keep `depth` requests outstanding.
fn read_ahead(depth: u32) -> usize {
    if depth <= 1 { 1 } else { AHEAD_BY_DEPTH * depth as usize }
}

/// Returns how many runs fit into one merge.
pub(crate) fn fan_in(
    memory_bytes: usize,
    cluster_bytes: usize,
    by_run_bytes: usize,
    read_ahead: usize,
) -> usize {
    let cluster_bytes = buffer_bytes_of_many(cluster_bytes);
    let read_ahead_bytes = read_ahead * cluster_bytes + GRAIN_BYTES;
    memory_bytes.saturating_sub(read_ahead_bytes) / (cluster_bytes + by_run_bytes)
}

/// Upper bound of a request or zone, in bytes.
const LONGEST_BYTES: u64 = 1 << 40;
/// Upper bound of a queue depth.
const DEEPEST: u64 = 1 << 20;

impl SpillCosts {
    /// Rejects figures that no device can have.
    ///
    /// # Errors
    /// A rate isn't a positive number, a time is negative or not a number, or a length or depth is
    /// 0 or out of range.
    pub(crate) fn check(&self) -> Result<(), SpillError> {
        let refused = |what, got: String, expected: String| Err(SpillError::Options { what, got, expected });
        let rate = |what, got: f64| {
            let is_rate = got.is_finite() && got > 0.0;
            if is_rate { Ok(()) } else { refused(what, got.to_string(), "a number above 0".into()) }
        };
        let count = |what, got: u64, most: u64| {
            if (1..=most).contains(&got) {
                Ok(())
            } else {
                refused(what, got.to_string(), format!("1 to {most}"))
            }
        };
        for cost in &self.random_reads {
            rate("bytes per second of a random read", cost.bytes_per_second)?;
            count("bytes of a random read", cost.request_bytes as u64, LONGEST_BYTES)?;
            count("the depth of a random read", cost.depth.into(), DEEPEST)?;
        }
        rate("bytes per second of writes", self.write_bytes_per_second)?;
        count("bytes of a write", self.write_request_bytes as u64, LONGEST_BYTES)?;
        count("writes outstanding", self.writes_outstanding as u64, DEEPEST)?;
        count("bytes of a zone", self.zone_bytes, LONGEST_BYTES)?;
        if self.request_seconds.is_finite() && self.request_seconds >= 0.0 {
            return Ok(());
        }
        refused("seconds of a request", self.request_seconds.to_string(), "a number of at least 0".into())
    }

    /// Chooses write buffers as long as the device's preferred write and the longest cluster. Each
    /// takes at most a `part` of the memory, and all of them about an eighth. There are at least
    /// two, so that one is filled while the other is written.
    ///
    /// # Errors
    ///
    /// `wanted_cluster_bytes` is out of range.
    pub(crate) fn write_memory(
        &self,
        budget_bytes: usize,
        wanted_cluster_bytes: Option<usize>,
        part: usize,
    ) -> Result<WriteMemory, SpillError> {
        if let Some(bytes) = wanted_cluster_bytes
            && !(CLUSTER_BYTES_MIN..=budget_bytes).contains(&bytes)
        {
            return Err(SpillError::Options {
                what: "the cluster",
                got: format!("{bytes} bytes"),
                expected: format!("at least {CLUSTER_BYTES_MIN} bytes, and at most the memory"),
            });
        }
        let largest = self.random_reads.iter().map(|cost| cost.request_bytes).max().unwrap_or_default();
        let wanted = self.write_request_bytes.max(largest).min(budget_bytes / part);
        let buffer_bytes = wanted.max(wanted_cluster_bytes.unwrap_or_default()).max(1);
        let buffer_bytes = buffer_bytes.next_multiple_of(GRAIN_BYTES);
        let buffers = (budget_bytes / 8 / buffer_bytes).clamp(2, self.writes_outstanding.max(2));
        Ok(WriteMemory { buffer_bytes, buffers })
    }

    /// Chooses the cluster size and read-ahead with the shortest predicted merge. Returns none if
    /// not even two of the smallest clusters fit. If `wanted_bytes` is given, only that cluster
    /// size is considered.
    pub(crate) fn choose(&self, work: Work, wanted_bytes: Option<usize>) -> Option<MergePlan> {
        let costs = self.candidates(work, wanted_bytes);
        let plans = costs.iter().filter_map(|cost| self.plan(work, *cost));
        // On a tie, the larger fan-in has room for more runs than expected.
        plans.min_by(|one, other| one.seconds.total_cmp(&other.seconds).then(other.fan_in.cmp(&one.fan_in)))
    }

    /// Returns the requests that can read whole clusters.
    pub(crate) fn candidates(&self, work: Work, wanted_bytes: Option<usize>) -> Vec<ReadCost> {
        let fits = |bytes: usize| {
            bytes > OVERHEAD_BYTES
                && bytes.is_multiple_of(work.block_bytes)
                && bytes <= work.cluster_bytes_max
        };
        let Some(wanted_bytes) = wanted_bytes else {
            return self.random_reads.iter().copied().filter(|cost| fits(cost.request_bytes)).collect();
        };
        let measured: Vec<ReadCost> =
            self.random_reads.iter().copied().filter(|cost| cost.request_bytes == wanted_bytes).collect();
        if !measured.is_empty() {
            return measured;
        }
        // The size wasn't measured: scale the time of the nearest one.
        let nearest = self.random_reads.iter().min_by_key(|cost| cost.request_bytes.abs_diff(wanted_bytes));
        nearest.map(|cost| ReadCost { request_bytes: wanted_bytes, ..*cost }).into_iter().collect()
    }

    fn plan(&self, work: Work, cost: ReadCost) -> Option<MergePlan> {
        let ReadCost { request_bytes: cluster_bytes, depth, .. } = cost;
        let read_ahead = read_ahead(depth);
        let fan_in = fan_in(work.memory_bytes, cluster_bytes, work.by_run_bytes, read_ahead);
        if fan_in < 2 {
            return None;
        }
        // Headers of clusters are read and written as well.
        let stored =
            |bytes: u64| bytes.div_ceil((cluster_bytes - OVERHEAD_BYTES) as u64) * cluster_bytes as u64;
        let runs = work.bytes.div_ceil(work.run_bytes.max(1));
        let moved = stored(predicted_bytes(runs, work.run_bytes, fan_in));
        let read_bytes = moved + stored(work.bytes);
        let reads = read_bytes as f64 / cluster_bytes as f64;
        // A write is as long as the longest cluster that fits.
        let write_bytes = work.cluster_bytes_max as f64;
        let writes = moved as f64 / write_bytes;
        let seconds = reads * self.read_seconds(cost) + writes * self.write_seconds(write_bytes);
        Some(MergePlan { cluster_bytes, read_ahead, fan_in, read_bytes, written_bytes: moved, seconds })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const WORK: Work = Work {
        bytes: 200 << 20,
        run_bytes: 1 << 20,
        memory_bytes: 2 << 20,
        by_run_bytes: 512,
        block_bytes: 512,
        cluster_bytes_max: 1 << 20,
    };

    /// A device that serves one request at a time: `access_seconds`, then transfer at 100 MB/s.
    pub(crate) fn one_at_a_time(access_seconds: f64) -> SpillCosts {
        let random_reads = (11..=20).map(|power| {
            let request_bytes = 1 << power;
            let seconds = access_seconds + request_bytes as f64 / 1e8;
            ReadCost { request_bytes, depth: 1, bytes_per_second: request_bytes as f64 / seconds }
        });
        SpillCosts {
            random_reads: random_reads.collect(),
            write_bytes_per_second: 1e8,
            ..SpillCosts::default()
        }
    }

    #[test]
    fn slow_seeks_call_for_large_clusters() {
        let disk = one_at_a_time(10e-3).choose(WORK, None).unwrap();
        let flash = one_at_a_time(20e-6).choose(WORK, None).unwrap();
        assert!(disk.cluster_bytes > 8 * flash.cluster_bytes, "{disk:?} {flash:?}");
        assert!(disk.written_bytes > 0 && flash.written_bytes == 0, "{disk:?} {flash:?}");
    }

    #[test]
    fn chosen_cluster_has_the_least_predicted_time() {
        for access_seconds in [10e-3, 1e-3, 1e-4, 1e-5] {
            let costs = one_at_a_time(access_seconds);
            let best = costs.choose(WORK, None).unwrap();
            for power in 11..=20 {
                if let Some(other) = costs.choose(WORK, Some(1 << power)) {
                    assert!(best.seconds <= other.seconds, "{best:?} {other:?}");
                }
            }
        }
    }

    /// A device that serves `depth_max` requests at once, each in 60 µs plus transfer at 3 GB/s,
    /// and a host that spends `request_seconds` on each.
    pub(crate) fn parallel(depth_max: u32, request_seconds: f64) -> SpillCosts {
        let random_reads = (11..=17).flat_map(|power| {
            let request_bytes = 1_usize << power;
            (0..).map(|doublings| 1_u32 << doublings).take_while(move |depth| *depth <= depth_max).map(
                move |depth| {
                    let each = (60e-6 + request_bytes as f64 / 3e9) / f64::from(depth);
                    let bytes_per_second = request_bytes as f64 / each.max(request_bytes as f64 / 3e9);
                    ReadCost { request_bytes, depth, bytes_per_second }
                },
            )
        });
        SpillCosts {
            random_reads: random_reads.collect(),
            write_bytes_per_second: 2e9,
            request_seconds,
            ..SpillCosts::default()
        }
    }

    #[test]
    fn slow_host_prefers_fewer_and_larger_requests() {
        let [quick, slow] = [0.0, 20e-6].map(|seconds| parallel(16, seconds).choose(WORK, None).unwrap());
        assert!(slow.cluster_bytes > quick.cluster_bytes, "{quick:?} {slow:?}");
        let requests = (slow.read_bytes / slow.cluster_bytes as u64) as f64;
        let without = parallel(16, 0.0).choose(WORK, Some(slow.cluster_bytes)).unwrap();
        assert!(slow.seconds - without.seconds >= 20e-6 * requests, "{slow:?} {without:?}");
    }

    #[test]
    fn memory_below_two_clusters_gives_no_plan() {
        assert_eq!(SpillCosts::default().choose(Work { memory_bytes: 8 << 10, ..WORK }, None), None);
    }
}
