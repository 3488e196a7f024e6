use crate::experiments::{CommitCost, CommitMethod, ExtentState};
use crate::{CommitTime, DeviceProfile, Interval};

/// What most databases write to their log at least (`PostgreSQL`'s page).
const PAGE_BYTES: u64 = 8 << 10;

/// Ways to commit from that which a database calls by default on: `fdatasync` on its log's file, and what comes next to it.
const PREFERRED: [(CommitMethod, bool); 6] = [
    (CommitMethod::Fdatasync, true),
    (CommitMethod::Fsync, true),
    (CommitMethod::WriteThenFlush, false),
    (CommitMethod::DurableWrite, true),
    (CommitMethod::DurableWrite, false),
    (CommitMethod::OpenSync, true),
];

/// The commit that stands for a device: what a database calls on a file in the state that its log will be in, written over
/// what was there before. Not the fastest of several ways: the server doesn't call that one.
pub fn usual_commit(commits: &[CommitCost]) -> Option<CommitTime> {
    let plain = || {
        commits.iter().filter(|cost| cost.extent == ExtentState::Overwritten && cost.writes_per_commit == 1)
    };
    let usual = PREFERRED.iter().find_map(|way| {
        let of_way = plain().filter(|cost| (cost.method, cost.in_file) == *way);
        of_way.min_by_key(|cost| (cost.write_bytes.abs_diff(PAGE_BYTES), cost.write_bytes))
    })?;
    Some(CommitTime::of(usual))
}

impl CommitTime {
    /// A way to commit, summed up.
    pub fn of(cost: &CommitCost) -> Self {
        Self {
            method: cost.method,
            in_file: cost.in_file,
            write_bytes: cost.write_bytes,
            median_ns: cost.commit_ns,
            p99_ns: cost.latency_ns.p99,
        }
    }

    /// The 99th percentile as a figure, where enough was observed.
    pub fn tail_ns(&self) -> Option<Interval<f64>> {
        self.p99_ns.map(|p99| Interval::exact(p99 as f64))
    }
}

impl DeviceProfile {
    /// What a commit takes on the device; of a profile that was made before this was derived, from what was measured.
    pub fn commit(&self) -> Option<CommitTime> {
        let measured = || usual_commit(&self.experiments.flush.as_ref()?.findings.commits);
        self.derived.commit_ns.or_else(measured).or(self.derived.flush_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencySummary;

    fn cost(method: CommitMethod, in_file: bool, extent: ExtentState, median_ns: f64) -> CommitCost {
        CommitCost {
            method,
            extent,
            write_bytes: 8 << 10,
            writes_per_commit: 1,
            in_file,
            observations: 1000,
            commit_ns: Interval::exact(median_ns),
            latency_ns: LatencySummary { p99: Some(7000), ..LatencySummary::default() },
            flush_latency_ns: None,
        }
    }

    #[test]
    fn a_commit_is_what_a_database_calls_and_not_the_fastest() {
        use CommitMethod::{DurableWrite, Fdatasync, WriteThenFlush};
        use ExtentState::{Extended, Overwritten};
        let mut commits = vec![
            cost(WriteThenFlush, false, Overwritten, 50.0),
            cost(DurableWrite, false, Overwritten, 10.0),
            cost(Fdatasync, true, Extended, 900.0),
            cost(Fdatasync, true, Overwritten, 100.0),
        ];
        let commit = usual_commit(&commits).unwrap();
        assert_eq!((commit.method, commit.in_file, commit.p99_ns), (Fdatasync, true, Some(7000)));
        assert_eq!(commit.median_ns, Interval::exact(100.0));
        assert!(commits.iter().filter(|cost| commit.is_of(cost)).count() == 1);
        commits.retain(|cost| !cost.in_file);
        assert_eq!(usual_commit(&commits).unwrap().method, WriteThenFlush, "a model has no files");
        assert_eq!(usual_commit(&[]), None);
    }
}
