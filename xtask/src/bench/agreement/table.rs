//! Record and table of a drive.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Agreement;
use super::question::{Answer, Kind};
use super::trials::Score;
use crate::Outcome;

/// Writes the JSON and the table, and returns the table.
pub(super) fn write(agreement: &Agreement, benches: &Path) -> Outcome<String> {
    let folder = benches.join(agreement.benchmark);
    fs::create_dir_all(&folder)?;
    let name = format!("{}-{}", agreement.drive, agreement.side);
    let file = format!("{name}.json");
    let json = serde_json::to_string(agreement)?.replace("},{\"parameter\"", "},\n{\"parameter\"");
    fs::write(folder.join(&file), json + "\n")?;
    let table = markdown(agreement, &file);
    fs::write(folder.join(format!("{name}.md")), &table)?;
    Ok(table)
}

fn markdown(agreement: &Agreement, file: &str) -> String {
    let answers = || agreement.probes.iter().flatten();
    let score = Score::of(answers());
    let mut by_parameter: BTreeMap<&str, Vec<&Answer>> = BTreeMap::new();
    answers().for_each(|answer| by_parameter.entry(&answer.parameter).or_default().push(answer));
    let mut order: Vec<&str> = Vec::new();
    for answer in answers() {
        if !order.contains(&answer.parameter.as_str()) {
            order.push(&answer.parameter);
        }
    }
    let rows: Vec<String> =
        order.iter().filter_map(|name| by_parameter.get(name)).filter_map(|answers| row(answers)).collect();
    format!(
        "# Benchmark `agreement`, {}, {}, {}\n\n{:.1} % of {} parameters of {} probes agree; {:.1} % of their intervals \
         hold.\n\n| parameter | exhaustive | probes: median (least to most) | agree | hold |\n|---|--:|--:|--:|--:|\n{}\n\n{} \
         Virtual time: the figures are the same on every machine.\n\nEvery figure: [{file}]({file}), [exhaustive \
         runs](truth/{file})\n",
        agreement.drive,
        agreement.side,
        agreement.date,
        100.0 * score.agreement(),
        score.asked,
        agreement.probes.len(),
        100.0 * score.coverage(),
        rows.join("\n"),
        agreement.method,
    )
}

/// Row of a parameter over all probes.
fn row(answers: &[&Answer]) -> Option<String> {
    let first = answers.first()?;
    let probes: Vec<Option<f64>> = answers.iter().map(|answer| answer.probe).collect();
    let score = Score::of(answers.iter().copied());
    let mark = if score.agree < score.asked { "**" } else { "" };
    let hold =
        if score.intervals == 0 { "–".into() } else { format!("{} of {}", score.hold, score.intervals) };
    Some(format!(
        "| {} | {} | {} | {mark}{} of {}{mark} | {hold} |",
        first.parameter,
        spread(first.kind, &first.exhaustive),
        spread(first.kind, &probes),
        score.agree,
        score.asked,
    ))
}

fn spread(kind: Kind, values: &[Option<f64>]) -> String {
    let mut known: Vec<f64> = values.iter().copied().flatten().collect();
    known.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (known.first(), known.last()) else { return "–".into() };
    let [middle, least, most] =
        [known.get(known.len() / 2).unwrap_or(least), least, most].map(|value| figure(kind, *value));
    let bounds = if least == most { String::new() } else { format!(" ({least} to {most})") };
    let missing = values.len() - known.len();
    let missing = if missing == 0 { String::new() } else { format!(", {missing} × –") };
    format!("{middle}{bounds}{missing}")
}

fn figure(kind: Kind, value: f64) -> String {
    match value {
        _ if kind == Kind::Step && value.fract().abs() < 1e-9 => format!("{value:.0}"),
        1e6.. => format!("{:.2} million", value / 1e6),
        1e3.. => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}
