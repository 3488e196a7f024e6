//! Compares several drives: figures, prices, sizing, placement.

use std::fmt::Write as _;

use comfy_table::{Table, presets};
use nandle_advise::compare::{
    BreakEven, Measure, Placement, Sizing, SizingQuestion, Unit, measures, place, size,
};
use nandle_advise::economics::Processor;
use nandle_advise::settings::MissingFigure;
use nandle_profile::{DeviceProfile, Interval};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{paragraph, to_the_right};
use nandle_units::format_bytes;
use serde_json::{Value, json};

use super::SCHEMA_VERSION;
use super::args::CompareArgs;
use super::cell::cell;
use super::named::Named;
use crate::error::CliError;

pub(super) fn run(drives: &[Named], args: &CompareArgs, common: Common) -> Result<(), CliError> {
    let question = question(args);
    let profiles: Vec<&DeviceProfile> = drives.iter().map(|drive| &drive.profile).collect();
    let priced: Vec<_> = drives.iter().map(|drive| (&drive.profile, drive.price)).collect();
    let figures: Vec<Vec<Measure>> = profiles.iter().map(|profile| measures(profile)).collect();
    let sizings = size(&priced, &question);
    let placements = place(&profiles, question.page_bytes);
    if common.json {
        return Ok(output::json(&as_json(drives, &question, &figures, &sizings, &placements))?);
    }
    let mut text = String::new();
    paragraph(&mut text, "", FIGURES_HEADING);
    let _ = writeln!(text, "{}\n", figures_table(drives, &figures));
    let _ = writeln!(text, "{}{}", heading(&question), sizing_table(drives, &sizings, &question));
    text += &sizing_notes(&sizings);
    text += &placement_text(drives, &placements);
    text += &missing_text(&sizings, &placements);
    Ok(output::result(&text)?)
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

const FIGURES_HEADING: &str = "Each figure with its bounds below it, where they are known and differ. Random reads of a size \
    are at the least depth that saturates them; of writes it stands below on what they were measured.";

const PLACEMENT_NOTE: &str = "Pages are read at random one after the other. A page that is read or written in sequence counts \
    as its share of the best sequential transfers above, since databases gather such pages into long requests; by itself, \
    and durable, it takes what a commit does.";

/// Table with one column per drive.
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
            found.map_or_else(
                || "–".into(),
                |measure| cell(measure.unit, &measure.value, measure.measured_on.as_deref()),
            )
        };
        table.add_row(std::iter::once(name.to_owned()).chain(figures.iter().map(cell)));
    }
    to_the_right(&mut table, 1..);
    table
}

