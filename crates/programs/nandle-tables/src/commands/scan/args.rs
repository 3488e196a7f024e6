use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use nandle_columns::{Predicate, ScanSpec, Snapshot};
use nandle_reads::{PlanOptions, Strategy};
use nandle_terminal::args::{IoArg, bytes_of_at_least, positive_bytes};

use super::paths::PathChoice;
use crate::costs::ProfileArgs;

/// With less memory no window of a plan has room.
const MEMORY_BYTES_MIN: u64 = 1 << 20;
/// Default number of rows of a table on a terminal.
const SHOWN_ROWS: u64 = 20;
/// Divisor of memory for step copies queued by the reading thread.
const COPIES_PART: u64 = 4;

/// Read columns of a table or of Parquet files
///
/// Columns, predicates and the page index determine which bytes are needed. The device's measured
/// costs determine the cheapest requests that read them. --explain shows both with the predicted
/// time before the scan, and the actual time after it. Reads bypass the page cache where the file
/// system supports it, so repeated scans are cold, too.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle scan flights/ --columns Origin,ArrDelay --in Origin=IAH,HOU --limit 10\n  nandle scan flights/ --columns Airline,ArrDelay --between Year=2005..2008 --explain\n  nandle scan 2008.parquet --columns Dest --format csv --reads one-by-one:16\n  nandle scan flights/ --columns Dest --record dest.needs.zst && nandle predict dest.needs.zst --on model:nvme-tlc"
)]
#[allow(clippy::struct_excessive_bools, reason = "switches of the command line")]
pub(crate) struct ScanArgs {
    /// Directory of a table, or Parquet files
    #[arg(value_name = "TABLE|FILES", required = true)]
    pub(super) input: Vec<PathBuf>,
    /// Columns to return, in this order [default: all columns]
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(super) columns: Vec<String>,
    /// Only rows with one of these values
    ///
    /// Rows must satisfy all predicates of the command. Put a value in double quotes if it contains
    /// commas or is empty: 'Name="Moore, J.",""'
    #[arg(long = "in", value_name = "COLUMN=VALUE,…", value_parser = is_in)]
    is_in: Vec<Predicate>,
    /// Only rows with a value from LOW to HIGH, inclusive; either bound may be omitted
    ///
    /// Quote values as for --in.
    #[arg(long, value_name = "COLUMN=LOW..HIGH", value_parser = between)]
    between: Vec<Predicate>,
    /// Only rows with null in all of these columns
    #[arg(long = "null", value_name = "COLUMN,…", value_delimiter = ',', value_parser = is_null)]
    is_null: Vec<Predicate>,
    /// Only rows without null in any of these columns
    #[arg(long = "not-null", value_name = "COLUMN,…", value_delimiter = ',', value_parser = is_not_null)]
    is_not_null: Vec<Predicate>,
    /// Read strategy
    ///
    /// flexible: the cheapest requests on this device. fixed-block: one request per needed range;
    /// fixed-block:SIZE: one per block of SIZE. whole-group: whole column chunks. one-by-one:N: in
    /// the order of use with N requests outstanding, as an engine with a buffer pool reads.
    #[arg(long, value_name = "STRATEGY", default_value = "flexible")]
    pub(super) reads: Strategy,
    /// Memory for data that are read but not yet decoded
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(super) memory: u64,
    /// Maximum request size [default: the device's]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes)]
    block: Option<u64>,
    /// Outstanding requests [default: enough to keep the device busy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Source of rows: auto, table or projection:COLUMN,…
    ///
    /// auto: the source with the least predicted time among those with all columns. projection: a
    /// sorted copy made by `nandle table project`; rows come in its order.
    #[arg(long, value_name = "PATH", default_value = "auto")]
    pub(super) path: PathChoice,
    /// I/O interface for the files
    #[arg(long, value_name = "INTERFACE", default_value = "auto")]
    pub(super) io: IoArg,
    #[command(flatten)]
    pub(super) profile: ProfileArgs,
    /// Show the plan, its predicted time and that of other strategies, then the actual time
    #[arg(long)]
    pub(super) explain: bool,
    /// Skip the prediction unless it decides between sources
    ///
    /// The scan then starts without measuring its processor time first.
    #[arg(long, conflicts_with = "explain")]
    pub(super) no_prediction: bool,
    /// Record reads and processor time for `nandle predict`
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Omit file names and the query from the recording
    #[arg(long, requires = "record")]
    pub(super) anonymous: bool,
    /// Output format of rows [default: table; none with --explain, --record or --json]
    #[arg(long, value_name = "FORMAT")]
    format: Option<RowFormat>,
    /// Number of rows to print [default: 20 with --format table, otherwise all]
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Fail if reads can't bypass the page cache
    #[arg(long)]
    pub(super) cold: bool,
}

