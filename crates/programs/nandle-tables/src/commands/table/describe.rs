//! `nandle table describe`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use nandle_columns::{Manifest, Snapshot};
use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::{counted, paragraph, table, thousands, to_the_right};
use nandle_units::format_bytes;
use serde::Serialize;

use super::economics::{Economics, block_rows};
use super::load::order;
use crate::error::CliError;
use crate::input::{of_table, open_table};

/// Show a table's runs, rows, bytes by column, layout, order and profile
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  nandle table describe flights/")]
pub(super) struct DescribeArgs {
    /// Directory of the table
    table: PathBuf,
}

#[derive(Serialize)]
struct Description {
    schema_version: u32,
    table: String,
    snapshot: u64,
    rows: u64,
    bytes: u64,
    order: String,
    page_bytes: u64,
    row_group_rows: u64,
    file_rows: u64,
    profile: Option<String>,
    runs: Vec<RunDescription>,
    columns: Vec<ColumnDescription>,
    projections: Vec<ProjectionDescription>,
    /// By the table's stored profile.
    economics: Option<Economics>,
}

#[derive(Serialize)]
struct ProjectionDescription {
    columns: Vec<String>,
    snapshot: Option<u64>,
    bytes: u64,
}

#[derive(Serialize)]
struct RunDescription {
    snapshot: u64,
    files: u64,
    rows: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct ColumnDescription {
    name: String,
    r#type: String,
    nullable: bool,
    bytes: u64,
    /// Rows that fill a flexible block; `null` without a profile or stored data.
    block_rows: Option<u64>,
}

pub(super) fn run(args: &DescribeArgs, common: Common) -> Result<(), CliError> {
    let snapshot = open_table(&args.table)?.snapshot().map_err(|error| of_table(&args.table, error))?;
    let Some(manifest) = snapshot.manifest() else { unreachable!("a table's snapshot has a manifest") };
    let described = describe(&args.table, &snapshot, manifest)?;
    if common.json { Ok(output::json(&described)?) } else { Ok(output::result(&text(&described))?) }
}

fn describe(
    directory: &std::path::Path,
    snapshot: &Snapshot,
    manifest: &Manifest,
) -> Result<Description, CliError> {
    let by_column = bytes_by_column(snapshot);
    let bytes =
        |column: &nandle_columns::ColumnSpec| by_column.get(&column.name).copied().unwrap_or_default();
    let column_bytes: Vec<u64> = manifest.schema.iter().map(bytes).collect();
    let economics = Economics::of(directory, manifest, &column_bytes)?;
    let columns = manifest.schema.iter().map(|column| ColumnDescription {
        name: column.name.clone(),
        r#type: column.r#type.clone(),
        nullable: column.nullable,
        bytes: bytes(column),
        block_rows: economics
            .as_ref()
            .and_then(|economics| block_rows(economics.flexible_block_bytes, bytes(column), manifest.rows())),
    });
    let runs = manifest.runs.iter().map(|run| RunDescription {
        snapshot: run.snapshot,
        files: run.files.len() as u64,
        rows: run.rows(),
        bytes: run.files.iter().map(|file| file.bytes).sum(),
    });
    let projections = manifest.projections.iter().map(|projection| ProjectionDescription {
        columns: projection.columns.clone(),
        snapshot: projection.runs.first().map(|run| run.snapshot),
        bytes: projection.bytes(),
    });
    Ok(Description {
        schema_version: 1,
        table: directory.display().to_string(),
        snapshot: manifest.snapshot,
        rows: manifest.rows(),
        bytes: manifest.files().map(|file| file.bytes).sum(),
        order: order(&manifest.clustering),
        page_bytes: manifest.layout.page_bytes,
        row_group_rows: manifest.layout.row_group_rows,
        file_rows: manifest.layout.file_rows,
        profile: manifest.profile.as_ref().map(|profile| profile.device.clone()),
        runs: runs.collect(),
        columns: columns.collect(),
        projections: projections.collect(),
        economics,
    })
}

/// Compressed bytes of each column's chunks.
fn bytes_by_column(snapshot: &Snapshot) -> BTreeMap<String, u64> {
    let mut bytes = BTreeMap::new();
    for group in snapshot.files().iter().flat_map(|file| file.metadata().row_groups()) {
        for chunk in group.columns() {
            *bytes.entry(chunk.column_path().string()).or_default() += chunk.byte_range().1;
        }
    }
    bytes
}

fn text(of: &Description) -> String {
    let mut text = String::new();
    let runs = counted(of.runs.len() as u64, "run");
    let heading = format!(
        "{}: {} rows in {runs}, {} (snapshot {}).",
        of.table,
        thousands(of.rows as f64),
        format_bytes(of.bytes),
        of.snapshot
    );
    paragraph(&mut text, "", &heading);
    let layout = format!(
        "Rows that are loaded get pages of {} in row groups of {} rows; their order: {}.",
        format_bytes(of.page_bytes),
        thousands(of.row_group_rows as f64),
        of.order
    );
    paragraph(&mut text, "", &layout);
    let profile = of.profile.as_ref().map_or_else(
        || "No profile is kept: scans probe the directory, or are told one by --profile.".to_owned(),
        |device| format!("Laid out by the profile of {device}, which is kept as profile.json."),
    );
    paragraph(&mut text, "", &profile);
    if let Some(economics) = &of.economics {
        paragraph(&mut text, "", &economics.sentence());
    }
    let mut columns = table(["column", "type", "bytes", "bytes/row", "rows/block"]);
    for column in &of.columns {
        let per_row = column.bytes as f64 / of.rows.max(1) as f64;
        let optional = if column.nullable { "" } else { ", never null" };
        let data_type = format!("{}{optional}", column.r#type);
        columns.add_row([
            column.name.clone(),
            data_type,
            format_bytes(column.bytes),
            format!("{per_row:.3}"),
            column.block_rows.map_or_else(|| "–".to_owned(), |rows| thousands(rows as f64)),
        ]);
    }
    to_the_right(&mut columns, 2..);
    let mut of_runs = table(["run", "files", "rows", "bytes"]);
    for run in &of.runs {
        let rows = thousands(run.rows as f64);
        of_runs.add_row([run.snapshot.to_string(), run.files.to_string(), rows, format_bytes(run.bytes)]);
    }
    to_the_right(&mut of_runs, 0..);
    let _ = writeln!(text, "\n{columns}\n\n{of_runs}");
    if !of.projections.is_empty() {
        let _ = writeln!(text, "\n{}", projections(of));
    }
    text
}

fn projections(of: &Description) -> comfy_table::Table {
    let mut projections = table(["projection", "bytes", "bytes/row"]);
    for projection in &of.projections {
        let per_row = projection.bytes as f64 / of.rows.max(1) as f64;
        let name = projection.columns.join(",");
        projections.add_row([name, format_bytes(projection.bytes), format!("{per_row:.3}")]);
    }
    to_the_right(&mut projections, 1..);
    projections
}
