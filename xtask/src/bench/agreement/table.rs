//! What is checked in.

use std::fs;
use std::path::Path;

use super::Agreement;
use super::question::{Kind, Question};
use crate::Outcome;

/// Writes the JSON and the table, and returns the table.
pub(super) fn write(agreement: &Agreement, benches: &Path) -> Outcome<String> {
    let folder = benches.join(agreement.benchmark);
    fs::create_dir_all(&folder)?;
    let file = format!("{}.json", agreement.drive);
    fs::write(folder.join(&file), serde_json::to_string_pretty(agreement)? + "\n")?;
    let table = markdown(agreement, &file);
    fs::write(folder.join(format!("{}.md", agreement.drive)), &table)?;
    Ok(table)
}

fn markdown(agreement: &Agreement, file: &str) -> String {
    let rows: Vec<String> = agreement.questions.iter().map(row).collect();
    let agree = agreement.questions.iter().filter(|question| question.agrees).count();
    format!(
        "# Benchmark `agreement`, {}, {}\n\n{agree} of {} parameters agree.\n\n| parameter | exhaustive | probe (interval) | agree \
         |\n|---|--:|--:|---|\n{}\n\n{} Virtual time: the figures are the same on every machine.\n\nEvery figure: \
         [{file}]({file})\n",
        agreement.drive,
        agreement.date,
        agreement.questions.len(),
        rows.join("\n"),
        agreement.method,
    )
}

fn row(question: &Question) -> String {
    let number = |value: Option<f64>| value.map_or("–".into(), |value| figure(question.kind, value));
    let [low, high] = [number(question.probe_low), number(question.probe_high)];
    let bounds = if low == high { String::new() } else { format!(" ({low} to {high})") };
    format!(
        "| {} | {} | {}{bounds} | {} |",
        question.parameter,
        number(question.exhaustive),
        number(question.probe),
        if question.agrees { "yes" } else { "**no**" }
    )
}

fn figure(kind: Kind, value: f64) -> String {
    match value {
        _ if kind == Kind::Step && value.fract().abs() < 1e-9 => format!("{value:.0}"),
        1e6.. => format!("{:.2} million", value / 1e6),
        1e3.. => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}
