//! Terminal output: queries by devices.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_io::Nanos;
use nandle_predict::{PredictionFile, QueryPrediction, TargetPrediction};
use nandle_terminal::words::{counted, fitting, latency, paragraph, thousands, to_the_right};
use nandle_units::format_bytes;

pub(super) fn text(file: &PredictionFile) -> String {
    let mut text = String::new();
    paragraph(&mut text, "", &heading(file));
    text.push('\n');
    for (letter, target) in letters().zip(&file.targets) {
        paragraph(&mut text, "", &format!("{letter}: {}", target.target));
    }
    let _ = writeln!(text, "\n{}\n\n{}\n", fitting(&queries(file)), fitting(&sums(file)));
    if let Some(sentence) = fastest(file) {
        paragraph(&mut text, "", &sentence);
    }
    for remark in remarks(file) {
        paragraph(&mut text, "* ", &remark);
    }
    text
}

/// Letters for the devices, or numbers if there are many.
fn letters() -> impl Iterator<Item = String> {
    ('A'..='Z').map(String::from).chain((27..).map(|number| number.to_string()))
}

fn heading(file: &PredictionFile) -> String {
    let files = format!("{} of {} in all", counted(file.files, "file"), format_bytes(file.files_bytes));
    let is_scaled = (file.cpu_scale - 1.0).abs() > f64::EPSILON;
    let scale = if is_scaled {
        format!(", processor times {} × the recorded", file.cpu_scale)
    } else {
        String::new()
    };
    format!(
        "{}: {} on {files}; reads {}, memory {}{scale}.",
        file.recording,
        if file.queries == 1 {
            "1 query".to_owned()
        } else {
            format!("{} queries", thousands(file.queries as f64))
        },
        file.reads,
        format_bytes(file.memory_bytes),
    )
}

fn table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Table with a row per query and a column per device.
fn queries(file: &PredictionFile) -> Table {
    let columns = file.targets.iter().zip(letters()).map(|(_, letter)| letter);
    let rows = file.targets.first().map(|target| target.queries.as_slice()).unwrap_or_default();
    // The recorded time, if any, comes before the predictions.
    let is_recorded = rows.iter().any(|query| query.recorded_ns.is_some());
    let recorded = |nanos: Option<u64>| is_recorded.then(|| latency(nanos.map(Nanos)));
    let mut header: Vec<String> = ["query".to_owned(), "wanted".to_owned()].into();
    header.extend(is_recorded.then(|| "recorded".to_owned()));
    header.extend(columns);
    // A single device leaves room for more columns.
    let is_single = file.targets.len() == 1;
    if is_single {
        header.extend(["predicted", "from", "to"].map(str::to_owned));
    }
    let mut table = table(header);
    for (index, query) in rows.iter().enumerate() {
        let of_target =
            |target: &TargetPrediction| target.queries.get(index).and_then(QueryPrediction::time_ns);
        let wanted = query.played.as_ref().map_or_else(none, |played| format_bytes(played.wanted_bytes));
        let times = file.targets.iter().map(|target| latency(of_target(target).map(Nanos)));
        let predicted = query.played.as_ref().filter(|_| is_single).map(|played| played.predicted_ns);
        let predicted =
            predicted.map(|of| [of.value, of.low, of.high].map(|nanos| latency(Some(Nanos(nanos)))));
        let beginning = [query.label(), wanted].into_iter().chain(recorded(query.recorded_ns));
        table.add_row(beginning.chain(times).chain(predicted.into_iter().flatten()));
    }
    let totals = file.targets.iter().map(|target| latency(target.total_ns.map(Nanos)));
    let all_recorded = rows.iter().map(|query| query.recorded_ns).sum();
    table.add_row(["all".to_owned(), String::new()].into_iter().chain(recorded(all_recorded)).chain(totals));
    to_the_right(&mut table, 1..);
    table
}

/// Table with a row per device: totals over all queries.
fn sums(file: &PredictionFile) -> Table {
    let header = ["", "requests", "read", "wanted", "computing", "temporary", "total", "predicted"];
    let mut table = table(header.map(str::to_owned).to_vec());
    for (letter, target) in letters().zip(&file.targets) {
        let time = |nanos: u64| latency(Some(Nanos(nanos)));
        table.add_row([
            letter,
            thousands(target.sum(|played| played.requests) as f64),
            format_bytes(target.sum(|played| played.read_bytes)),
            format_bytes(target.sum(|played| played.wanted_bytes)),
            time(target.sum(|played| played.computing_ns)),
            time(target.sum(|played| played.spill_ns)),
            time(target.sum(|played| played.time_ns)),
            time(target.sum(|played| played.predicted_ns.value)),
        ]);
    }
    to_the_right(&mut table, 1..);
    table
}

fn none() -> String {
    "–".to_owned()
}

fn fastest(file: &PredictionFile) -> Option<String> {
    let fastest = file.fastest()?;
    let others = file.targets.iter().filter(|target| target.target != fastest.target);
    let ratios = others.filter_map(|other| {
        let times = other.total_ns? as f64 / fastest.total_ns?.max(1) as f64;
        Some(format!("{} takes {times:.2} times as long", other.target))
    });
    let ratios: Vec<String> = ratios.collect();
    Some(format!("{} is the fastest: {}.", fastest.target, ratios.join(", ")))
}

fn remarks(file: &PredictionFile) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    let refusals = file.targets.iter().flat_map(|target| {
        let refused =
            target.queries.iter().filter_map(|query| Some((query.label(), query.refusal.as_ref()?)));
        refused.map(|(query, refusal)| format!("{query} on {}: {refusal} (--memory).", target.target))
    });
    let said = file.targets.iter().flat_map(|target| &target.remarks).cloned();
    let modelled = file.targets.iter().any(|target| target.is_modelled);
    let of_models = "Times on modelled drives are virtual. Each query finds the drive at rest; recorded processor time is in them and, on a \
                     processor of its own, 2 us for each request.";
    for remark in refusals.chain(modelled.then(|| of_models.to_owned())).chain(said) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    let foreseen = "What was predicted follows from measured costs alone, its bounds from theirs; temporary data aren't in it.";
    remarks.push(foreseen.to_owned());
    if file.targets.iter().any(|target| target.sum(|played| played.spill_ns) > 0) {
        let sentence = "Temporary data are written and read back in sequence after each query's last step; nothing overlaps them.";
        remarks.push(sentence.to_owned());
    }
    remarks
}
