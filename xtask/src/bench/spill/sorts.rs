//! The same files, sorted by each program in turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::duckdb::DuckDb;
use super::rows::{Keys, ROW_BYTES};
use crate::bench::io::nandle_program;
use crate::bench::results::{Comparison, Runs};
use crate::command::answer;
use crate::{Outcome, output};

const ROUNDS: usize = 3;
const MEMORY_BYTES: u64 = 256 << 20;

pub(super) fn method(rows: u64) -> String {
    format!(
        "{rows} lines of {ROW_BYTES} bytes, sorted as bytes from file to file with {} MiB of memory, {ROUNDS} rounds in each of which every program \
         runs once, in turns; the input isn't in the page cache, the result is written and synced. GNU sort: `LC_ALL=C sort -S 256M --parallel=2`; \
         DuckDB: `COPY (… ORDER BY line)`, memory_limit, preserve_insertion_order off. Nandle without a profile. \
         Copying: `dd` of the file, read and written once and synced, twice: what sorting must read and write at the least. \
         Every result was compared with the others, byte by byte.",
        MEMORY_BYTES >> 20
    )
}

/// A program that sorts.
struct Candidate {
    name: &'static str,
    seconds: Vec<f64>,
}

struct Files {
    input: PathBuf,
    result: PathBuf,
    folder: PathBuf,
}

pub(super) fn comparisons(folder: &Path, rows: u64) -> Outcome<Vec<Comparison>> {
    let folder = folder.join("bench-spill");
    fs::create_dir_all(&folder)?;
    let duckdb = DuckDb::install(&folder);
    if duckdb.is_none() {
        output::say("DuckDB: SKIPPED, it can't be installed from PyPI here");
    }
    let compared = Keys::ALL.into_iter().map(|keys| compare(&folder, keys, rows, duckdb.as_ref()));
    let comparisons = compared.collect::<Outcome<Vec<_>>>();
    fs::remove_dir_all(folder)?;
    Ok(comparisons?.into_iter().flatten().collect())
}

fn compare(folder: &Path, keys: Keys, rows: u64, duckdb: Option<&DuckDb>) -> Outcome<Vec<Comparison>> {
    let files =
        Files { input: folder.join("input"), result: folder.join("result"), folder: folder.to_owned() };
    keys.write(&files.input, rows)?;
    let names = ["copying", "GNU sort", "DuckDB", "nandle"];
    let mut candidates = names.map(|name| Candidate { name, seconds: Vec::new() });
    let mut digest = None;
    for round in 0..ROUNDS {
        output::say(&format!("{}: round {} of {ROUNDS}", keys.name(), round + 1));
        for turn in 0..candidates.len() {
            let Some(candidate) = candidates.get_mut((turn + round) % names.len()) else { continue };
            let Some(command) = command(candidate.name, &files, duckdb) else { continue };
            candidate.seconds.extend(timed(command, &files)?);
            if candidate.name != "copying" {
                check(&files.result, candidate.name, &mut digest)?;
            }
        }
    }
    let [copying, gnu, duckdb, nandle] = candidates;
    let ours = || Runs { name: nandle.name, figures: nandle.seconds.clone() };
    let others = [copying, gnu, duckdb].into_iter().filter(|other| other.seconds.len() == ROUNDS);
    let against = |other: Candidate| {
        Comparison::new(keys.name(), "s", Runs { name: other.name, figures: other.seconds }, ours())
    };
    others.map(against).collect()
}

/// What sorts, or copies twice; none where the program isn't there.
fn command(name: &str, files: &Files, duckdb: Option<&DuckDb>) -> Option<Command> {
    let Files { input, result, folder } = files;
    let mut command = match name {
        "copying" => {
            let mut shell = Command::new("sh");
            let copy = "dd if=\"$1\" of=\"$2\" bs=1M conv=fsync status=none";
            shell.args(["-c", &format!("{copy} && dd of=\"$2\" oflag=nocache conv=notrunc count=0 status=none && rm \"$2\" && {copy}"), "sh"]);
            shell.arg(input).arg(result);
            shell
        }
        "GNU sort" => {
            let mut sort = Command::new("sort");
            sort.env("LC_ALL", "C")
                .args(["--parallel=2", "-S", "256M", "-T"])
                .arg(folder)
                .arg("-o")
                .arg(result)
                .arg(input);
            sort
        }
        "DuckDB" => match duckdb {
            Some(duckdb) => duckdb.command(input, result, MEMORY_BYTES),
            None => return None,
        },
        _ => {
            let mut nandle = Command::new(nandle_program());
            nandle.args(["sort", "--memory", "256MiB", "--no-progress", "-o"]).arg(result).arg(input);
            nandle
        }
    };
    command.stdout(Stdio::null());
    Some(command)
}

/// Runs it with the input out of the page cache, and syncs the result. None: it failed, which is said.
fn timed(mut command: Command, files: &Files) -> Outcome<Option<f64>> {
    _ = fs::remove_file(&files.result);
    let forget = format!("if={}", files.input.display());
    _ = Command::new("dd").args([&forget, "iflag=nocache", "count=0", "status=none"]).status();
    let began = Instant::now();
    let ran = command.status()?;
    if !ran.success() {
        output::say(&format!("  {command:?} failed"));
        return Ok(None);
    }
    fs::File::open(&files.result)?.sync_all()?;
    Ok(Some(began.elapsed().as_secs_f64()))
}

/// The results of all programs are the same.
fn check(result: &Path, name: &str, digest: &mut Option<String>) -> Outcome {
    let Some(path) = result.to_str() else { return Err("a path that is no text".into()) };
    let sum = answer("sha256sum", &[path]).ok_or("sha256sum failed")?;
    match digest {
        Some(digest) if *digest != sum => Err(format!("{name} sorted otherwise than the one before").into()),
        _ => {
            *digest = Some(sum);
            Ok(())
        }
    }
}
