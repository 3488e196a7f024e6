//! The paper's figure as text: by path, fact, dimension and partners, device beside device.

use std::fmt::Write as _;

use nandle_flights::Fact;
use nandle_terminal::words::{paragraph, seconds, table, thousands, to_the_right};
use nandle_units::format_bytes;

use super::classes::{Class, classes_of, mean};
use super::{Cube, PathRuns, Report};

pub(super) fn text(report: &Report) -> String {
    let mut text = format!(
        "{} rows of {}, {} of memory, reads {}\n",
        thousands(report.rows as f64),
        report.input,
        format_bytes(report.memory_bytes),
        report.reads
    );
    for path in &report.paths {
        let _ = writeln!(text, "\n{}: means over the cubes of a class", path.path);
        let _ = writeln!(text, "{}", classes(path));
        for sentence in sentences(path) {
            paragraph(&mut text, "- ", &sentence);
        }
    }
    for remark in &report.remarks {
        paragraph(&mut text, "* ", remark);
    }
    text
}

fn classes(path: &PathRuns) -> comfy_table::Table {
    let fixed =
        ["fact", "dimension", "partners", "result rows", "published", "wanted", "jumps", "here", "predicted"];
    let mut rows = table([]);
    rows.set_header(fixed.iter().map(|name| (*name).to_owned()).chain(path.targets()));
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

/// What holds of C41 and C42 on this path: the first target beside the second, as the SSD beside the array.
pub(super) fn sentences(path: &PathRuns) -> Vec<String> {
    let targets = path.targets();
    let [first, second, ..] = targets.as_slice() else { return Vec::new() };
    let time = |cube: &Cube, target: &String| cube.targets.get(target).map(|played| played.time_s);
    let pairs: Vec<(f64, f64)> =
        path.cubes.iter().filter_map(|cube| time(cube, first).zip(time(cube, second))).collect();
    let wins = pairs.iter().filter(|(one, other)| one < other).count();
    let sum = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let ratio = sum(|pair| pair.1) / sum(|pair| pair.0);
    let mut sentences = vec![format!(
        "Whether one SSD beats the array (claim C41): {first} is faster than {second} in {wins} of {} cubes; {second} takes {ratio:.2} times as long in all.",
        pairs.len()
    )];
    for fact in Fact::ALL {
        let grows = |target: &String| {
            let of = |partners: u32| {
                let cubes: Vec<&Cube> = path
                    .cubes
                    .iter()
                    .filter(|cube| cube.query.fact() == fact && cube.partners == partners)
                    .collect();
                mean(&cubes, |cube| time(cube, target))
            };
            of(0).zip(of(2)).map(|(none, two)| 100.0 * (two / none - 1.0))
        };
        if let Some((one, other)) = grows(first).zip(grows(second)) {
            let name = format!("{fact:?}").to_lowercase();
            sentences.push(format!(
                "C42 (a cube of three dimensions over one): {name} {one:+.1} % on {first}, {other:+.1} % on {second}; published are {}.",
                match fact {
                    Fact::Diverted => "+22 % and +17.4 %",
                    Fact::Cancelled => "+25.6 % and +19.6 %",
                    Fact::Delay => "+422.5 % and +399.75 %",
                }
            ));
        }
    }
    sentences
}
