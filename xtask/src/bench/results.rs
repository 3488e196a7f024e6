//! What a benchmark checks in: `benches/NAME/YYYY-MM-DD-MACHINE.json` with every run, and
//! `benches/NAME/latest.md` with the table that a reader wants.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::machine::Machine;
use super::stats::Spread;
use crate::Outcome;
use crate::command::answer;

/// Everything that one execution of a benchmark gave.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) benchmark: String,
    /// `YYYY-MM-DD`, in UTC.
    pub(crate) date: String,
    /// How it was measured, in a few sentences: what ran in which order, how often and how long.
    pub(crate) method: String,
    pub(crate) machine: Machine,
    pub(crate) comparisons: Vec<Comparison>,
    /// What couldn't be compared, because a candidate failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failure>,
}

/// A candidate that couldn't do a task.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) task: String,
    pub(crate) name: String,
    /// The last that it said.
    pub(crate) message: String,
}

/// Two contenders at the same task.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    /// The task, like `random read, 4 KiB, depth 32`.
    pub(crate) task: String,
    /// The unit of the figures, like `requests/s`.
    pub(crate) unit: String,
    pub(crate) baseline: Series,
    pub(crate) candidate: Series,
    /// Candidate : baseline, within each pair of runs.
    pub(crate) ratio: Spread,
}

/// One contender's runs, in the order in which they ran.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) runs: Vec<f64>,
    #[serde(flatten)]
    pub(crate) spread: Spread,
}

/// The runs of one contender, before anything is made of them.
pub(crate) struct Runs<'a> {
    pub(crate) name: &'a str,
    pub(crate) figures: Vec<f64>,
}

impl Comparison {
    /// Compares runs that were done in pairs.
    ///
    /// # Errors
    /// When there is no run, or one has no partner.
    pub(crate) fn new(task: &str, unit: &str, baseline: Runs, candidate: Runs) -> Outcome<Self> {
        let ratio = Spread::of_ratios(&candidate.figures, &baseline.figures).ok_or_else(|| {
            format!("{task}: the runs of {} and {} are no pairs", baseline.name, candidate.name)
        })?;
        let (task, unit) = (task.to_owned(), unit.to_owned());
        Ok(Self { task, unit, baseline: Series::new(baseline)?, candidate: Series::new(candidate)?, ratio })
    }
}

impl Series {
    fn new(runs: Runs) -> Outcome<Self> {
        let spread = Spread::of(&runs.figures).ok_or_else(|| format!("{}: no runs", runs.name))?;
        Ok(Self { name: runs.name.to_owned(), runs: runs.figures, spread })
    }
}

impl Results {
    /// Results of today.
    ///
    /// # Errors
    /// When the system doesn't tell the date.
    pub(crate) fn new(
        benchmark: &str,
        method: &str,
        machine: Machine,
        comparisons: Vec<Comparison>,
    ) -> Outcome<Self> {
        let date = today()?;
        let (benchmark, method) = (benchmark.to_owned(), method.to_owned());
        Ok(Self { benchmark, date, method, machine, comparisons, failures: Vec::new() })
    }

    /// Writes both files under `benches`, and returns the table.
    ///
    /// # Errors
    /// When a file can't be written.
    pub(crate) fn write(&self, benches: &Path) -> Outcome<String> {
        let table = self.markdown();
        write(&benches.join(&self.benchmark), &self.file_name(), self, &table)?;
        Ok(table)
    }

    /// Of the record with every run.
    pub(crate) fn file_name(&self) -> String {
        file_name(&self.date, &self.machine)
    }

    /// The table.
    pub(crate) fn markdown(&self) -> String {
        let compared = self.comparisons.iter().map(Comparison::row);
        let rows: Vec<String> = compared.chain(self.failures.iter().map(Failure::row)).collect();
        format!(
            "# Benchmark `{}`, {}\n\n{}\n\n{}\n\n\
             | task | unit | baseline | median | candidate | median | ratio (min to max) |\n\
             |---|---|---|--:|---|--:|--:|\n{}\n\nEvery run: [{file}]({file})\n",
            self.benchmark,
            self.date,
            self.method,
            self.machine.sentence(),
            rows.join("\n"),
            file = self.file_name(),
        )
    }
}

/// Of a record with every run.
pub(crate) fn file_name(date: &str, machine: &Machine) -> String {
    format!("{date}-{}.json", machine.slug())
}

/// Today, as `YYYY-MM-DD` in UTC.
///
/// # Errors
/// When the system doesn't tell the date.
pub(crate) fn today() -> Outcome<String> {
    Ok(answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?)
}

/// Writes a benchmark's record and its table into its folder.
///
/// # Errors
/// When a file can't be written.
pub(crate) fn write(folder: &Path, file_name: &str, record: &impl Serialize, table: &str) -> Outcome {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(file_name), serde_json::to_string_pretty(record)? + "\n")?;
    Ok(fs::write(folder.join("latest.md"), table)?)
}

impl Comparison {
    fn row(&self) -> String {
        let Self { task, unit, baseline, candidate, ratio } = self;
        format!(
            "| {task} | {unit} | {} | {} | {} | {} | {:.3} ({:.3} to {:.3}) |",
            baseline.name,
            figure(baseline.spread.median),
            candidate.name,
            figure(candidate.spread.median),
            ratio.median,
            ratio.min,
            ratio.max,
        )
    }
}

impl Failure {
    fn row(&self) -> String {
        let Self { task, name, message } = self;
        // A bar would end the cell.
        format!("| {task} | | {name} | failed: {} | | | |", message.replace('|', "/"))
    }
}

/// Whole numbers from a thousand on, three decimals below.
fn figure(value: f64) -> String {
    if value.abs() >= 1000.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::machine::machine;

    fn runs<'a>(name: &'a str, figures: &[f64]) -> Runs<'a> {
        Runs { name, figures: figures.to_vec() }
    }

    #[test]
    fn results_are_written_as_json_and_as_a_table() {
        let comparison =
            Comparison::new("a task", "ns", runs("old", &[10.0, 30.0]), runs("new", &[5.0, 15.0])).unwrap();
        let here = crate::workspace_root();
        let results = Results::new("sample", "Twice.", machine(&here), vec![comparison]).unwrap();
        let folder = std::env::temp_dir().join(format!("nandle-bench-{}", std::process::id()));
        let table = results.write(&folder).unwrap();
        assert!(table.contains("| a task | ns | old | 20.000 | new | 10.000 | 0.500 (0.500 to 0.500) |"));
        let json = fs::read_to_string(folder.join("sample").join(results.file_name())).unwrap();
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["comparisons"][0]["candidate"]["runs"], serde_json::json!([5.0, 15.0]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn runs_without_a_partner_are_an_error() {
        assert!(Comparison::new("a task", "ns", runs("old", &[1.0]), runs("new", &[])).is_err());
    }
}
