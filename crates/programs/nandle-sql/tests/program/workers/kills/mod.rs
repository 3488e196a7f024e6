//! Workers killed at random times: each query returns all its rows, or fails with an error that
//! names the worker, and always ends.
//!
//! By default one worker is killed in each of the 20 queries. `NANDLE_CASES=10 cargo test
//! --workspace --features nandle-replay/schema --test program kills -- --nocapture` kills ten in
//! each, 200 in all. The seeds, from `NANDLE_FIRST_SEED` on, determine the worker and the time.

mod end;
mod queries;

use std::time::Duration;

use end::{End, Running};
use queries::{QUERIES, TABLES, place};

use super::fleet::{Worker, urls};
use crate::draw::{Draw, seeds};
use crate::place::Place;

const WORKERS: usize = 3;
/// Follows the rows of a query.
const MARK: &str = "mark\nend of rows\n";

/// Workers over the same files, each restarted after a kill.
struct Fleet<'a> {
    place: &'a Place,
    workers: Vec<Worker>,
}

/// Time and worker of a kill.
#[derive(Debug, Clone, Copy)]
struct Kill {
    worker: usize,
    after: Duration,
    is_retried: bool,
}

/// Outcome of a query during which a worker was killed.
struct Killed {
    end: End,
    /// URL of the worker.
    url: String,
    /// Time from the worker's end to the query's.
    later: Duration,
}

/// Counts of the queries' outcomes.
#[derive(Debug, Default)]
struct Ends {
    whole: usize,
    run_again: usize,
    named: usize,
    latest: Duration,
}

impl Kill {
    /// Draws a time between a query's start and shortly after its usual end.
    fn draw(seed: u64, query: usize, usual: Duration) -> Self {
        let query = query as u64;
        let mut draw = Draw::of(seed.wrapping_mul(QUERIES.len() as u64).wrapping_add(query));
        let (worker, part) = (draw.below(WORKERS), draw.below(1050) as f64 / 1000.0);
        Self { worker, after: usual.mul_f64(part), is_retried: seed.wrapping_add(query) % 2 == 1 }
    }
}

impl<'a> Fleet<'a> {
    fn start(place: &'a Place) -> Self {
        Self { place, workers: (0..WORKERS).map(|_| worker(place)).collect() }
    }

    /// Starts a query on all workers.
    fn begin(&self, query: &str, more: &[&str]) -> Running {
        let urls = urls(&self.workers);
        let own = ["-c", query, "--format", "csv", "--workers", &urls, "--distribute-above", "0ms"];
        Running::begin(self.place.command(&[&TABLES[..], &own, more].concat()))
    }

    /// Kills a worker during a query, and starts a replacement after the query has ended.
    fn kill(&mut self, query: &str, kill: Kill) -> Killed {
        let running = self.begin(query, if kill.is_retried { &["--retry"] } else { &[] });
        std::thread::sleep(kill.after);
        self.workers[kill.worker].kill();
        let killed_at = running.age();
        let end = running.end();
        let killed = std::mem::replace(&mut self.workers[kill.worker], worker(self.place));
        let later = end.took.saturating_sub(killed_at);
        Killed { end, url: killed.url.clone(), later }
    }
}

fn worker(place: &Place) -> Worker {
    Worker::start(place, &[&TABLES[..], &["--threads", "1", "--memory", "256MiB"]].concat())
}

impl Ends {
    /// Checks the outcome of a query during which a worker was killed.
    fn judge(&mut self, what: &str, killed: &Killed, right: &str, is_retried: bool) {
        let Killed { end: End { is_done, rows, said, .. }, url, later } = killed;
        self.latest = self.latest.max(*later);
        if *is_done {
            assert!(rows == right, "{what}: {} of {} bytes of rows: {said}", rows.len(), right.len());
            *if said.contains(url) { &mut self.run_again } else { &mut self.whole } += 1;
            return;
        }
        assert!(!is_retried, "{what}: two workers are left: {said}");
        assert!(right.starts_with(rows), "{what}: what was written before the error is right: {said}");
        assert!(said.contains(url), "{what}: {url} was killed: {said}");
        self.named += 1;
    }
}

/// Rows of all queries from a single process.
fn alone(place: &Place) -> Vec<String> {
    let marked = QUERIES.map(|query| format!("{query};\nSELECT 'end of rows' AS mark"));
    std::fs::write(place.path("all.sql"), marked.join(";\n")).unwrap();
    let rows = place.done(&[&TABLES[..], &["-f", "all.sql", "--format", "csv"]].concat());
    rows.split_terminator(MARK).map(ToOwned::to_owned).collect()
}

#[test]
fn queries_have_all_rows_or_name_the_worker_that_was_killed() {
    let place = place();
    let right = alone(&place);
    assert_eq!(right.len(), QUERIES.len());
    assert!(right.iter().all(|rows| rows.lines().count() > 1), "each has rows");
    let mut fleet = Fleet::start(&place);
    let (seeds, mut ends) = (seeds(1), Ends::default());
    for (number, (query, right)) in QUERIES.iter().zip(&right).enumerate() {
        let usual = fleet.begin(query, &[]).end();
        assert!(usual.is_done && usual.rows == *right, "query {number}: {}", usual.said);
        for seed in seeds.clone() {
            let kill = Kill::draw(seed, number, usual.took);
            let what = format!("query {number}, seed {seed}, {kill:?}");
            ends.judge(&what, &fleet.kill(query, kill), right, kill.is_retried);
        }
    }
    eprintln!("kills in each of {} queries, seeds {seeds:?}: {ends:?}", QUERIES.len());
}
