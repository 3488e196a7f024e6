//! What is checked in.

use std::fs;
use std::path::Path;

use super::question::{Kind, Question};
use super::{Agreement, Held};
use crate::Outcome;

/// Writes the JSON and the table, and returns the table.
pub(super) fn write(agreement: &Agreement, benches: &Path) -> Outcome<String> {
    let folder = benches.join(agreement.benchmark);
    fs::create_dir_all(&folder)?;
    let file = format!("{}.json", agreement.date);
    fs::write(folder.join(&file), serde_json::to_string_pretty(agreement)? + "\n")?;
    let table = format!("{}\nEvery figure: [{file}]({file})\n", markdown(agreement));
    fs::write(folder.join("latest.md"), &table)?;
    Ok(table)
}

pub(super) fn markdown(agreement: &Agreement) -> String {
    let drives: Vec<String> = agreement.drives.iter().map(drive).collect();
    format!(
        "# Benchmark `agreement`, {}\n\n{}\n\nVirtual time: the figures are the same on every machine.\n\n{}",
        agreement.date,
        agreement.method,
        drives.join("\n")
    )
}

fn drive(held: &Held) -> String {
    let rows: Vec<String> = held.questions.iter().map(row).collect();
    let agree = held.questions.iter().filter(|question| question.agrees).count();
    format!(
        "## {}: {agree} of {} parameters agree\n\n| parameter | exhaustive | probe (interval) | agree |\n|---|--:|--:|---|\n{}\n",
        held.drive,
        held.questions.len(),
        rows.join("\n")
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
        _ if kind == Kind::Step => format!("{value:.0}"),
        1e6.. => format!("{:.2} million", value / 1e6),
        1e3.. => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}
