//! Dashboard of `nandle serve` under load: time of a page for one user and for many concurrent
//! users, always with new figures, and the server's memory.

mod client;
mod options;
mod server;
mod views;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use serde::Serialize;

use self::client::Client;
use self::options::Options;
use self::server::{Server, Sums};
use self::views::{View, Views};
use super::Bench;
use super::io::json;
use super::machine::{Machine, machine};
use super::release::{self, nandle_tables, probe};
use super::results::today;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "serve",
    about: "the dashboard's pages, for one person and for many at once (options: --rows 70M, --views 40, --people 20, --rounds 5, --in DIR)",
    run,
};

/// Memory limit of the server's group.
const GROUP_BYTES: u64 = 1 << 30;
/// Memory setting of the server. The rest of the group's limit is for its cache and code.
const MEMORY_BYTES: u64 = 512 << 20;

/// Results as recorded.
#[derive(Debug, Serialize)]
struct Record {
    benchmark: &'static str,
    date: String,
    method: String,
    machine: Machine,
    rows: String,
    /// Seconds from the server's start to the first reply.
    start_seconds: f64,
    /// Aggregates that answered all timed questions.
    sums: Sums,
    /// Compressed bytes of the page and all its resources.
    page_bytes: usize,
    /// Seconds until all figures of a page arrived, for one user.
    alone_seconds: Vec<f64>,
    /// Seconds until all figures arrived for each of many concurrent users.
    crowd_seconds: Vec<f64>,
    peak_bytes: Option<u64>,
    anonymous_bytes: u64,
}

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    release::build()?;
    let folder = options.folder.join("bench-serve");
    fs::create_dir_all(&folder)?;
    let measured = prepare(&options, &folder).and_then(|table| measure(&options, &folder, &table));
    fs::remove_dir_all(&folder)?;
    let record = measured?;
    let page = page(&record)?;
    let kept = workspace_root().join("benches").join(BENCH.name);
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("latest.md"), &page)?;
    let name = format!("{}-{}.json", record.date, record.machine.slug());
    fs::write(kept.join(name), serde_json::to_string_pretty(&record)? + "\n")?;
    output::say(&page);
    Ok(())
}

/// Makes a profile of the disk, and the table.
fn prepare(options: &Options, folder: &Path) -> Outcome<PathBuf> {
    let profile = folder.join("profile.json");
    probe(folder, "30s", None, &profile)?;
    let table = folder.join("flights");
    let mut generate = nandle_tables();
    generate.args(["table", "generate"]).arg(&table).args(["--rows", &options.rows, "--seed", "1"]);
    json(generate.arg("--profile").arg(profile))?;
    Ok(table)
}

fn measure(options: &Options, folder: &Path, table: &Path) -> Outcome<Record> {
    let began = Instant::now();
    let server = Server::start(table, folder)?;
    let client = server.client();
    let mut views = Views::ask(&client)?;
    let start_seconds = began.elapsed().as_secs_f64();
    let page_bytes = client.page_bytes()?;
    output::say("sums are made");
    let sums = server.wait_for_sums()?;
    output::say(&format!("one person, {} pages", options.views));
    let alone = (0..options.views).map(|_| seconds_of(&client, &views.next()));
    let alone_seconds = alone.collect::<Result<Vec<f64>, String>>()?;
    let mut crowd_seconds = Vec::new();
    for round in 1..=options.rounds {
        output::say(&format!("{} people at once, round {round}", options.people));
        let shown: Vec<View> = (0..options.people).map(|_| views.next()).collect();
        crowd_seconds.extend(at_once(&client, &shown)?);
    }
    let taken = server.end()?;
    Ok(Record {
        benchmark: BENCH.name,
        date: today()?,
        method: method(options),
        machine: machine(folder),
        rows: options.rows.clone(),
        start_seconds,
        sums,
        page_bytes,
        alone_seconds,
        crowd_seconds,
        peak_bytes: taken.peak_bytes,
        anonymous_bytes: taken.anonymous_bytes,
    })
}

fn method(options: &Options) -> String {
    format!(
        "{} made-up flights (seed 1) as `nandle table generate` lays them out; `nandle serve` has {} MiB (`--memory`) in a memory cgroup of {} MiB, page cache included. A page is all that the dashboard asks for \
         when an airport is looked at, asked for at once; its time goes until the last answer is there. Each page is of other months than every one before, so that none is answered from what the server keeps. \
         Pages are asked for when the server has made sums of the flights, from which it answers. One person looks at {} pages, one after the other; then {} people each ask for one at the same moment, {} times.",
        options.rows,
        MEMORY_BYTES >> 20,
        GROUP_BYTES >> 20,
        options.views,
        options.people,
        options.rounds,
    )
}

/// Seconds until all data of a page arrived.
fn seconds_of(client: &Client, view: &View) -> Result<f64, String> {
    let began = Instant::now();
    let ask = |path: &String| client.get(path).map(|_| ()).map_err(|why| why.to_string());
    thread::scope(|scope| {
        let asked: Vec<_> = view.questions.iter().map(|path| scope.spawn(move || ask(path))).collect();
        asked.into_iter().try_for_each(|answer| {
            answer.join().unwrap_or_else(|_| Err("a question's thread failed".to_owned()))
        })
    })?;
    Ok(began.elapsed().as_secs_f64())
}

fn at_once(client: &Client, views: &[View]) -> Result<Vec<f64>, String> {
    thread::scope(|scope| {
        let people: Vec<_> = views.iter().map(|view| scope.spawn(move || seconds_of(client, view))).collect();
        people
            .into_iter()
            .map(|person| person.join().unwrap_or_else(|_| Err("a person's thread failed".to_owned())))
            .collect()
    })
}

fn page(record: &Record) -> Outcome<String> {
    let mut text = format!(
        "# The dashboard\n\n`cargo xtask bench serve`, {}. {}\n\n{}\n\n",
        record.date,
        record.machine.sentence(),
        record.method
    );
    text += "| seconds until all figures of a page are there | pages | median | p95 | longest |\n|---|--:|--:|--:|--:|\n";
    for (who, seconds) in [("one person", &record.alone_seconds), ("many at once", &record.crowd_seconds)] {
        let mut sorted = seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: usize| {
            sorted.get((sorted.len() * share).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
        };
        writeln!(text, "| {who} | {} | {:.2} | {:.2} | {:.2} |", sorted.len(), at(50), at(95), at(100))?;
    }
    let memory =
        record.peak_bytes.map_or_else(|| "unknown".to_owned(), |bytes| format!("{} MiB", bytes >> 20));
    writeln!(
        text,
        "\nFrom its start to its first answer the server took {:.1} s, and {:.1} s for sums of the flights ({} rows, {:.1} MiB), while the flights answered. The page and all that it loads are {} KiB, compressed. Peak memory: {memory}, {} MiB without page cache.",
        record.start_seconds,
        record.sums.making_seconds,
        record.sums.rows,
        record.sums.file_bytes as f64 / f64::from(1 << 20),
        record.page_bytes.div_ceil(1024),
        record.anonymous_bytes >> 20,
    )?;
    Ok(text)
}
