//! Record of every run, and its tables.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::data::Facts;
use super::programs::Program;
use super::runs::{Figures, Run};
use crate::Outcome;
use crate::bench::machine::Machine;
use crate::bench::results::{file_name, write};
use crate::bench::speed::Speed;
use crate::bench::stats::Spread;

#[derive(Serialize)]
pub(super) struct Record {
    pub(super) benchmark: &'static str,
    pub(super) date: String,
    pub(super) method: String,
    pub(super) machine: Machine,
    pub(super) rows: u64,
    pub(super) stores: Facts,
    pub(super) runs: Vec<Run>,
}

/// Medians of a program's cubes at a speed.
struct Column<'a> {
    record: &'a Record,
    program: Program,
    speed: Speed,
}

impl Record {
    /// Writes the record and the tables. Returns the tables.
    pub(super) fn write(&self, benches: &Path) -> Outcome<String> {
        let file = file_name(&self.date, &self.machine);
        let text = self.markdown(&file);
        // Each number of rows keeps its own newest record.
        let folder = benches.join(self.benchmark).join(format!("{}-rows", self.rows));
        write(&folder, &file, self, &text)?;
        Ok(text)
    }

    fn markdown(&self, file: &str) -> String {
        let Self { benchmark, date, method, machine, .. } = self;
        let mut text = format!("# Benchmark `{benchmark}`, {date}\n\n{method}\n\n{}\n\n", machine.sentence());
        text += &self.stores();
        for (speed, title) in [(Speed::AsIs, "as is"), (Speed::Limited, "with reads limited")] {
            if self.runs.iter().any(|run| run.speed == speed) {
                text += &self.tables(speed, title);
            }
        }
        let _ = writeln!(text, "\nEvery run: [{file}]({file})");
        text
    }

    fn stores(&self) -> String {
        let mut text = "## Stores and loads from CSV\n\n| | bytes per row | load, s | peak memory, MiB | without page cache, MiB |\n|---|--:|--:|--:|--:|\n".to_owned();
        for (program, bytes) in &self.stores.store_bytes {
            let load = self.stores.loads.iter().find(|load| load.program == *program);
            let seconds = load.map(|load| match &load.failure {
                Some(why) => format!("failed: {why}"),
                None => format!("{:.1}", load.seconds),
            });
            let _ = writeln!(
                text,
                "| {program} | {:.2} | {} | {} | {} |",
                *bytes as f64 / self.rows as f64,
                seconds.unwrap_or_default(),
                mib(load.and_then(|load| load.peak_bytes)),
                mib(load.and_then(|load| load.anonymous_bytes)),
            );
        }
        text
    }

    fn tables(&self, speed: Speed, title: &str) -> String {
        let columns: Vec<Column<'_>> = [Program::Nandle]
            .into_iter()
            .chain(Program::PEERS)
            .map(|program| Column { record: self, program, speed })
            .filter(|column| column.runs("").next().is_some())
            .collect();
        let mut cubes: Vec<&str> = Vec::new();
        for run in self.runs.iter().filter(|run| run.speed == speed) {
            if !cubes.contains(&run.cube.as_str()) {
                cubes.push(&run.cube);
            }
        }
        let mut text = format!(
            "\n## Cubes {title}\n\nOf the cubes that both counted, the sum of the medians; each cube's ratio is the median of its rounds'.\n\n\
             | | cubes | sum, s | Nandle's sum, s | sum : Nandle's | worst cube | read, MB | peak memory, MiB | without page cache, MiB | failed |\n|---|--:|--:|--:|--:|---|--:|--:|--:|---|\n"
        );
        for column in &columns {
            text += &column.sum(&cubes);
        }
        let names: Vec<String> =
            columns.iter().map(|column| format!("{} | MB", column.program.name())).collect();
        let _ = writeln!(
            text,
            "\nSeconds, how often Nandle's, and MB read.\n\n| cube | rows | {} |\n|---|--:{} |",
            names.join(" | "),
            "|--:|--:".repeat(names.len())
        );
        for cube in cubes {
            let rows = self.runs.iter().filter(|run| run.cube == cube).find_map(Run::figures);
            let cells: Vec<String> = columns.iter().map(|column| column.cell(cube)).collect();
            let _ = writeln!(
                text,
                "| {cube} | {} | {} |",
                rows.map_or(0, |figures| figures.result_rows),
                cells.join(" | ")
            );
        }
        text
    }
}

