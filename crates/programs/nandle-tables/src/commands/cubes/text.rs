//! The paper's figure as text: by path, fact, dimension and partners, with a column per device.

use std::fmt::Write as _;

use nandle_terminal::words::{paragraph, seconds, table, thousands, to_the_right};
use nandle_units::format_bytes;

use super::classes::{Class, classes_of};
use super::words::sentences;
use super::{PathRuns, Report};

pub(super) fn text(report: &Report) -> String {
    let mut text = format!(
        "{} rows of {}, {} of memory, reads {}\n",
        thousands(report.rows as f64),
        report.input,
        format_bytes(report.memory_bytes),
        report.reads
    );
    for path in &report.paths {
        let _ = writeln!(
            text,
            "\n{}: means over the cubes of a fact and a dimension; partners are the other dimensions that they group by",
            path.path
        );
        let _ = writeln!(text, "{}", classes(path));
        for sentence in sentences(path, &report.turning) {
            paragraph(&mut text, "- ", &sentence);
        }
    }
    for remark in &report.remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}

fn classes(path: &PathRuns) -> comfy_table::Table {
    let fixed = [
        "fact",
        "dimension",
        "partners",
        "result rows",
        "paper's rows",
        "wanted",
        "jumps",
        "here",
        "predicted",
    ];
    let mut rows = table([]);
    rows.set_header(fixed.iter().map(|name| (*name).to_owned()).chain(path.targets.clone()));
    for class in classes_of(path) {
        rows.add_row(row(&class));
    }
    to_the_right(&mut rows, 2..);
    rows
}

fn row(class: &Class) -> Vec<String> {
    let whole = |figure: f64| thousands(figure.round());
    let time = |figure: Option<f64>| figure.map_or_else(String::new, seconds);
    let fixed = [
        format!("{:?}", class.fact).to_lowercase(),
        format!("{:?}", class.dimension).to_lowercase(),
        class.partners.to_string(),
        whole(class.result_rows),
        class.published_rows.map_or_else(String::new, |rows| thousands(rows as f64)),
        format!("{:.1}MiB", class.wanted_bytes / f64::from(1 << 20)),
        class.share_of_jumps.map_or_else(String::new, |share| format!("{:.2}%", 100.0 * share)),
        time(class.here_s),
        time(class.predicted_s),
    ];
    fixed.into_iter().chain(class.targets_s.iter().map(|(_, figure)| time(*figure))).collect()
}
