//! Terminal output.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_terminal::words::{counted, latency, paragraph, thousands, to_the_right};
use nandle_units::format_bytes;
use nandle_workloads::{Operator, Outcome, WorkloadFile, WorkloadRun};

pub(super) fn text(file: &WorkloadFile) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(file));
    let _ = writeln!(text, "\n{}\n", runs(file));
    if let [WorkloadRun { outcome: Some(outcome), .. }] = file.runs.as_slice() {
        let _ = writeln!(text, "{}\n", areas(outcome));
        paragraph(&mut text, "", &in_words(file.operator, outcome));
    }
    if let Some(best) = best(file) {
        paragraph(&mut text, "", &format!("{best} Column {}.", again_in_words(file.operator)));
    }
    let refusals = file.runs.iter().filter_map(|run| run.refusal.as_ref());
    for remark in refusals.chain([&file.costs]).chain(&file.remarks) {
        paragraph(&mut text, "* ", remark);
    }
    text
}

/// Input and operation as a phrase.
pub(crate) fn rows_in_words(
    operator: Operator,
    records: u64,
    row_bytes: u64,
    key_bytes: u64,
    seed: u64,
) -> String {
    let records = thousands(records as f64);
    let amount = match operator {
        Operator::Sort => format!("Sort of {records} rows"),
        Operator::Join => format!("Join of two tables of {records} rows"),
    };
    format!("{amount} of {} ({} of them key), seed {seed}", format_bytes(row_bytes), format_bytes(key_bytes))
}

fn heading(file: &WorkloadFile) -> String {
    let rows = rows_in_words(file.operator, file.records, file.row_bytes, file.key_bytes, file.seed);
    let WorkloadFile { input, temporary, output, .. } = file;
    if input == temporary && output == temporary {
        return format!("{rows}; input, temporary data and output on {temporary}.");
    }
    format!("{rows}; input on {input}, temporary data on {temporary}, output on {output}.")
}

/// Name of the count that grows with memory and shrinks with the cluster size.
pub(crate) fn fan_word(operator: Operator) -> &'static str {
    match operator {
        Operator::Sort => "fan-in",
        Operator::Join => "fan-out",
    }
}

/// Explanation of the column of [`again_word`].
pub(crate) fn again_in_words(operator: Operator) -> &'static str {
    match operator {
        Operator::Sort => "merges: those before the last one",
        Operator::Join => "divided: pairs of partitions that were divided again",
    }
}

/// Name of the work that is repeated if the fan count is small.
pub(crate) fn again_word(operator: Operator) -> &'static str {
    match operator {
        Operator::Sort => "merges",
        Operator::Join => "divided",
    }
}

fn runs(file: &WorkloadFile) -> Table {
    let [first, second] = file.operator.phases();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let (fan, again) = (fan_word(file.operator), again_word(file.operator));
    table.set_header(vec!["memory", "cluster", fan, again, first, second, "total"]);
    for run in &file.runs {
        table.add_row(row(run));
    }
    to_the_right(&mut table, 1..);
    table
}

fn row(run: &WorkloadRun) -> Vec<String> {
    let memory = format_bytes(run.memory_bytes);
    let none = || "–".to_owned();
    let Some(outcome) = &run.outcome else {
        let cluster = run.wanted_cluster_bytes.map_or_else(|| "auto".to_owned(), format_bytes);
        return [memory, cluster].into_iter().chain((0..5).map(|_| none())).collect();
    };
    let auto = if run.wanted_cluster_bytes.is_none() { "auto: " } else { "" };
    let has_clusters = !outcome.stayed_in_memory();
    let cluster = || format!("{auto}{}", format_bytes(outcome.cluster_bytes));
    let again = outcome.sort.map(|sort| sort.merges_before_the_last);
    let again = again.or(outcome.join.map(|join| join.divided_pairs)).unwrap_or(0);
    vec![
        memory,
        if has_clusters { cluster() } else { none() },
        if has_clusters { thousands(outcome.fan() as f64) } else { none() },
        thousands(again as f64),
        latency(Some(Nanos(outcome.phase_ns(0)))),
        latency(Some(Nanos(outcome.phase_ns(1)))),
        latency(Some(Nanos(outcome.elapsed_ns))),
    ]
}

fn areas(outcome: &Outcome) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(vec!["", "reads", "read", "in sequence", "writes", "written", "in sequence"]);
    for area in &outcome.areas {
        let percent = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
        };
        table.add_row(vec![
            area.role.name().to_owned(),
            thousands(area.read_requests as f64),
            format_bytes(area.read_bytes),
            percent(area.sequential_reads_share),
            thousands(area.write_requests as f64),
            format_bytes(area.written_bytes),
            percent(area.sequential_writes_share),
        ]);
    }
    to_the_right(&mut table, 1..);
    table
}

/// Work of the operator as a phrase.
fn in_words(operator: Operator, outcome: &Outcome) -> String {
    if outcome.stayed_in_memory() {
        return "All of it fitted into memory: no temporary data were written.".to_owned();
    }
    let used = format_bytes(outcome.memory_used_bytes);
    match (operator, outcome.sort, outcome.join) {
        (Operator::Sort, Some(sort), _) => format!(
            "{}; {} before the last, which joined {}; {used} of memory used at most. The result was checked: in order, and the \
             rows that were put in.",
            counted(sort.runs, "run"),
            counted(sort.merges_before_the_last, "merge"),
            sort.last_fan_in
        ),
        (_, _, Some(join)) => format!(
            "Of {} {} were written; of their pairs {} were divided again and {} joined piece by piece; {used} of memory used at most. \
             The result was checked: every pair once.",
            counted(join.fan_out, "partition"),
            join.spilled_partitions,
            join.divided_pairs,
            join.block_loops
        ),
        (_, _, None) => String::new(),
    }
}

/// Fastest run of a sweep.
fn best(file: &WorkloadFile) -> Option<String> {
    let done = || file.runs.iter().filter_map(|run| Some((run, run.outcome.as_ref()?)));
    if file.runs.len() < 2 {
        return None;
    }
    let (run, best) = done().min_by_key(|(_, outcome)| outcome.elapsed_ns)?;
    let worst = done().map(|(_, outcome)| outcome.elapsed_ns).max()?;
    Some(format!(
        "Fastest: {} of memory with clusters of {}; the slowest takes {:.1} times as long.",
        format_bytes(run.memory_bytes),
        format_bytes(best.cluster_bytes),
        worst as f64 / best.elapsed_ns.max(1) as f64
    ))
}