/// Output format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum RowFormat {
    /// Aligned columns
    Table,
    /// CSV with a header
    Csv,
    /// JSON Lines: one object per row
    Json,
    /// Read rows but don't print them
    None,
}

impl ScanArgs {
    pub(super) fn spec(&self, snapshot: &Snapshot) -> ScanSpec {
        let all = || snapshot.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns: Vec<String> = if self.columns.is_empty() { all() } else { self.columns.clone() };
        self.predicates().cloned().fold(ScanSpec::of(columns), ScanSpec::with)
    }

    pub(super) fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        self.is_in.iter().chain(&self.between).chain(&self.is_null).chain(&self.is_not_null)
    }

    pub(super) fn format(&self, json: bool) -> RowFormat {
        let usual =
            if self.explain || self.record.is_some() || json { RowFormat::None } else { RowFormat::Table };
        self.format.unwrap_or(usual)
    }

    /// Number of rows to print.
    pub(super) fn limit(&self, format: RowFormat) -> u64 {
        let usual = if format == RowFormat::Table { SHOWN_ROWS } else { u64::MAX };
        self.limit.unwrap_or(usual)
    }

    pub(super) fn copies_bytes(&self) -> u64 {
        self.memory / COPIES_PART
    }

    /// Plan options, with the memory that copies leave.
    pub(super) fn plan_options(&self, strategy: Strategy) -> PlanOptions {
        PlanOptions {
            strategy,
            depth: self.depth,
            request_bytes_max: self.block,
            ..PlanOptions::new(self.memory - self.copies_bytes())
        }
    }

    /// Least `--memory` that leaves a plan `plan_bytes`.
    pub(super) fn memory_for(plan_bytes: u64) -> u64 {
        (plan_bytes * COPIES_PART).div_ceil(COPIES_PART - 1)
    }
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "1MiB")
}

fn is_in(text: &str) -> Result<Predicate, String> {
    let (column, values) = text.split_once('=').ok_or("expected COLUMN=VALUE,…")?;
    Ok(Predicate::is_in(column, values_of(values)?))
}

/// Splits comma-separated values, some of them in double quotes.
fn values_of(text: &str) -> Result<Vec<String>, String> {
    let (mut values, mut rest) = (Vec::new(), text);
    loop {
        let behind = if let Some(quoted) = quoted(rest)? {
            values.push(quoted.value);
            quoted.behind.trim_start()
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (value, behind) = rest.split_at(end);
            if value.trim().is_empty() {
                // A stray comma is more likely a mistake than an empty text.
                return Err("expected VALUE,…, and a value is missing (an empty text is \"\")".to_owned());
            }
            values.push(value.trim().to_owned());
            behind
        };
        rest = match behind.strip_prefix(',') {
            Some(next) => next,
            None if behind.is_empty() => return Ok(values),
            None => return Err(format!("expected a comma behind the quotes, and got `{behind}`")),
        };
    }
}

/// A quoted text and the rest after it.
struct Quoted<'a> {
    value: String,
    behind: &'a str,
}

/// Parses a leading quoted text, in which a double quote is doubled.
fn quoted(text: &str) -> Result<Option<Quoted<'_>>, String> {
    let Some(mut rest) = text.trim_start().strip_prefix('"') else { return Ok(None) };
    let mut value = String::new();
    loop {
        let (part, behind) = rest.split_once('"').ok_or("double quotes begin and don't end")?;
        value.push_str(part);
        let Some(next) = behind.strip_prefix('"') else { return Ok(Some(Quoted { value, behind })) };
        value.push('"');
        rest = next;
    }
}

