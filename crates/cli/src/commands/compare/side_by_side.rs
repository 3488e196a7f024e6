//! Drives beside each other: figures, prices, sizing, placement.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_advise::compare::{Measure, Placement, Sizing, SizingQuestion, Unit, measures, place, size};
use nandle_advise::economics::Processor;
use nandle_advise::settings::Lack;
use nandle_io::units::format_bytes;
use nandle_profile::DeviceProfile;
use serde_json::{Value, json};

use super::SCHEMA_VERSION;
use super::args::CompareArgs;
use super::named::Named;
use crate::args::Common;
use crate::error::CliError;
use crate::output;
use crate::words::{paragraph, to_the_right};

pub(super) fn run(drives: &[Named], args: &CompareArgs, common: Common) -> Result<(), CliError> {
    let question = question(args);
    let profiles: Vec<&DeviceProfile> = drives.iter().map(|drive| &drive.profile).collect();
    let priced: Vec<_> = drives.iter().map(|drive| (&drive.profile, drive.price)).collect();
    let figures: Vec<Vec<Measure>> = profiles.iter().map(|profile| measures(profile)).collect();
    let sizings = size(&priced, &question);
    let placements = place(&profiles, question.page_bytes);
    if common.json {
        return output::json(&as_json(drives, &question, &figures, &sizings, &placements));
    }
    let mut text = format!("{}\n\n", figures_table(drives, &figures));
    let _ = writeln!(text, "{}\n{}\n", heading(&question), sizing_table(drives, &sizings, &question));
    text += &placement_text(drives, &placements);
    text += &missing_text(&sizings, &placements);
    output::result(&text)
}

fn question(args: &CompareArgs) -> SizingQuestion {
    let clocked = Processor::from_clock(args.clock_ghz * 1e9, args.cpi);
    SizingQuestion {
        read_share: args.read_share / 100.0,
        page_bytes: args.page,
        processor: args.mips.map_or(clocked, |mips| Processor { mips }),
        io_share: args.io_share / 100.0,
        memory_price_per_byte: args.memory_price.map(|price| price / f64::from(1 << 30)),
        table_bytes: args.table,
    }
}

fn as_json(
    drives: &[Named],
    question: &SizingQuestion,
    figures: &[Vec<Measure>],
    sizings: &[Sizing],
    placements: &[Placement],
) -> Value {
    let drives: Vec<Value> = drives
        .iter()
        .zip(figures)
        .zip(sizings)
        .map(
            |((drive, figures), sizing)| json!({ "name": drive.name, "measures": figures, "sizing": sizing }),
        )
        .collect();
    json!({
        "schema_version": SCHEMA_VERSION,
        "question": {
            "read_share": question.read_share, "page_bytes": question.page_bytes,
            "million_instructions_per_s": question.processor.mips, "io_share": question.io_share,
            "table_bytes": question.table_bytes,
        },
        "drives": drives,
        "placement": placements,
    })
}

/// A table with a column for each drive.
fn table_of(drives: &[Named]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(std::iter::once("").chain(drives.iter().map(|drive| drive.name.as_str())));
    table
}

fn figures_table(drives: &[Named], figures: &[Vec<Measure>]) -> Table {
    let mut table = table_of(drives);
    let mut names: Vec<&str> = Vec::new();
    for measure in figures.iter().flatten() {
        if !names.contains(&measure.name.as_str()) {
            names.push(&measure.name);
        }
    }
    for name in names {
        let cell = |measures: &Vec<Measure>| {
            let found = measures.iter().find(|measure| measure.name == name);
            found.map_or_else(|| "–".into(), |measure| measure.unit.print(measure.value.value))
        };
        table.add_row(std::iter::once(name.to_owned()).chain(figures.iter().map(cell)));
    }
    to_the_right(&mut table, 1..);
    table
}

fn heading(question: &SizingQuestion) -> String {
    let mut text = String::new();
    paragraph(
        &mut text,
        "",
        &format!(
            "For pages of {}, {:.0} % of them read, a processor of {} MIPS, {:.0} % of the time in I/O, a table of {}:",
            format_bytes(question.page_bytes),
            question.read_share * 100.0,
            number(question.processor.mips),
            question.io_share * 100.0,
            format_bytes(question.table_bytes)
        ),
    );
    text
}

