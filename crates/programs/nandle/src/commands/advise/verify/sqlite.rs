//! Trials in SQLite's library, on one database with the defaults and one with the advice.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nandle_advise::settings::Setting;
use nandle_units::format_bytes;
use rusqlite::Connection;

use super::contest::Contest;
use super::pairs::{Kind, Side, Steps, Trial, contest};
use super::{child, cold};
use crate::error::CliError;

/// Bytes of one row, with its index.
const ROW_BYTES: u64 = 150;
/// Length of a run of transactions.
const RUN_TIME: Duration = Duration::from_secs(3);
/// Rows per range query.
const RANGE_ROWS: u64 = 200;
/// Range queries per round.
const RANGES: u64 = 50;
/// Rows inserted between checks for Ctrl-C.
const BATCH_ROWS: u64 = 50_000;

/// Runs the workloads that represent the question's.
pub(super) fn run(trial: &Trial<'_>, steps: &mut Steps<'_>) -> Result<Vec<Contest>, CliError> {
    let made = tempfile::Builder::new().prefix("nandle-verify-").tempdir_in(trial.directory);
    let home = made.map_err(|error| {
        CliError::failed(format!("{}: making a directory for the trial: {error}", trial.directory.display()))
    })?;
    let databases = [Side::Defaults, Side::Advised].map(|side| Database::of(trial, side, home.path()));
    for database in &databases {
        steps.say("loading");
        database.load(trial)?;
    }
    let [defaults, advised] = &databases;
    let kinds = Kind::of(trial.advice.question.workload);
    kinds
        .iter()
        .map(|kind| {
            contest(trial, *kind, describe(*kind, trial.data_bytes), steps, |side| {
                let database = if side == Side::Defaults { defaults } else { advised };
                cold::evict(home.path())
                    .map_err(|error| CliError::failed(format!("emptying the page cache: {error}")))?;
                database.run(*kind, trial)
            })
        })
        .collect()
}

fn describe(kind: Kind, data_bytes: u64) -> String {
    let data = format_bytes(data_bytes);
    match kind {
        Kind::Oltp => {
            format!("transactions that change one row, {data} of data, {} s a run", RUN_TIME.as_secs())
        }
        Kind::Olap => format!("a scan and {RANGES} index ranges of {data} from a cold cache"),
    }
}

/// One side's database.
struct Database {
    path: PathBuf,
    pragmas: String,
    rows: u64,
}

impl Database {
    fn of(trial: &Trial<'_>, side: Side, home: &Path) -> Self {
        let set = trial.advice.settings().filter(|setting| setting.only_a_comment.is_none());
        let (name, pragmas) = match side {
            Side::Defaults => ("defaults.db", String::new()),
            Side::Advised => ("advised.db", set.map(pragma).collect()),
        };
        Self { path: home.join(name), pragmas, rows: (trial.data_bytes / ROW_BYTES).max(10_000) }
    }

    fn open(&self) -> Result<Connection, CliError> {
        let connection = Connection::open(&self.path).map_err(|error| self.failed(&error))?;
        connection.execute_batch(&self.pragmas).map_err(|error| self.failed(&error))?;
        Ok(connection)
    }

    fn failed(&self, error: &rusqlite::Error) -> CliError {
        CliError::failed(format!("{}: {error}", self.path.display()))
    }

    /// Inserts rows in key order and builds an index in an unrelated order.
    fn load(&self, trial: &Trial<'_>) -> Result<(), CliError> {
        let connection = self.open()?;
        let execute = |sql: &str| connection.execute_batch(sql).map_err(|error| self.failed(&error));
        execute("create table facts (id integer primary key, key integer, amount integer, filler text);")?;
        let mut first = 0;
        while first < self.rows {
            if trial.cancel.is_cancelled() {
                return Err(child::interrupted());
            }
            let last = (first + BATCH_ROWS).min(self.rows) - 1;
            execute(&format!(
                "with recursive n(i) as (select {first} union all select i + 1 from n where i < {last})
                 insert into facts select i, (i * 2654435761) % {}, i % 1000, printf('%0100d', i) from n;",
                self.rows
            ))?;
            first = last + 1;
        }
        execute("create index facts_key on facts (key); analyze;")
    }

    /// Work per second: transactions, or rounds of queries.
    fn run(&self, kind: Kind, trial: &Trial<'_>) -> Result<f64, CliError> {
        let connection = self.open()?;
        match kind {
            Kind::Oltp => self.transactions(&connection, trial),
            Kind::Olap => self.queries(&connection, trial),
        }
    }

    fn transactions(&self, connection: &Connection, trial: &Trial<'_>) -> Result<f64, CliError> {
        let update = connection.prepare("update facts set amount = amount + 1 where id = ?1");
        let mut update = update.map_err(|error| self.failed(&error))?;
        let began = Instant::now();
        let mut done = 0_u64;
        while began.elapsed() < RUN_TIME {
            if trial.cancel.is_cancelled() {
                return Err(child::interrupted());
            }
            update
                .execute([scattered(done, self.rows).cast_signed()])
                .map_err(|error| self.failed(&error))?;
            done += 1;
        }
        Ok(done as f64 / began.elapsed().as_secs_f64())
    }

    fn queries(&self, connection: &Connection, trial: &Trial<'_>) -> Result<f64, CliError> {
        let sum = |sql: &str| {
            connection
                .query_row(sql, [], |row| row.get::<_, Option<i64>>(0))
                .map_err(|error| self.failed(&error))
        };
        let began = Instant::now();
        sum("select sum(amount) from facts where amount < 990")?;
        for range in 0..RANGES {
            if trial.cancel.is_cancelled() {
                return Err(child::interrupted());
            }
            let low = scattered(range, self.rows);
            sum(&format!("select sum(amount) from facts where key between {low} and {}", low + RANGE_ROWS))?;
        }
        Ok(1.0 / began.elapsed().as_secs_f64())
    }
}

fn pragma(setting: &Setting) -> String {
    format!("pragma {} = {};\n", setting.name, setting.value)
}

/// Pseudorandom row, the same in every run: a multiplication that permutes 64-bit numbers.
fn scattered(number: u64, rows: u64) -> u64 {
    (number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16) % rows
}