impl<'a> Column<'a> {
    /// Runs of a cube, or of all cubes if the name is empty.
    fn runs(&self, cube: &str) -> impl Iterator<Item = &'a Run> {
        let (program, speed) = (self.program.name(), self.speed);
        let cube = cube.to_owned();
        self.record.runs.iter().filter(move |run| {
            run.program == program && run.speed == speed && (cube.is_empty() || run.cube == cube)
        })
    }

    fn figures(&self, cube: &str, figure: impl Fn(&Figures) -> Option<f64>) -> Vec<f64> {
        self.runs(cube).filter_map(|run| figure(run.figures()?)).collect()
    }

    fn median(&self, cube: &str, figure: impl Fn(&Figures) -> Option<f64>) -> Option<f64> {
        Spread::of(&self.figures(cube, figure)).map(|spread| spread.median)
    }

    fn seconds(&self, cube: &str) -> Option<f64> {
        self.median(cube, |figures| Some(figures.seconds))
    }

    /// Ratio to Nandle's time, within each round.
    fn ratio(&self, cube: &str) -> Option<f64> {
        let ours = Column { program: Program::Nandle, ..*self };
        let seconds = |column: &Column<'_>| column.figures(cube, |figures| Some(figures.seconds));
        Spread::of_ratios(&seconds(self), &seconds(&ours)).map(|spread| spread.median)
    }

    fn cell(&self, cube: &str) -> String {
        let Some(seconds) = self.seconds(cube) else {
            let failed = self.runs(cube).next().is_some();
            return format!("{} | ", if failed { "failed" } else { "" });
        };
        let ratio = self.ratio(cube).filter(|_| self.program != Program::Nandle);
        let ratio = ratio.map_or_else(String::new, |ratio| format!(" ({ratio:.2})"));
        let read = self.median(cube, |figures| figures.read_bytes.map(|bytes| bytes as f64 / 1e6));
        format!("{seconds:.3}{ratio} | {}", read.map_or_else(String::new, |read| format!("{read:.1}")))
    }

    fn sum(&self, cubes: &[&str]) -> String {
        let ours = Column { program: Program::Nandle, ..*self };
        let pairs: Vec<(&str, f64, f64)> =
            cubes.iter().filter_map(|cube| Some((*cube, self.seconds(cube)?, ours.seconds(cube)?))).collect();
        let (theirs, nandles) =
            pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.1, sums.1 + pair.2));
        let worst = pairs.iter().filter_map(|pair| Some((pair.0, self.ratio(pair.0)?)));
        let worst = worst.min_by(|one, other| one.1.total_cmp(&other.1));
        let worst = worst.map_or_else(String::new, |(cube, ratio)| format!("{ratio:.2} ({cube})"));
        let read: f64 = cubes
            .iter()
            .filter_map(|cube| {
                self.median(cube, |figures| figures.read_bytes.map(|bytes| bytes as f64 / 1e6))
            })
            .sum();
        let most = |figure: fn(&Figures) -> Option<u64>| {
            mib(self.runs("").filter_map(|run| figure(run.figures()?)).max())
        };
        let name = self.program.name();
        format!(
            "| {name} | {} | {theirs:.2} | {nandles:.2} | {:.2} | {worst} | {read:.0} | {} | {} | {} |\n",
            pairs.len(),
            theirs / nandles,
            most(|figures| figures.peak_bytes),
            most(|figures| figures.anonymous_bytes),
            self.failures(),
        )
    }

    fn failures(&self) -> String {
        let failed: Vec<String> = self
            .runs("")
            .filter_map(|run| match &run.outcome {
                super::runs::Took::Failure { failure } => {
                    Some(format!("{}: {}", run.cube, failure.replace('|', "/")))
                }
                super::runs::Took::Figures(_) => None,
            })
            .collect();
        failed.join("; ")
    }
}

fn mib(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("{:.0}", bytes as f64 / f64::from(1 << 20)))
}
