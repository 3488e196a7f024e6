//! Terminal output.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_terminal::words::{fitting, latency, paragraph, thousands, to_the_right};
use nandle_units::format_bytes;
use nandle_workloads::{ClusterCell, ClusterRow, Operator, PlaceFile};

use crate::commands::workload::{again_in_words, again_word, fan_word, rows_in_words};

pub(super) fn text(file: &PlaceFile) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(file));
    let _ = writeln!(text, "\n{}\n", fitting(&placements(file)));
    paragraph(&mut text, "", &gain(file));
    let _ = writeln!(text);
    paragraph(&mut text, "", &clusters_heading(file));
    let _ = writeln!(text, "\n{}\n", fitting(&clusters(file)));
    for finding in &file.findings {
        let sentence = format!("{}, the study: {}. Here: {}.", finding.claim, finding.study, finding.here);
        paragraph(&mut text, "", &sentence);
    }
    let mut refusals: Vec<&String> = file.clusters.iter().flat_map(|row| &row.refusals).collect();
    refusals.dedup();
    for remark in refusals.into_iter().chain(&file.costs).chain(&file.remarks) {
        paragraph(&mut text, "* ", remark);
    }
    text
}

fn heading(file: &PlaceFile) -> String {
    let rows = rows_in_words(file.operator, file.records, file.row_bytes, file.key_bytes, file.seed);
    let PlaceFile { from, to, memory_bytes, .. } = file;
    format!("{rows}, in {}; on {from}, and what is moved on {to}.", format_bytes(*memory_bytes))
}

fn time(ns: u64) -> String {
    latency(Some(Nanos(ns)))
}

fn placements(file: &PlaceFile) -> Table {
    let [first, second] = file.operator.phases();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(vec!["moved", "cluster", first, second, "total", "ratio"]);
    for row in &file.placements {
        let outcome = &row.outcome;
        table.add_row(vec![
            row.placement.words().to_owned(),
            if outcome.stayed_in_memory() { "–".to_owned() } else { format_bytes(outcome.cluster_bytes) },
            time(outcome.phase_ns(0)),
            time(outcome.phase_ns(1)),
            time(outcome.elapsed_ns),
            format!("{:.2}", row.elapsed_ratio),
        ]);
    }
    to_the_right(&mut table, 1..);
    table
}

fn gain(file: &PlaceFile) -> String {
    let Some(best) = file.best_move() else {
        return format!("No part gains when it alone is moved to {}.", file.to);
    };
    format!(
        "Of single parts, moving the {} gains most: {:.2} times as fast.",
        best.placement.words(),
        1.0 / best.elapsed_ratio
    )
}

fn clusters_heading(file: &PlaceFile) -> String {
    let compared = match file.operator {
        Operator::Sort => "merging",
        Operator::Join => "partitioning and joining",
    };
    format!(
        "The temporary data alone: {compared} by cluster. Input and output take no time here. * is the best on its device; {}.",
        again_in_words(file.operator)
    )
}

fn clusters(file: &PlaceFile) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let (fan, again) = (fan_word(file.operator), again_word(file.operator));
    table.set_header(vec!["cluster", fan, again, "from", fan, again, "to", "ratio"]);
    let (best_from, best_to) = (file.best_from(), file.best_to());
    for row in &file.clusters {
        let name = row.wanted_cluster_bytes.map_or_else(|| auto(row), format_bytes);
        let is_auto = row.wanted_cluster_bytes.is_none();
        let mut cells = vec![name];
        cells.extend(side(file.operator, row.from, best_from.filter(|_| !is_auto)));
        cells.extend(side(file.operator, row.to, best_to.filter(|_| !is_auto)));
        cells.push(row.ratio(file.operator).map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1} x")));
        table.add_row(cells);
    }
    to_the_right(&mut table, 1..);
    table
}

/// Cluster chosen on each device.
fn auto(row: &ClusterRow) -> String {
    let name = |cell: Option<ClusterCell>| {
        cell.map_or_else(|| "–".to_owned(), |cell| format_bytes(cell.cluster_bytes))
    };
    let (from, to) = (name(row.from), name(row.to));
    if from == to { format!("auto: {from}") } else { format!("auto: {from}, {to}") }
}

fn side(operator: Operator, cell: Option<ClusterCell>, best: Option<ClusterCell>) -> [String; 3] {
    let Some(cell) = cell else { return ["–", "–", "–"].map(str::to_owned) };
    let mark = if best == Some(cell) { "* " } else { "" };
    [
        thousands(cell.fan_in as f64),
        thousands(cell.rewrites as f64),
        format!("{mark}{}", time(cell.compared_ns(operator))),
    ]
}
