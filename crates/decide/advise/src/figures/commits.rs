use nandle_profile::Interval;
use nandle_profile::experiments::{CommitCost, CommitMethod, ExtentState};
use nandle_units::format_bytes;

use super::Figures;
use super::physics::non_falling;
use super::words::{bounded, number, time};
use super::writes::PROBE_WRITES;
use crate::settings::{Figure, MissingFigure};
use nandle_profile::arithmetic::widen;

/// Instruction for timing commits in files.
pub(crate) const PROBE_FILES: &str = "let the probe write to a file on the database's file system \
    (a modelled drive has none): nandle probe DIRECTORY --budget 10m --write-limit 20GiB";

fn missing_figure(needs: &'static str) -> MissingFigure {
    MissingFigure { needs, how: PROBE_WRITES }
}

/// Name of a commit method.
pub(crate) fn method_name(method: CommitMethod) -> &'static str {
    let named = METHOD_NAMES.iter().find(|(named, ..)| *named == method);
    named.map_or("another commit method", |(_, name, _)| name)
}

/// Short name of a commit method, for narrow columns.
pub(crate) fn short_method_name(method: CommitMethod) -> &'static str {
    let named = METHOD_NAMES.iter().find(|(named, ..)| *named == method);
    named.map_or("another method", |(.., short)| short)
}

const METHOD_NAMES: [(CommitMethod, &str, &str); 5] = [
    (CommitMethod::WriteThenFlush, "a write and a flush", "flush"),
    (CommitMethod::DurableWrite, "a durable write (O_DSYNC)", "O_DSYNC"),
    (CommitMethod::Fdatasync, "a write and fdatasync", "fdatasync"),
    (CommitMethod::Fsync, "a write and fsync", "fsync"),
    (CommitMethod::OpenSync, "a durable write (O_SYNC)", "O_SYNC"),
];