/// A row of the sizing: its name, how it prints, and where it comes from.
type Row = (&'static str, fn(f64) -> String, fn(&Sizing) -> Option<f64>);

const ROWS: [Row; 15] = [
    ("price", number, |sizing| sizing.price),
    ("random reads", per_second, |sizing| sizing.read_iops),
    ("random writes", per_second, |sizing| sizing.write_iops),
    ("mixed", per_second, |sizing| sizing.mixed_iops),
    ("random reads for a unit of money", per_second, |sizing| sizing.read_iops_per_money),
    ("random writes for a unit of money", per_second, |sizing| sizing.write_iops_per_money),
    ("reading for a unit of money", bandwidth, |sizing| sizing.read_bytes_per_s_per_money),
    ("writing for a unit of money", bandwidth, |sizing| sizing.write_bytes_per_s_per_money),
    ("speed-up of the first (Amdahl)", number, |sizing| sizing.speed_up_of_first),
    ("drives for a processor", number, |sizing| sizing.drives_per_processor),
    ("processors for a drive", number, |sizing| sizing.processors_per_drive),
    ("their price for a processor", number, |sizing| sizing.price_per_processor),
    ("keep a page in memory for", seconds, |sizing| sizing.keep_in_memory_s),
    ("index beats scan up to, of pages", percent, |sizing| sizing.index_break_even_share),
    ("index beats scan up to, rows", number, |sizing| sizing.index_break_even_rows),
];

fn number(value: f64) -> String {
    Unit::Plain.print(value)
}

fn per_second(value: f64) -> String {
    Unit::PerSecond.print(value)
}

fn bandwidth(value: f64) -> String {
    Unit::BytesPerSecond.print(value)
}

fn seconds(value: f64) -> String {
    Unit::Nanoseconds.print(value * 1e9)
}

fn percent(value: f64) -> String {
    format!("{} %", number(value * 100.0))
}

fn sizing_table(drives: &[Named], sizings: &[Sizing], question: &SizingQuestion) -> Table {
    let mut table = table_of(drives);
    let has_memory = question.memory_price_per_byte.is_some();
    for (name, print, value) in ROWS {
        let values: Vec<_> = sizings.iter().map(value).collect();
        if values.iter().all(Option::is_none) || (name.starts_with("keep") && !has_memory) {
            continue;
        }
        let cells = values.into_iter().map(|value| value.map_or_else(|| "–".into(), print));
        table.add_row(std::iter::once(name.to_owned()).chain(cells));
    }
    to_the_right(&mut table, 1..);
    table
}

fn placement_text(drives: &[Named], placements: &[Placement]) -> String {
    let mut text = String::new();
    if drives.len() < 2 || placements.iter().all(|placement| placement.best.is_none()) {
        return text;
    }
    let mut table = table_of(drives);
    for placement in placements {
        let costs = placement.cost_ns.iter().enumerate().map(|(index, cost)| {
            let mark = if placement.best == Some(index) { " *" } else { "  " };
            cost.map_or_else(|| "–  ".into(), |cost| format!("{}{mark}", Unit::Nanoseconds.print(cost)))
        });
        table.add_row(std::iter::once(placement.tenant.name().to_owned()).chain(costs));
    }
    to_the_right(&mut table, 1..);
    paragraph(
        &mut text,
        "",
        "Which part of a database is best off where (time of its pattern, * the least):",
    );
    let _ = writeln!(text, "{table}\n");
    paragraph(&mut text, "", &conclusion(drives, placements));
    for placement in placements {
        paragraph(&mut text, "  ", &format!("{}: {}.", placement.tenant.name(), placement.tenant.pattern()));
    }
    text + "\n"
}

/// What gains most by its place comes first.
fn conclusion(drives: &[Named], placements: &[Placement]) -> String {
    let said = placements.iter().filter_map(|placement| {
        let drive = drives.get(placement.best?)?;
        Some(format!(
            "{} to {} ({} times)",
            placement.tenant.name(),
            drive.name,
            number(placement.gain_ratio?)
        ))
    });
    format!("What gains most by its place comes first: {}.", said.collect::<Vec<_>>().join(", "))
}

fn missing_text(sizings: &[Sizing], placements: &[Placement]) -> String {
    let mut missing: Vec<Lack> = sizings
        .iter()
        .flat_map(|sizing| sizing.missing.iter().copied())
        .chain(placements.iter().flat_map(|placement| placement.missing.iter().copied()))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let mut text = String::new();
    for Lack { needs, how } in missing {
        paragraph(&mut text, "? ", &format!("Some profile lacks {needs}; {how}."));
    }
    text
}
