//! Durable commits of eight pages on real disks.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::ext4::LoopImage;
use crate::bench::results::{Comparison, Runs};
use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const METHOD: &str = "Commits a second of 8 pages of 4 KiB anywhere in 64 MiB, each durable before the next, one \
    client. Every round runs each contender once, in turns, each on a new file that is written whole first; the ratios are \
    those within rounds. A policy with a size behind it has a staging area of that size, the others one of 8 MiB; 64 MiB hold \
    the whole run, so that nothing has to go home meanwhile. `bare` is one write of 32 KiB and one fdatasync. SQLite: 8 updates of rows of 4000 bytes in a \
    transaction, journal_mode=WAL, synchronous=FULL.";

const ROUNDS: usize = 5;
const COMMITS: u64 = 1000;
const SQLITE: &str = "sqlite";
const CONTENDERS: [&str; 9] = [
    "bare",
    "direct",
    "doublewrite",
    "stable-buffer",
    LARGE_BUFFER,
    "stable-ring",
    LARGE_RING,
    "out-of-place",
    SQLITE,
];
const LARGE_BUFFER: &str = "stable-buffer:64MiB";
const LARGE_RING: &str = "stable-ring:64MiB";
/// Compared pairs.
const PAIRS: [(&str, &str); 12] = [
    ("bare", "direct"),
    ("bare", "doublewrite"),
    ("bare", "stable-buffer"),
    ("bare", LARGE_BUFFER),
    ("bare", "stable-ring"),
    ("bare", LARGE_RING),
    ("bare", "out-of-place"),
    ("doublewrite", "stable-buffer"),
    ("doublewrite", LARGE_BUFFER),
    (SQLITE, "stable-buffer"),
    (SQLITE, LARGE_BUFFER),
    (SQLITE, "out-of-place"),
];

/// Compares on the disk under this checkout, and on a journaled ext4 in a loop image if one can be
/// mounted.
pub(super) fn comparisons() -> Outcome<Vec<Comparison>> {
    let build = ["build", "--release", "--quiet", "--package", "nandle-pages", "--example", "commits"];
    if !succeeds(&mut cargo(&build))? {
        return Err("the example `commits` doesn't build".into());
    }
    let folder = workspace_root().join("target/bench-pages");
    fs::create_dir_all(&folder)?;
    let mut comparisons = rounds(&folder, "this disk")?;
    match LoopImage::mount(&folder) {
        Ok(image) => comparisons.extend(rounds(image.folder(), "ext4 with a journal in a loop image")?),
        Err(why) => output::say(&format!("ext4 in a loop image: SKIPPED, {why}")),
    }
    fs::remove_dir_all(folder)?;
    Ok(comparisons)
}

fn rounds(folder: &Path, place: &str) -> Outcome<Vec<Comparison>> {
    let contenders = CONTENDERS.into_iter().filter(|name| *name != SQLITE || has_sqlite());
    let mut series: Vec<(&str, Vec<f64>)> = contenders.map(|name| (name, Vec::new())).collect();
    for round in 0..ROUNDS {
        output::say(&format!("{place}: round {} of {ROUNDS}", round + 1));
        // The first series rotates, so that the order favours none.
        let count = series.len();
        for turn in 0..count {
            let Some((name, figures)) = series.get_mut((turn + round) % count) else { continue };
            figures.push(if *name == SQLITE { sqlite(folder)? } else { store(folder, name)? });
        }
    }
    let figures =
        |wanted: &str| series.iter().find(|(name, _)| *name == wanted).map(|(_, figures)| figures.clone());
    let pairs = PAIRS.iter().filter_map(|(baseline, candidate)| {
        let (theirs, ours) = (figures(baseline)?, figures(candidate)?);
        let (theirs, ours) =
            (Runs { name: baseline, figures: theirs }, Runs { name: candidate, figures: ours });
        Some(Comparison::new(&format!("durable commits of 8 pages, {place}"), "commits/s", theirs, ours))
    });
    pairs.collect()
}

fn store(folder: &Path, contender: &str) -> Outcome<f64> {
    let program = build_folder().join("release/examples/commits");
    let ran = Command::new(program).arg(folder).arg(contender).arg(COMMITS.to_string()).output()?;
    if !ran.status.success() {
        return Err(format!("{contender}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    Ok(String::from_utf8(ran.stdout)?.trim().parse()?)
}

fn has_sqlite() -> bool {
    Command::new("sqlite3")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Page writes through SQLite's own program, without its start and the creation of the table.
fn sqlite(folder: &Path) -> Outcome<f64> {
    let file = folder.join("bench.sqlite");
    let made = "PRAGMA page_size=4096; PRAGMA journal_mode=WAL; CREATE TABLE pages(number INTEGER PRIMARY KEY, contents BLOB);
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i<16383)
        INSERT INTO pages SELECT i, randomblob(4000) FROM n; PRAGMA wal_checkpoint(TRUNCATE);";
    feed(&file, made)?;
    let mut script = String::from("PRAGMA synchronous=FULL;\n");
    for commit in 0..COMMITS {
        script += "BEGIN;";
        for page in 0..8 {
            let number = (commit * 8 + page) * 7919 % 16384;
            let _ = write!(script, "UPDATE pages SET contents=zeroblob(4000) WHERE number={number};");
        }
        script += "COMMIT;\n";
    }
    let began = Instant::now();
    feed(&file, &script)?;
    let seconds = began.elapsed().as_secs_f64();
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("bench.sqlite{suffix}")));
    }
    Ok(COMMITS as f64 / seconds)
}

fn feed(file: &Path, script: &str) -> Outcome {
    let mut child = Command::new("sqlite3").arg(file).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    child.stdin.take().ok_or("sqlite3 has no input")?.write_all(script.as_bytes())?;
    if child.wait()?.success() { Ok(()) } else { Err("sqlite3 failed".into()) }
}