impl Figures<'_> {
    /// Commits of one write into blocks that were written before, as in recycled logs. Prefers
    /// commits timed in a file with blocking system calls, as databases make them.
    fn commits(&self) -> impl Iterator<Item = &CommitCost> {
        let alone = self.plain_commits();
        let in_file = alone.clone().any(|cost| cost.in_file);
        alone.filter(move |cost| cost.in_file == in_file)
    }

    /// Commits of a single overwrite, in files and on the device.
    fn plain_commits(&self) -> impl Iterator<Item = &CommitCost> + Clone {
        let all = self.profile.experiments.commits();
        all.filter(|cost| cost.extent == ExtentState::Overwritten && cost.writes_per_commit == 1)
    }

    /// Commit of each method with the size nearest to `write_bytes`, and its 99th percentile.
    pub(crate) fn commit_methods(&self, write_bytes: u64) -> Vec<(CommitMethod, Figure, Option<u64>)> {
        let mut methods: Vec<CommitMethod> = self.commits().map(|cost| cost.method).collect();
        methods.sort_unstable();
        methods.dedup();
        let nearest = |method: CommitMethod| {
            let of_method = self.commits().filter(|cost| cost.method == method);
            of_method.min_by_key(|cost| (cost.write_bytes.abs_diff(write_bytes), cost.write_bytes))
        };
        methods
            .into_iter()
            .filter_map(nearest)
            .map(|cost| (cost.method, commit_figure(cost), cost.latency_ns.p99))
            .collect()
    }

    /// Mean time of a durable write of `write_bytes` by `fdatasync`, or by the most similar method
    /// measured.
    pub(crate) fn flush_mean(&self, write_bytes: u64) -> Result<Figure, MissingFigure> {
        let preferred = [
            CommitMethod::Fdatasync,
            CommitMethod::Fsync,
            CommitMethod::WriteThenFlush,
            CommitMethod::DurableWrite,
        ];
        let cost = preferred.into_iter().find_map(|method| {
            let of_method = self.commits().filter(|cost| cost.method == method);
            of_method.min_by_key(|cost| (cost.write_bytes.abs_diff(write_bytes), cost.write_bytes))
        });
        Ok(mean_of(cost.ok_or(missing_figure("the time of a flush after a small write"))?))
    }

    /// Mean time of a write of exactly `write_bytes` and a flush, on the device itself. Files are
    /// timed with one size only. Times don't fall with the size.
    pub(crate) fn flush_mean_of(&self, write_bytes: u64) -> Result<Figure, MissingFigure> {
        let flushed =
            self.plain_commits().filter(|cost| !cost.in_file && cost.method == CommitMethod::WriteThenFlush);
        let mut means =
            non_falling(flushed.map(|cost| (cost.write_bytes, mean_ns(cost))).collect()).into_iter();
        let missing = missing_figure("the time of a flush after writes of several sizes");
        let (_, mean) = means.find(|(bytes, _)| *bytes == write_bytes).ok_or(missing)?;
        Ok(mean_figure(CommitMethod::WriteThenFlush, write_bytes, mean))
    }

    /// Median time of a database commit.
    pub(crate) fn commit(&self) -> Result<Figure, MissingFigure> {
        let commit = self.profile.commit().ok_or(missing_figure("the time of a commit"))?;
        let tail = commit.p99_ns.map(|p99| format!(", 99 % at most {}", time(p99 as f64)));
        let says = format!(
            "{} of {} takes {} (median){}",
            method_name(commit.method),
            format_bytes(commit.write_bytes),
            bounded(&commit.median_ns, time),
            tail.unwrap_or_default()
        );
        Ok(Figure::new("commit_ns", commit.median_ns, says))
    }

    /// 99th percentile of a database commit.
    pub(crate) fn commit_tail(&self) -> Result<Figure, MissingFigure> {
        let missing = missing_figure("the 99th percentile of commits");
        let tail = self.profile.commit().and_then(|commit| commit.tail_ns()).ok_or(missing)?;
        Ok(Figure::new("commit_p99_ns", tail, format!("99 % of commits take at most {}", time(tail.value))))
    }

    /// Commits per second of one writer, and of the number of writers that gains from group commit.
    pub(crate) fn group_commit(&self) -> Result<Figure, MissingFigure> {
        let gain = self.profile.derived.group_commit.ok_or(missing_figure(
            "the gain of group \
            commit",
        ))?;
        let says = format!(
            "{} commits a second alone, {} with {} writers that share flushes",
            bounded(&gain.alone_per_s, number),
            bounded(&gain.together_per_s, number),
            bounded(&widen(&gain.writers), number)
        );
        Ok(Figure::new("commits_per_s", gain.together_per_s, says))
    }
}

fn commit_figure(cost: &CommitCost) -> Figure {
    let p99 = cost.latency_ns.p99.map(|p99| format!(", 99 % at most {}", time(p99 as f64)));
    let says = format!(
        "{} of {} takes {} (median){}",
        method_name(cost.method),
        format_bytes(cost.write_bytes),
        bounded(&cost.commit_ns, time),
        p99.unwrap_or_default()
    );
    Figure::new("commit_ns", cost.commit_ns, says)
}

fn mean_of(cost: &CommitCost) -> Figure {
    mean_figure(cost.method, cost.write_bytes, mean_ns(cost))
}

fn mean_figure(method: CommitMethod, write_bytes: u64, mean: Interval<f64>) -> Figure {
    let what = format!("{} of {}", method_name(method), format_bytes(write_bytes));
    Figure::new("flush_mean_ns", mean, format!("{what} takes {} on average", time(mean.value)))
}

/// Mean time of a commit. Its relative uncertainty is that of the median, which comes from the same
/// observations.
fn mean_ns(cost: &CommitCost) -> Interval<f64> {
    let value = cost.latency_ns.mean.unwrap_or(cost.commit_ns.value);
    let [low, high] =
        [cost.commit_ns.low, cost.commit_ns.high].map(|bound| value * bound / cost.commit_ns.value);
    Interval { value, low, high }
}
