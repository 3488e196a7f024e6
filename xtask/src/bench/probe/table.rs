//! What is checked in.

use std::path::Path;

use super::Agreement;
use super::agreement::Question;
use crate::Outcome;

/// Writes the JSON and the table, and returns the table.
pub(super) fn write(agreement: &Agreement, benches: &Path) -> Outcome<String> {
    let folder = benches.join(agreement.benchmark);
    std::fs::create_dir_all(&folder)?;
    let file = format!("{}-{}.json", agreement.date, agreement.machine.slug());
    std::fs::write(folder.join(&file), serde_json::to_string_pretty(agreement)? + "\n")?;
    let table = markdown(agreement, &file);
    std::fs::write(folder.join("latest.md"), &table)?;
    Ok(table)
}

fn markdown(agreement: &Agreement, file: &str) -> String {
    let rows: Vec<String> = agreement.questions.iter().map(row).collect();
    let agree = agreement.questions.iter().filter(|question| question.agrees).count();
    let right = agreement.fitted.iter().filter(|cell| cell.right).count();
    format!(
        "# Benchmark `probe`, {}\n\n{}\n\n{}\n\nThe same cell of the two sweeps differs by {:.1} % (median), {:.1} % (one in \
         ten).\n\n| parameter | sweeps | probe | agrees |\n|---|--:|--:|---|\n{}\n\n{agree} of {} parameters agree; {right} of \
         {} fitted cells are right.\n\nEvery figure: [{file}]({file})\n",
        agreement.date,
        agreement.method,
        agreement.machine.sentence(),
        agreement.noise_median * 100.0,
        agreement.noise_p90 * 100.0,
        rows.join("\n"),
        agreement.questions.len(),
        agreement.fitted.len(),
    )
}

fn row(question: &Question) -> String {
    let Question { parameter, sweeps: [first, second], probe, probe_low, probe_high, agrees } = question;
    let agrees = if *agrees { "yes" } else { "**no**" };
    format!("| {parameter} | {first}, {second} | {probe} ({probe_low} to {probe_high}) | {agrees} |")
}
