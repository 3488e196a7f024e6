//! Results as checked in: `benches/NAME/YYYY-MM-DD-MACHINE.json` with every run, and
//! `benches/NAME/latest.md` with the summary table.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::machine::Machine;
use super::stats::Spread;
use crate::Outcome;
use crate::command::answer;

/// Results of one execution of a benchmark.
#[derive(Debug, Serialize)]
pub(crate) struct Results {
    pub(crate) benchmark: String,
    /// `YYYY-MM-DD`, in UTC.
    pub(crate) date: String,
    /// Method in a few sentences: order, number and length of the runs.
    pub(crate) method: String,
    pub(crate) machine: Machine,
    pub(crate) comparisons: Vec<Comparison>,
    /// Comparisons missing because a candidate failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) failures: Vec<Failure>,
}

/// A task that a candidate failed to do.
#[derive(Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) task: String,
    pub(crate) name: String,
    /// Last message of the candidate.
    pub(crate) message: String,
}

/// Two contenders at the same task.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    /// Task, like `random read, 4 KiB, depth 32`.
    pub(crate) task: String,
    /// Unit of the figures, like `requests/s`.
    pub(crate) unit: String,
    pub(crate) baseline: Series,
    pub(crate) candidate: Series,
    /// Ratio of candidate to baseline, within each pair of runs.
    pub(crate) ratio: Spread,
}

/// One contender's runs, in order.
#[derive(Debug, Serialize)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) runs: Vec<f64>,
    #[serde(flatten)]
    pub(crate) spread: Spread,
}

/// Raw figures of one contender.
pub(crate) struct Runs<'a> {
    pub(crate) name: &'a str,
    pub(crate) figures: Vec<f64>,
}

impl Comparison {
    /// Compares paired runs.
    ///
    /// # Errors
    /// There is no run, or a run has no partner.
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
    /// Results dated today.
    ///
    /// # Errors
    /// The date is unavailable.
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

    /// Writes both files under `benches`. Returns the table.
    ///
    /// # Errors
    /// A file can't be written.
    pub(crate) fn write(&self, benches: &Path) -> Outcome<String> {
        let table = self.markdown();
        write(&benches.join(&self.benchmark), &self.file_name(), self, &table)?;
        Ok(table)
    }

    /// File name of the record with every run.
    pub(crate) fn file_name(&self) -> String {
        file_name(&self.date, &self.machine)
    }

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

/// File name of a record with every run.
pub(crate) fn file_name(date: &str, machine: &Machine) -> String {
    format!("{date}-{}.json", machine.slug())
}

/// Today's date, as `YYYY-MM-DD` in UTC.
///
/// # Errors
/// The date is unavailable.
pub(crate) fn today() -> Outcome<String> {
    Ok(answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?)
}

/// Writes a benchmark's record and table into its folder.
///
/// # Errors
/// A file can't be written.
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

/// Formats a figure: no decimals from a thousand on, three below.
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
