//! What reading and writing temporary data costs, and which clusters and fan-in follow from it.

mod requests;

use nandle_io::buffer::GRAIN_BYTES;

use crate::SpillError;
use crate::budget::buffer_bytes_of_many;
use crate::merge::{MergePlan, predicted_bytes};
use crate::rows::cluster_head::CLUSTER_HEAD_BYTES;
use crate::space::cluster::HEADER_BYTES;

/// Random reads of one size, with so many outstanding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadCost {
    /// Length of a request.
    pub request_bytes: usize,
    /// Requests outstanding.
    pub depth: u32,
    /// What the device reads then.
    pub bytes_per_second: f64,
}

/// What a device was measured to do; the caller fills it from a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct SpillCosts {
    /// Random reads by size and depth, in any order. Clusters have one of these sizes.
    pub random_reads: Vec<ReadCost>,
    /// Bandwidth of sequential writes.
    pub write_bytes_per_second: f64,
    /// The least length of a write, and how many must be outstanding, for that bandwidth. Less is used where memory is short.
    pub write_request_bytes: usize,
    /// See above.
    pub writes_outstanding: usize,
    /// What the host spends on a request, while it does nothing else: beside what reads were measured to take, since those that a
    /// merge or a join waits for don't come as evenly as a measurement's.
    pub request_seconds: f64,
    /// What is freed at once: a multiple of the device's erase block or zone.
    pub zone_bytes: u64,
}

impl Default for SpillCosts {
    /// An assumption for a device of which nothing is known: 100 µs and 1 GB/s for a read, sixteen at once, up to 1 GB/s in all;
    /// writes of 256 KiB at the same bandwidth, and 2 µs of the host for a request.
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

/// How much memory writes take.
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

/// More than this isn't calculated with, whatever callers expect: it would take any device years.
pub(crate) const EXPECTED_BYTES_MAX: u64 = 1 << 50;
/// What of a cluster isn't rows.
const OVERHEAD_BYTES: usize = HEADER_BYTES + CLUSTER_HEAD_BYTES;
/// Clusters below this would hold little but their headers.
const CLUSTER_BYTES_MIN: usize = 512;

/// What is to be sorted, and in what.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Bytes of rows, in all.
    pub(crate) bytes: u64,
    /// Bytes of rows in a run.
    pub(crate) run_bytes: u64,
    /// Memory for merging.
    pub(crate) memory_bytes: usize,
    /// What a run takes of it beside its cluster.
    pub(crate) by_run_bytes: usize,
    /// What the device can do.
    pub(crate) block_bytes: usize,
    pub(crate) cluster_bytes_max: usize,
}

/// Clusters read ahead for each request that is to be outstanding: those that have come and wait for their turn behind a slower one
/// are none. On the modelled X25-E, whose reads of 4 KiB need eight outstanding, merging takes 3.2 s with eight ahead, 2.3 s with
/// sixteen, and 2.0 s from thirty-two on.
const AHEAD_BY_DEPTH: usize = 4;

/// Clusters to read ahead, so that as many requests are outstanding; one where requests come one after the other.
fn read_ahead(depth: u32) -> usize {
    if depth <= 1 { 1 } else { AHEAD_BY_DEPTH * depth as usize }
}

/// How many runs can be merged at once.
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

/// No request is longer than this, and no zone.
const LONGEST_BYTES: u64 = 1 << 40;
/// No device has more requests outstanding.
const DEEPEST: u64 = 1 << 20;

impl SpillCosts {
    /// Refuses figures that no device can have been measured to have.
    ///
    /// # Errors
    /// A rate isn't a number above 0, a time isn't a number from 0 on, or a length or a depth is 0 or beyond all devices.
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
        refused("seconds of a request", self.request_seconds.to_string(), "a number from 0 on".into())
    }

    /// Buffers as long as the device wants writes, and as long as any cluster, but each at most a `part` of the memory, and all of them
    /// about an eighth; two at least, so that one is filled while the other is written.
    ///
    /// # Errors
    /// The caller wants clusters of an impossible length.
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

    /// The cluster and the reads ahead with which merging takes the least time; none where not even two of the smallest clusters
    /// fit. A cluster that the caller wants is the only one that is looked at.
    pub(crate) fn choose(&self, work: Work, wanted_bytes: Option<usize>) -> Option<MergePlan> {
        let costs = self.candidates(work, wanted_bytes);
        let plans = costs.iter().filter_map(|cost| self.plan(work, *cost));
        // Of equals the one with the larger fan-in: it has room for what is longer than expected.
        plans.min_by(|one, other| one.seconds.total_cmp(&other.seconds).then(other.fan_in.cmp(&one.fan_in)))
    }

    /// Requests that could read clusters.
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
        // A size that wasn't measured: one whose time lies nearest to it, in proportion.
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
        // What is in a cluster beside rows is read and written as well.
        let stored =
            |bytes: u64| bytes.div_ceil((cluster_bytes - OVERHEAD_BYTES) as u64) * cluster_bytes as u64;
        let runs = work.bytes.div_ceil(work.run_bytes.max(1));
        let moved = stored(predicted_bytes(runs, work.run_bytes, fan_in));
        let read_bytes = moved + stored(work.bytes);
        let reads = read_bytes as f64 / cluster_bytes as f64;
        // A write carries as much as the longest cluster that fits.
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

    /// A device that takes `access` seconds for any request, one at a time, and then transfers 100 MB/s.
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
    fn seeks_make_clusters_large_and_their_lack_makes_them_small() {
        let disk = one_at_a_time(10e-3).choose(WORK, None).unwrap();
        let flash = one_at_a_time(20e-6).choose(WORK, None).unwrap();
        assert!(disk.cluster_bytes > 8 * flash.cluster_bytes, "{disk:?} {flash:?}");
        assert!(disk.written_bytes > 0 && flash.written_bytes == 0, "{disk:?} {flash:?}");
    }

    #[test]
    fn no_other_cluster_is_predicted_to_take_less() {
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

    /// A device that serves so many requests at once, each in 60 µs and what 3 GB/s take, for a host that spends so long on each.
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
    fn a_host_that_takes_its_time_for_requests_wants_fewer() {
        let [quick, slow] = [0.0, 20e-6].map(|seconds| parallel(16, seconds).choose(WORK, None).unwrap());
        assert!(slow.cluster_bytes > quick.cluster_bytes, "{quick:?} {slow:?}");
        let requests = (slow.read_bytes / slow.cluster_bytes as u64) as f64;
        let without = parallel(16, 0.0).choose(WORK, Some(slow.cluster_bytes)).unwrap();
        assert!(slow.seconds - without.seconds >= 20e-6 * requests, "{slow:?} {without:?}");
    }

    #[test]
    fn too_little_memory_for_two_clusters_is_no_plan() {
        assert_eq!(SpillCosts::default().choose(Work { memory_bytes: 8 << 10, ..WORK }, None), None);
    }
}
