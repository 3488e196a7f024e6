//! Sorts of the same files by each program in turns.

use std::path::Path;
use std::process::Command;

use super::python;
use super::rows::{Keys, ROW_BYTES};
use super::trial::{self, COPYING, MEMORY_BYTES, OURS, ROUNDS, Trial, Tried};
use crate::Outcome;
use crate::bench::io::nandle_program;
use crate::bench::python::Installed;
use crate::command::answer;

const PROGRAMS: [&str; 5] = [COPYING, "GNU sort", "DuckDB", "DataFusion", OURS];
/// Copies the file twice.
const COPY: &str = "copy() { dd if=\"$1\" of=\"$2\" bs=1M conv=fsync status=none; }; \
    copy \"$1\" \"$2\" && dd of=\"$2\" oflag=nocache conv=notrunc count=0 status=none && rm \"$2\" && copy \"$1\" \"$2\"";

pub(super) fn method(rows: u64) -> String {
    format!(
        "{rows} lines of {ROW_BYTES} bytes, sorted as bytes from file to file with {} MiB of memory, {ROUNDS} rounds in each of which every program \
         runs once, in turns; the input isn't in the page cache, the result is written and synced. {} GNU sort: `LC_ALL=C sort -S 256M --parallel=2`; \
         DuckDB: `COPY (… ORDER BY line)`, memory_limit, preserve_insertion_order off; DataFusion: the same, a fair spill pool. Nandle without a profile. \
         Copying: `dd` of the file, read and written once and synced, twice: what sorting must read and write at the least. \
         Every result was compared with the others, byte by byte.",
        MEMORY_BYTES >> 20,
        trial::limit()
    )
}

/// Sorts files of each kind below a folder.
pub(super) fn compare(folder: &Path, rows: u64, installed: &Installed) -> Outcome<Tried> {
    let (input, result) = (folder.join("input"), folder.join("result.csv"));
    let mut tried = Tried::default();
    for keys in Keys::ALL {
        keys.write(&input, rows)?;
        let trial =
            Trial { task: keys.name(), programs: &PROGRAMS, inputs: &[&input], result: &result, folder };
        tried.add(trial.run(|program| command(program, &trial, installed), digest)?);
    }
    Ok(tried)
}

/// Command that sorts, or copies twice, or `None` if the program is missing.
fn command(program: &str, trial: &Trial<'_>, installed: &Installed) -> Option<Command> {
    let Trial { inputs, result, folder, .. } = trial;
    let python = |package| python::command(installed, package, "sort", MEMORY_BYTES, result, inputs);
    match program {
        COPYING => {
            let mut shell = Command::new("sh");
            shell.args(["-c", COPY, "sh"]).args(*inputs).arg(result);
            Some(shell)
        }
        "GNU sort" => {
            let mut sort = Command::new("sort");
            sort.env("LC_ALL", "C").args(["--parallel=2", "-S", "256M", "-T"]).arg(folder);
            sort.arg("-o").arg(result).args(*inputs);
            Some(sort)
        }
        "DuckDB" => python("duckdb"),
        "DataFusion" => python("datafusion"),
        _ => {
            let mut nandle = Command::new(nandle_program());
            nandle.args(["sort", "--memory", "256MiB", "--no-progress", "-o"]).arg(result).args(*inputs);
            Some(nandle)
        }
    }
}

fn digest(result: &Path) -> Outcome<String> {
    let Some(path) = result.to_str() else { return Err("a path that is no text".into()) };
    let sum = answer("sha256sum", &[path]).ok_or("sha256sum failed")?;
    Ok(sum)
}
