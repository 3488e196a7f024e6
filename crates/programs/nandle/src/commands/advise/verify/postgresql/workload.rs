use std::fmt::Write as _;

use nandle_units::format_bytes;

use super::super::pairs::Kind;
use super::cluster::Cluster;
use crate::error::CliError;

/// Settings for fast loading. Durability isn't needed: after a crash the files are discarded.
pub(super) const LOADING: &str = "fsync = off\nfull_page_writes = off\nmax_wal_size = 8GB\n";
/// Bytes of one unit of pgbench's scale, with its index.
const SCALE_BYTES: u64 = 15 << 20;
/// Bytes of one row of the fact table, with its index.
const FACT_BYTES: u64 = 220;
/// Seconds of one run of transactions.
const RUN_SECONDS: u32 = 10;
/// Index ranges of the queries, in rows per ten thousand.
const RANGES_BY_TEN_THOUSAND: [u64; 4] = [1, 10, 50, 200];

/// A workload, identical for both sides.
pub(super) struct Workload {
    pub(super) kind: Kind,
    pub(super) data_bytes: u64,
    pub(super) sessions: u32,
}

impl Workload {
    pub(super) fn describe(&self) -> String {
        let data = format_bytes(self.data_bytes);
        match self.kind {
            Kind::Oltp => {
                format!(
                    "pgbench's transactions, {} clients, {data} of data, {RUN_SECONDS} s a run",
                    self.sessions
                )
            }
            Kind::Olap => {
                format!("a scan and index look-ups of {data} from a cold cache, {} at once", self.clients())
            }
        }
    }

    /// Concurrent queries.
    fn clients(&self) -> u32 {
        self.sessions.min(4)
    }

    pub(super) fn load(&self, cluster: &Cluster<'_>) -> Result<(), CliError> {
        match self.kind {
            Kind::Oltp => {
                let scale = (self.data_bytes / SCALE_BYTES).max(1);
                let words = ["--initialize", "--quiet", "--scale", &scale.to_string()].map(str::to_owned);
                cluster.pgbench(&words).map(|_| ())
            }
            Kind::Olap => cluster.sql(&self.facts()).map(|_| ()),
        }
    }

    /// Creates rows in key order and an index in an unrelated order.
    fn facts(&self) -> [String; 4] {
        let rows = self.rows();
        [
            "select setseed(0.5)".into(),
            format!(
                "create table facts as select i, (random() * {rows})::int as key, i % 1000 as amount, \
                 repeat('x', 100) as filler from generate_series(1, {rows}) i"
            ),
            "create index on facts (key)".into(),
            "vacuum (analyze, freeze) facts".into(),
        ]
    }

    fn rows(&self) -> u64 {
        (self.data_bytes / FACT_BYTES).max(10_000)
    }

    /// Work per second: transactions, or rounds of all queries.
    pub(super) fn run(&self, cluster: &Cluster<'_>) -> Result<f64, CliError> {
        let printed = match self.kind {
            Kind::Oltp => {
                let words = ["--no-vacuum", "--jobs=2", "--random-seed=1"].map(str::to_owned);
                let more = [format!("--client={}", self.sessions), format!("--time={RUN_SECONDS}")];
                cluster.pgbench(&[&words[..], &more[..]].concat())?
            }
            Kind::Olap => {
                let script = cluster.script("queries.sql", &self.queries())?;
                let words = ["--no-vacuum", "--transactions=1", "--random-seed=1"].map(str::to_owned);
                let more = [format!("--client={}", self.clients()), format!("--file={}", script.display())];
                cluster.pgbench(&[&words[..], &more[..]].concat())?
            }
        };
        transactions_per_second(&printed)
            .ok_or_else(|| CliError::failed(format!("pgbench printed no rate: {}", printed.trim())))
    }

    /// A scan, and index ranges with rows scattered over the table.
    fn queries(&self) -> String {
        let rows = self.rows();
        let mut text = String::from("select sum(amount) from facts where amount < 990;\n");
        for range in RANGES_BY_TEN_THOUSAND {
            let width = rows * range / 10_000;
            let _ = writeln!(text, "\\set low random(1, {})", rows - width);
            let _ =
                writeln!(text, "select sum(amount) from facts where key between :low and :low + {width};");
        }
        text
    }
}

/// Parses `tps = 123.4 (without initial connection time)`.
fn transactions_per_second(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.trim().strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pgbenchs_rate_is_found() {
        let printed = "number of failed transactions: 0 (0.000%)\nlatency average = 1.2 ms\n\
                       tps = 812.345678 (without initial connection time)\n";
        assert_eq!(transactions_per_second(printed), Some(812.345_678));
        assert_eq!(transactions_per_second("latency average = 1.2 ms"), None);
        assert_eq!(transactions_per_second("tps = 0.0 (x)"), None);
    }
}
