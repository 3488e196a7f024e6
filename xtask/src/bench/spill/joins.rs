//! Joins of the same two files by each program in turns.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;

use super::python;
use super::rows::{JoinKeys, ROW_BYTES};
use super::trial::{self, COPYING, MEMORY_BYTES, OURS, ROUNDS, Trial, Tried};
use crate::Outcome;
use crate::bench::io::{json, nandle_program};
use crate::bench::python::Installed;

const PROGRAMS: [&str; 6] =
    [COPYING, "GNU sort and join", "DuckDB", "DataFusion, by hash", "DataFusion, by sort", OURS];
/// Limit of keys with eight digits.
const ROWS_MAX: u64 = 100_000_000;
const TASKS: [(&str, JoinKeys); 2] =
    [("each key about once", JoinKeys::Random), ("one key in half of the first file", JoinKeys::HalfAlike)];
/// Reads both files and writes as many MiB as are spilled; then reads these, and writes as many as
/// the result has.
const COPY: &str = "cat \"$1\" \"$2\" | { dd of=\"$3.spilled\" bs=1M count=\"$4\" iflag=fullblock conv=fsync status=none; cat > /dev/null; } \
    && dd of=\"$3.spilled\" oflag=nocache conv=notrunc count=0 status=none \
    && { cat \"$3.spilled\"; dd if=/dev/zero bs=1M count=\"$5\" status=none; } \
    | { dd of=\"$3\" bs=1M count=\"$5\" iflag=fullblock conv=fsync status=none; cat > /dev/null; } && rm \"$3.spilled\"";
/// Gives each of the two sorts half of the memory.
const SORT_AND_JOIN: &str = "export LC_ALL=C; sorted() { sort -t, -k1,1 -S 128M -T \"$1\" \"$2\"; }; \
    join -t, <(sorted \"$4\" \"$1\") <(sorted \"$4\" \"$2\") > \"$3\"";

pub(super) fn method(rows: u64) -> String {
    format!(
        "Two files of {rows} lines of {ROW_BYTES} bytes: eight digits, a comma, letters. The second has each number below the count once, in no order; those of \
         the first are random, or half of them the same. They are joined on it from file to file with {} MiB of memory, {ROUNDS} rounds in each of which \
         every program runs once, in turns; the inputs aren't in the page cache, the result is written and synced. {} Nandle: `nandle join`, without a \
         profile. GNU: `join` of two `sort -S 128M` that run at once. DuckDB: `COPY (… JOIN …)`, memory_limit, preserve_insertion_order off. DataFusion: the \
         same, a fair spill pool, by hash and with prefer_hash_join off. Copying: `cat` and `dd` of both files read once, as much as Nandle spills written, synced and \
         read once, and as much as the result has written and synced. Every result has as many lines, whose hashes have the same sum.",
        MEMORY_BYTES >> 20,
        trial::limit()
    )
}

/// MiB to copy.
struct Amounts {
    spilled: u64,
    result: u64,
}

/// Joins files with each kind of keys below a folder.
pub(super) fn compare(folder: &Path, rows: u64, installed: &Installed) -> Outcome<Tried> {
    if rows > ROWS_MAX {
        return Err(format!("keys of a join have eight digits: {rows} rows are too many").into());
    }
    let [left, right, result] = ["left", "right", "result.csv"].map(|name| folder.join(name));
    JoinKeys::EachOnce.write(&right, rows)?;
    let mut tried = Tried::default();
    for (task, keys) in TASKS {
        keys.write(&left, rows)?;
        let trial = Trial { task, programs: &PROGRAMS, inputs: &[&left, &right], result: &result, folder };
        let amounts = amounts(&trial)?;
        tried.add(trial.run(|program| command(program, &trial, &amounts, installed), sum)?);
    }
    Ok(tried)
}

fn nandle(trial: &Trial<'_>) -> Command {
    let mut nandle = Command::new(nandle_program());
    nandle.args(["join", "--delimiter", ",", "--memory", "256MiB", "--no-progress", "--json", "-o"]);
    nandle.arg(trial.result).args(trial.inputs);
    nandle
}

/// Joins once to determine the amounts.
fn amounts(trial: &Trial<'_>) -> Outcome<Amounts> {
    let told = json(&mut nandle(trial))?;
    let written = told.get("written_bytes").and_then(serde_json::Value::as_u64);
    let result = fs::metadata(trial.result)?.len();
    fs::remove_file(trial.result)?;
    Ok(Amounts { spilled: written.ok_or("no written_bytes")? >> 20, result: result >> 20 })
}

/// Command that joins or copies, or `None` if the program is missing.
fn command(program: &str, trial: &Trial<'_>, amounts: &Amounts, installed: &Installed) -> Option<Command> {
    let Trial { inputs, result, folder, .. } = trial;
    let python = |package, task| python::command(installed, package, task, MEMORY_BYTES, result, inputs);
    let shell = |script| {
        let mut shell = Command::new("bash");
        shell.args(["-o", "pipefail", "-c", script, "bash"]).args(*inputs).arg(result);
        shell
    };
    match program {
        COPYING => {
            let mut copy = shell(COPY);
            copy.args([amounts.spilled, amounts.result].map(|mib| mib.to_string()));
            Some(copy)
        }
        "GNU sort and join" => {
            let mut join = shell(SORT_AND_JOIN);
            join.arg(folder);
            Some(join)
        }
        "DuckDB" => python("duckdb", "join"),
        "DataFusion, by hash" => python("datafusion", "join"),
        "DataFusion, by sort" => python("datafusion", "merge-join"),
        _ => Some(nandle(trial)),
    }
}

/// Number of lines and sum of their hashes, which don't depend on the order.
fn sum(result: &Path) -> Outcome<String> {
    let mut lines = BufReader::with_capacity(1 << 20, File::open(result)?);
    let (mut line, mut count, mut sum) = (Vec::new(), 0_u64, 0_u64);
    while lines.read_until(b'\n', &mut line)? > 0 {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        sum = sum.wrapping_add(hasher.finish());
        count += 1;
        line.clear();
    }
    Ok(format!("{count} lines, {sum:016x}"))
}
