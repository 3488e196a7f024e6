//! Record and table of the comparison.

use std::path::Path;

use super::Agreement;
use super::agreement::{Compared, Question, USELESS_SPAN};
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
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let rows: Vec<String> = agreement.questions.iter().map(row).collect();
    format!(
        "# Benchmark `probe`, {}\n\n{}\n\n{}\n\nThe same cell of two sweeps differs by {} (median), {} (one in ten); a cell \
         may be off by {}. The probe's cells are {} of the sweeps' (pace).\n\n| parameter | sweeps (each) | probe (interval) | value \
         agrees | interval agrees | sweeps that agree |\n|---|--:|--:|---|---|--:|\n{}\n\n{}\n\n| cells | right | off by (median) | off \
         by (one in ten more) | intervals that hold the sweeps' mean |\n|---|--:|--:|--:|--:|\n{}\n{}\n{}\n\nEvery figure: \
         [{file}]({file})\n",
        agreement.date,
        agreement.method,
        agreement.machine.sentence(),
        percent(agreement.noise.median),
        percent(agreement.noise.p90),
        percent(agreement.tolerance),
        percent(agreement.pace),
        rows.join("\n"),
        sum(&agreement.questions),
        cells_row("all", &agreement.cells, |_| true),
        cells_row("measured", &agreement.cells, |cell| cell.measured),
        cells_row("fitted", &agreement.cells, |cell| !cell.measured),
    )
}

fn row(question: &Question) -> String {
    let each: Vec<String> = question.each_sweep.iter().map(u64::to_string).collect();
    let verdict = |agrees: bool| if agrees { "yes" } else { "**no**" };
    format!(
        "| {} | {} ({}) | {} ({} to {}{}) | {} | {} | {} of {} |",
        question.parameter,
        question.sweeps,
        each.join(", "),
        question.probe,
        question.probe_low,
        question.probe_high,
        if question.is_useless() { ", useless" } else { "" },
        verdict(question.value_agrees),
        verdict(question.interval_agrees),
        question.sweeps_agree,
        each.len(),
    )
}

fn sum(questions: &[Question]) -> String {
    let count = |holds: fn(&Question) -> bool| questions.iter().filter(|question| holds(question)).count();
    format!(
        "Of {} parameters {} agree in value and {} in their interval; {} intervals are useless (their ends are more than \
         a factor of {USELESS_SPAN} apart).",
        questions.len(),
        count(|question| question.value_agrees),
        count(|question| question.interval_agrees),
        count(Question::is_useless),
    )
}

fn cells_row(name: &str, cells: &[Compared], which: fn(&Compared) -> bool) -> String {
    let cells: Vec<&Compared> = cells.iter().filter(|cell| which(cell)).collect();
    let right = cells.iter().filter(|cell| cell.right).count();
    let held = cells.iter().filter(|cell| {
        let sweeps_by_probe = 1.0 / (1.0 + cell.off_by);
        (cell.probe_low..=cell.probe_high).contains(&sweeps_by_probe)
    });
    let mut off: Vec<f64> = cells.iter().map(|cell| cell.off_by.abs() * 100.0).collect();
    off.sort_by(f64::total_cmp);
    let at =
        |percent: usize| off.get(off.len() * percent / 100).map_or("–".into(), |off| format!("{off:.1} %"));
    format!("| {name} | {right} of {} | {} | {} | {} |", cells.len(), at(50), at(90), held.count())
}