fn is_null(text: &str) -> Result<Predicate, String> {
    column(text).map(Predicate::is_null)
}

fn is_not_null(text: &str) -> Result<Predicate, String> {
    column(text).map(Predicate::is_not_null)
}

fn column(text: &str) -> Result<&str, String> {
    if text.is_empty() {
        Err("expected the names of columns, with commas between them".to_owned())
    } else {
        Ok(text)
    }
}

fn between(text: &str) -> Result<Predicate, String> {
    let expected = || {
        "expected COLUMN=LOW..HIGH, COLUMN=LOW.. or COLUMN=..HIGH; a bound may stand between double quotes"
            .to_owned()
    };
    let (column, range) = text.split_once('=').ok_or_else(expected)?;
    let (low, behind) = if let Some(quoted) = quoted(range)? {
        (Some(quoted.value), quoted.behind.strip_prefix("..").ok_or_else(expected)?)
    } else {
        let (low, behind) = range.split_once("..").ok_or_else(expected)?;
        ((!low.is_empty()).then(|| low.to_owned()), behind)
    };
    let high = match quoted(behind)? {
        Some(quoted) if quoted.behind.is_empty() => Some(quoted.value),
        Some(_) => return Err(expected()),
        None => (!behind.is_empty()).then(|| behind.to_owned()),
    };
    match (low, high) {
        (None, None) => Err(expected()),
        (Some(low), Some(high)) if is_above(&low, &high) => {
            Err(format!("expected LOW..HIGH, and {low} is above {high}"))
        }
        (low, high) => Ok(Predicate::between(column, low.as_deref(), high.as_deref())),
    }
}

/// Returns true if `low` exceeds `high` as a number or a date. Other texts are compared once their
/// column is known.
fn is_above(low: &str, high: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    let are_numbers = number(low).zip(number(high));
    are_numbers.map_or(is_date(low) && is_date(high) && low > high, |(low, high)| low > high)
}

/// Returns true for `2008-04-30`, which compares as text.
fn is_date(text: &str) -> bool {
    let mut parts = text.split('-').map(str::as_bytes);
    [4, 2, 2].iter().all(|length| {
        parts.next().is_some_and(|part| part.len() == *length && part.iter().all(u8::is_ascii_digit))
    }) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predicates_are_understood() {
        assert_eq!(is_in("origin=IAH,HOU"), Ok(Predicate::is_in("origin", ["IAH", "HOU"])));
        let values = Predicate::is_in("name", ["Moore, J.", "", "5\" disk", "b"]);
        assert_eq!(is_in(r#"name="Moore, J.","","5"" disk", b"#), Ok(values));
        assert_eq!(is_in(r#"name="""#), Ok(Predicate::is_in("name", [""])));
        assert_eq!(between("year=2005..2008"), Ok(Predicate::between("year", Some("2005"), Some("2008"))));
        let of_texts = Predicate::between("name", Some("x..y"), Some("z, \"z\""));
        assert_eq!(between(r#"name="x..y".."z, ""z""""#), Ok(of_texts));
        assert_eq!(between("delay=-5.."), Ok(Predicate::between("delay", Some("-5"), None)));
        for wrong in [
            "year",
            "year=2005",
            "year=..",
            "year=2008..2005",
            "day=2009-06-01..2008-01-01",
            r#"name="a"b.."#,
            r#"name="a"#,
            "",
        ] {
            assert!(between(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            "origin",
            "origin=",
            "origin=a,,b",
            "origin=a,",
            r#"origin="a,b"#,
            r#"origin="",,a"#,
            r#"origin="a"b"#,
        ] {
            assert!(is_in(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn memory_is_enough_for_plan_and_copies() {
        for plan_bytes in [1, 3, 1000, 1 << 20] {
            let memory = ScanArgs::memory_for(plan_bytes);
            assert!(memory - memory / COPIES_PART >= plan_bytes, "{plan_bytes}");
        }
    }
}