fn number(value: f64) -> String {
    Unit::Plain.print(value)
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

/// Row of the sizing: name, unit and getter.
type Row = (&'static str, Unit, fn(&Sizing) -> Option<Interval<f64>>);

/// Scales of figures in nanoseconds and in per cent.
const NS_PER_S: f64 = 1e9;
const PERCENT: f64 = 100.0;

const ROWS: [Row; 16] = [
    ("price", Unit::Plain, |sizing| sizing.price.map(Interval::exact)),
    ("random reads", Unit::PerSecond, |sizing| sizing.read_iops),
    ("random writes", Unit::PerSecond, |sizing| sizing.write_iops),
    ("mixed", Unit::PerSecond, |sizing| sizing.mixed_iops),
    ("random reads for a unit of money", Unit::PerSecond, |sizing| sizing.read_iops_per_money),
    ("random writes for a unit of money", Unit::PerSecond, |sizing| sizing.write_iops_per_money),
    ("reading for a unit of money", Unit::BytesPerSecond, |sizing| sizing.read_bytes_per_s_per_money),
    ("writing for a unit of money", Unit::BytesPerSecond, |sizing| sizing.write_bytes_per_s_per_money),
    ("speed-up of the first (Amdahl)", Unit::Plain, |sizing| sizing.speed_up_of_first),
    ("drives for a processor", Unit::Plain, |sizing| sizing.drives_per_processor),
    ("their price for a processor", Unit::Plain, |sizing| sizing.price_per_processor),
    ("keep a page in memory for", Unit::Nanoseconds, |sizing| scaled(sizing.keep_in_memory_s, NS_PER_S)),
    ("index one by one: % of pages", Unit::Plain, |sizing| percent(sizing.index_one_by_one)),
    ("  rows", Unit::Plain, |sizing| sizing.index_one_by_one.map(|up_to| up_to.rows)),
    ("index, many at a time: % of pages", Unit::Plain, |sizing| percent(sizing.index_many_at_a_time)),
    ("  rows", Unit::Plain, |sizing| sizing.index_many_at_a_time.map(|up_to| up_to.rows)),
];

fn scaled(interval: Option<Interval<f64>>, by: f64) -> Option<Interval<f64>> {
    interval.map(|Interval { value, low, high }| Interval {
        value: value * by,
        low: low * by,
        high: high * by,
    })
}

fn percent(up_to: Option<BreakEven>) -> Option<Interval<f64>> {
    scaled(up_to.map(|up_to| up_to.page_share), PERCENT)
}

fn sizing_table(drives: &[Named], sizings: &[Sizing], question: &SizingQuestion) -> Table {
    let mut table = table_of(drives);
    let has_memory = question.memory_price_per_byte.is_some();
    for (name, unit, value) in ROWS {
        let values: Vec<_> = sizings.iter().map(value).collect();
        if values.iter().all(Option::is_none) || (name.starts_with("keep") && !has_memory) {
            continue;
        }
        let cells =
            values.iter().map(|value| value.map_or_else(|| "–".into(), |value| cell(unit, &value, None)));
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
            let mark = if placement.best == Some(index) {
                "*"
            } else if placement.maybe_as_good.contains(&index) {
                "~"
            } else {
                " "
            };
            // Every line of the cell ends with two columns, so that figures line up.
            let told = cost.map_or_else(|| "–".into(), |cost| cell(Unit::Nanoseconds, &cost, None));
            let (value, bounds) = told.split_once('\n').unwrap_or((&told, ""));
            let below = if bounds.is_empty() { String::new() } else { format!("\n{bounds}  ") };
            format!("{value} {mark}{below}")
        });
        table.add_row(std::iter::once(placement.tenant.name().to_owned()).chain(costs));
    }
    to_the_right(&mut table, 1..);
    paragraph(
        &mut text,
        "",
        "Which part of a database is best off where (time of its pattern, * the least, ~ may be as little):",
    );
    let _ = writeln!(text, "{table}\n");
    paragraph(&mut text, "", &conclusion(drives, placements));
    for placement in placements {
        paragraph(&mut text, "  ", &format!("{}: {}.", placement.tenant.name(), placement.tenant.pattern()));
    }
    paragraph(&mut text, "", PLACEMENT_NOTE);
    text + "\n"
}

/// Best drive for each component, in the order of `placements`: greatest gain first.
fn conclusion(drives: &[Named], placements: &[Placement]) -> String {
    let said = placements.iter().filter_map(|placement| {
        let drive = drives.get(placement.best?)?;
        Some(format!(
            "{} to {} ({} times{})",
            placement.tenant.name(),
            drive.name,
            number(placement.gain_ratio?),
            if placement.maybe_as_good.is_empty() { "" } else { ", not surely" }
        ))
    });
    format!("What gains most by its place comes first: {}.", said.collect::<Vec<_>>().join(", "))
}

/// Explains an index's two break-even points and their relation to the advice.
fn sizing_notes(sizings: &[Sizing]) -> String {
    let mut text = String::new();
    if sizings.iter().any(|sizing| sizing.index_one_by_one.is_some()) {
        paragraph(
            &mut text,
            "",
            "Index: the part of the table up to which it beats a scan when nothing is cached. It is 1 / R, with R the time of a \
             random page by that of a page in the best sequential reads. One by one is how an index scan reads (depth 1, no \
             prefetching); advise takes the same R for PostgreSQL's random_page_cost, by the share of reads that miss \
             the caches. Many at a time is how bitmap scans prefetch, and what many sessions get together (the depth \
             that saturates).",
        );
    }
    text + "\n"
}

fn missing_text(sizings: &[Sizing], placements: &[Placement]) -> String {
    let mut missing: Vec<MissingFigure> = sizings
        .iter()
        .flat_map(|sizing| sizing.missing.iter().copied())
        .chain(placements.iter().flat_map(|placement| placement.missing.iter().copied()))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    let mut text = String::new();
    for MissingFigure { needs, how } in missing {
        paragraph(&mut text, "? ", &format!("Some profile lacks {needs}; {how}."));
    }
    text
}
