use crate::experiments::{CommitCost, CommitMethod, ExtentState};
use crate::{CommitTime, DeviceProfile, Experiments, Interval};

/// Smallest log write of most databases (`PostgreSQL`'s page).
const PAGE_BYTES: u64 = 8 << 10;

/// Commit methods in order of preference. Databases use `fdatasync` on their log file by default;
/// the others follow by similarity. The flag is true for methods that use a file.
const PREFERRED: [(CommitMethod, bool); 6] = [
    (CommitMethod::Fdatasync, true),
    (CommitMethod::Fsync, true),
    (CommitMethod::WriteThenFlush, false),
    (CommitMethod::DurableWrite, true),
    (CommitMethod::DurableWrite, false),
    (CommitMethod::OpenSync, true),
];

/// The representative commit of a device: a database's default method on a file that overwrites
/// existing data, as its log will. It isn't the fastest method, since servers don't use that one.
fn usual_commit<'a>(commits: impl Iterator<Item = &'a CommitCost>) -> Option<CommitTime> {
    let is_plain =
        |cost: &&CommitCost| cost.extent == ExtentState::Overwritten && cost.writes_per_commit == 1;
    let plain: Vec<&CommitCost> = commits.filter(is_plain).collect();
    let usual = PREFERRED.iter().find_map(|way| {
        let of_way = plain.iter().filter(|cost| (cost.method, cost.in_file) == *way);
        of_way.min_by_key(|cost| (cost.write_bytes.abs_diff(PAGE_BYTES), cost.write_bytes))
    })?;
    Some(CommitTime::of(usual))
}

impl Experiments {
    /// Timed commits, one per method. Those of `flush` are preferred. Those of `transactions` are
    /// used if only they have enough observations for a tail.
    pub fn commits(&self) -> impl Iterator<Item = &CommitCost> + Clone {
        let flush = self.flush.as_ref().map_or(&[][..], |conducted| &conducted.findings.commits);
        let transactions =
            self.transactions.as_ref().map_or(&[][..], |conducted| &conducted.findings.commits);
        let has_better = move |cost: &&CommitCost| {
            transactions.iter().any(|other| is_same_way(other, cost) && knows_more(other, cost))
        };
        let has_no_worse = move |cost: &&CommitCost| {
            flush.iter().any(|other| is_same_way(other, cost) && !knows_more(cost, other))
        };
        let of_flush = flush.iter().filter(move |cost| !has_better(cost));
        of_flush.chain(transactions.iter().filter(move |cost| !has_no_worse(cost)))
    }

    /// The representative one of these commits.
    pub fn usual_commit(&self) -> Option<CommitTime> {
        usual_commit(self.commits())
    }
}

fn is_same_way(one: &CommitCost, other: &CommitCost) -> bool {
    let way = |cost: &CommitCost| {
        (cost.method, cost.extent, cost.write_bytes, cost.writes_per_commit, cost.in_file)
    };
    way(one) == way(other)
}

/// Returns true if only `one` has a tail.
fn knows_more(one: &CommitCost, other: &CommitCost) -> bool {
    one.latency_ns.p99.is_some() && other.latency_ns.p99.is_none()
}

impl CommitTime {
    /// Summarises a commit cost.
    pub fn of(cost: &CommitCost) -> Self {
        Self {
            method: cost.method,
            in_file: cost.in_file,
            write_bytes: cost.write_bytes,
            median_ns: cost.commit_ns,
            p99_ns: cost.latency_ns.p99,
        }
    }

    /// 99th percentile as an interval, if there were enough observations.
    pub fn tail_ns(&self) -> Option<Interval<f64>> {
        self.p99_ns.map(|p99| Interval::exact(p99 as f64))
    }
}

impl DeviceProfile {
    /// Commit time of the device. For older profiles it is computed from the measured commits.
    pub fn commit(&self) -> Option<CommitTime> {
        self.derived.commit_ns.or_else(|| self.experiments.usual_commit()).or(self.derived.flush_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{FlushCosts, Transactions};
    use crate::{Conducted, LatencySummary};

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
    fn the_usual_commit_is_not_the_fastest() {
        use CommitMethod::{DurableWrite, Fdatasync, WriteThenFlush};
        use ExtentState::{Extended, Overwritten};
        let mut commits = vec![
            cost(WriteThenFlush, false, Overwritten, 50.0),
            cost(DurableWrite, false, Overwritten, 10.0),
            cost(Fdatasync, true, Extended, 900.0),
            cost(Fdatasync, true, Overwritten, 100.0),
        ];
        let commit = usual_commit(commits.iter()).unwrap();
        assert_eq!((commit.method, commit.in_file, commit.p99_ns), (Fdatasync, true, Some(7000)));
        assert_eq!(commit.median_ns, Interval::exact(100.0));
        assert!(commits.iter().filter(|cost| commit.is_of(cost)).count() == 1);
        commits.retain(|cost| !cost.in_file);
        assert_eq!(usual_commit(commits.iter()).unwrap().method, WriteThenFlush, "a model has no files");
        assert_eq!(usual_commit([].iter()), None);
    }

    fn conducted<T>(findings: T) -> Conducted<T> {
        Conducted {
            complete: true,
            ended_by: None,
            failed: None,
            elapsed_ns: 0,
            bytes_written: 0,
            remarks: Vec::new(),
            findings,
        }
    }

    /// Median, mean and tail of one figure come from the same experiment.
    #[test]
    fn the_flush_experiment_is_preferred() {
        use CommitMethod::{Fdatasync, WriteThenFlush};
        let flush = |method, in_file, median_ns| {
            let commits = vec![cost(method, in_file, ExtentState::Overwritten, median_ns)];
            Some(conducted(FlushCosts { commits, ..FlushCosts::default() }))
        };
        let commits = vec![cost(Fdatasync, true, ExtentState::Overwritten, 924.0)];
        let mut experiments = Experiments {
            transactions: Some(conducted(Transactions { commits, mixed: Vec::new() })),
            flush: flush(Fdatasync, true, 368.0),
            ..Experiments::default()
        };
        let median = |experiments: &Experiments| experiments.usual_commit().unwrap().median_ns;
        assert_eq!(median(&experiments), Interval::exact(368.0));
        assert_eq!(experiments.commits().count(), 1);
        let few = experiments.flush.as_mut().unwrap().findings.commits.first_mut().unwrap();
        few.latency_ns.p99 = None;
        assert_eq!(median(&experiments), Interval::exact(924.0), "flush timed too few commits for a tail");
        assert_eq!(experiments.commits().count(), 1);
        experiments.flush = flush(WriteThenFlush, false, 100.0);
        assert_eq!(median(&experiments), Interval::exact(924.0), "flush timed no commits in a file");
        experiments.transactions = Some(conducted(Transactions::default()));
        assert_eq!(median(&experiments), Interval::exact(100.0));
    }
}
