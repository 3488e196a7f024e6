//! Bars of the phases' times.

use nandle_units::format_bytes;
use nandle_workloads::{Outcome, PlaceFile, Placement, WorkloadFile, WorkloadRun};

use crate::figures::{Bar, Bars, Figure, Group};
use crate::text;

/// A group for each phase and one for both, with a bar for each item.
fn groups(things: &[(String, &Outcome)], phases: [&str; 2]) -> Vec<Group> {
    let group = |name: &str, time_ns: fn(&Outcome) -> u64| {
        let bar = |(kind, (label, outcome)): (usize, &(String, &Outcome))| {
            let value = time_ns(outcome);
            Bar { label: label.clone(), value: value as f64, text: text::time_ns(value), kind }
        };
        Group { name: capital(name), bars: things.iter().enumerate().map(bar).collect() }
    };
    let [first, second] = phases;
    if let [(_, only)] = things {
        return of_one(only, phases);
    }
    vec![
        group(first, |outcome| outcome.phase_ns(0)),
        group(second, |outcome| outcome.phase_ns(1)),
        group("both", |outcome| outcome.elapsed_ns),
    ]
}

/// Phases on one scale.
fn of_one(outcome: &Outcome, phases: [&str; 2]) -> Vec<Group> {
    let bar = |(kind, name): (usize, &str)| {
        let value = outcome.phase_ns(kind);
        Bar { label: capital(name), value: value as f64, text: text::time_ns(value), kind }
    };
    Group::single(phases.into_iter().enumerate().map(bar).collect())
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Phases of each run.
pub(super) fn of_runs(file: &WorkloadFile) -> Vec<Figure> {
    let things: Vec<_> =
        file.runs.iter().filter_map(|run| Some((name(run), run.outcome.as_ref()?))).collect();
    let Some((best, outcome)) = things.iter().min_by_key(|(_, outcome)| outcome.elapsed_ns) else {
        return Vec::new();
    };
    let [first, second] = file.operator.phases();
    let share = 100.0 * outcome.phase_ns(1) as f64 / outcome.elapsed_ns.max(1) as f64;
    let fastest = if things.len() > 1 { format!("{best} is the fastest. ") } else { String::new() };
    vec![Figure::Bars(Bars {
        id: "phases",
        title: "Phases",
        finding: format!(
            "{fastest}{} takes {}, {} % of them {second}.",
            capital(file.operator.name()),
            text::time_ns(outcome.elapsed_ns),
            text::significant(share, 2)
        ),
        note: format!("{} writes temporary data, {second} reads them.", capital(first)),
        quantity: "Time".to_owned(),
        groups: groups(&things, file.operator.phases()),
    })]
}

fn name(run: &WorkloadRun) -> String {
    let cluster =
        run.outcome.as_ref().map_or_else(String::new, |outcome| format_bytes(outcome.cluster_bytes));
    format!("{} of memory, clusters of {cluster}", format_bytes(run.memory_bytes))
}

/// Phases of each placement.
pub(super) fn of_placements(file: &PlaceFile) -> Figure {
    let label = |placement: Placement| match placement {
        Placement::AllFrom => format!("Everything on {}", file.from),
        Placement::AllTo => format!("Everything on {}", file.to),
        Placement::InputTo | Placement::TemporaryTo | Placement::OutputTo => {
            format!("{} on {}", capital(placement.words()), file.to)
        }
    };
    let things: Vec<_> =
        file.placements.iter().map(|row| (text::clean(&label(row.placement)), &row.outcome)).collect();
    let finding = file.best_move().map_or_else(
        || "No part gains from moving alone.".to_owned(),
        |row| {
            let times = text::significant(1.0 / row.elapsed_ratio, 3);
            format!("Of the single parts the {} gain most: {times} times as fast.", row.placement.words())
        },
    );
    Figure::Bars(Bars {
        id: "placements",
        title: "Placements",
        finding,
        note: format!("Everything else is on {}.", text::clean(&file.from)),
        quantity: "Time".to_owned(),
        groups: groups(&things, file.operator.phases()),
    })
}
