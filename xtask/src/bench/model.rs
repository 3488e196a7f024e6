//! Speed and memory of the modelled drives, and their determinism for equal seeds.

use std::collections::BTreeMap;
use std::fs;

use serde::Serialize;

use super::Bench;
use super::machine::{Machine, machine};
use super::stats::Spread;
use crate::command::{answer, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench =
    Bench { name: "model", about: "speed and memory of the modelled drives, and 1 000 seeds run twice", run };

const RUNS: usize = 5;
const SEEDS: &str = "1000";

/// Figures of the example `speed`, with description and goal.
const FIGURES: [(&str, &str, Goal); 5] = [
    ("random_reads_per_cpu_s", "random reads of 4 KiB at depth 32, per CPU second", Goal::AtLeast(1e6)),
    (
        "random_writes_steady_per_cpu_s",
        "random writes of 4 KiB at depth 32 with cleaning running, per CPU second",
        Goal::AtLeast(5e5),
    ),
    ("world_random_reads_per_cpu_s", "the same reads through the world, per CPU second", Goal::None),
    (
        "table_bytes_per_page",
        "bytes of tables for each page of a drive that is written whole",
        Goal::AtMost(16.0),
    ),
    ("making_4_tb_ms", "milliseconds to make and fill a drive of 4 TB", Goal::AtMost(10.0)),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Goal {
    None,
    AtLeast(f64),
    AtMost(f64),
}

/// Results as checked in.
#[derive(Debug, Serialize)]
struct Results {
    benchmark: &'static str,
    date: String,
    method: String,
    machine: Machine,
    figures: Vec<Figure>,
}

#[derive(Debug, Serialize)]
struct Figure {
    name: &'static str,
    what: &'static str,
    runs: Vec<f64>,
    #[serde(flatten)]
    spread: Spread,
    goal: String,
    reached: bool,
}

fn run(options: &[String]) -> Outcome {
    if let Some(option) = options.first() {
        return Err(format!("`model` takes no option, got {option:?}").into());
    }
    output::say(&format!("{SEEDS} seeds, each in two processes …"));
    let mut seeds = cargo(&["test", "--release", "--quiet", "--package", "nandle-model", "--test", "seeds"]);
    if !succeeds(seeds.env("NANDLE_SEEDS", SEEDS))? {
        return Err("equal seeds did not give equal bytes".into());
    }
    output::say(&format!("{RUNS} runs of the example `speed` …"));
    let runs = (0..RUNS).map(|_| one_run()).collect::<Outcome<Vec<_>>>()?;
    let figures = FIGURES.iter().map(|figure| Figure::new(*figure, &runs)).collect::<Outcome<_>>()?;
    let root = workspace_root();
    let results = Results {
        benchmark: BENCH.name,
        date: answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?,
        method: format!(
            "Medians of {RUNS} runs on one core, by the processor time of the thread; model `x25-m-g2` without contents. \
             Before that {SEEDS} seeds of mixed loads on flash drives, disks and arrays, one drive of them aged, each seed in two processes: every \
             completion and every byte read were equal."
        ),
        machine: machine(&root),
        figures,
    };
    output::say(&results.write()?);
    Ok(())
}

fn one_run() -> Outcome<BTreeMap<String, f64>> {
    let arguments = ["run", "--release", "--quiet", "--package", "nandle-model", "--example", "speed"];
    let ran = cargo(&arguments).output()?;
    if !ran.status.success() {
        return Err(format!("the example failed: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    Ok(serde_json::from_slice(&ran.stdout)?)
}

impl Figure {
    fn new(
        (name, what, goal): (&'static str, &'static str, Goal),
        runs: &[BTreeMap<String, f64>],
    ) -> Outcome<Self> {
        let runs: Vec<f64> = runs.iter().filter_map(|run| run.get(name).copied()).collect();
        let spread = Spread::of(&runs).ok_or_else(|| format!("the example gives no {name}"))?;
        Ok(Self { name, what, runs, spread, goal: goal.text(), reached: goal.is_reached(spread.median) })
    }

    fn row(&self) -> String {
        let reached = if self.reached { "" } else { " **not reached**" };
        let Spread { median, min, max } = self.spread;
        format!(
            "| {} | {} ({} to {}) | {}{reached} |",
            self.what,
            rounded(median),
            rounded(min),
            rounded(max),
            self.goal
        )
    }
}

impl Goal {
    fn is_reached(self, figure: f64) -> bool {
        match self {
            Self::None => true,
            Self::AtLeast(goal) => figure >= goal,
            Self::AtMost(goal) => figure <= goal,
        }
    }

    fn text(self) -> String {
        match self {
            Self::None => "–".into(),
            Self::AtLeast(goal) => format!("at least {}", rounded(goal)),
            Self::AtMost(goal) => format!("at most {}", rounded(goal)),
        }
    }
}

fn rounded(figure: f64) -> String {
    match figure {
        1e6.. => format!("{:.2} million", figure / 1e6),
        1e4.. => format!("{:.0} thousand", figure / 1e3),
        _ => format!("{figure:.2}"),
    }
}

impl Results {
    /// Writes the JSON and the table. Returns the table.
    fn write(&self) -> Outcome<String> {
        let folder = workspace_root().join("benches").join(self.benchmark);
        fs::create_dir_all(&folder)?;
        let file = format!("{}-{}.json", self.date, self.machine.slug());
        fs::write(folder.join(&file), serde_json::to_string_pretty(self)? + "\n")?;
        let rows: Vec<String> = self.figures.iter().map(Figure::row).collect();
        let table = format!(
            "# Benchmark `{}`, {}\n\n{}\n\n{}\n\n| figure | median (range) | goal |\n|---|--:|--:|\n{}\n\nEvery run: \
             [{file}]({file})\n",
            self.benchmark,
            self.date,
            self.method,
            self.machine.sentence(),
            rows.join("\n")
        );
        fs::write(folder.join("latest.md"), &table)?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_held_against_medians() {
        let runs: Vec<BTreeMap<String, f64>> = [9e5, 8e5, 2e6]
            .map(|figure| BTreeMap::from([("random_reads_per_cpu_s".to_owned(), figure)]))
            .into();
        let figure = Figure::new(FIGURES[0], &runs).unwrap();
        assert!(!figure.reached);
        assert!(figure.row().ends_with(
            "| 900 thousand (800 thousand to 2.00 million) | at least 1.00 million **not reached** |"
        ));
        assert!(Figure::new(FIGURES[3], &runs).is_err(), "a figure that is missing is no zero");
    }
}
