//! Parquet files with all kinds of columns, and engines over them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use arrow_schema::{DataType, Field};
use nandle_columns::{Clustering, Layout, Table, TableOptions};
use nandle_engine::{Engine, EngineError, EngineOptions, Format, RowWriter, Source};
use nandle_io::Nanos;
use nandle_reads::{Estimate, Pricing, ReadCosts, RequestCost};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tempfile::TempDir;

/// Rows of a row group.
pub(crate) const GROUP_ROWS: usize = 1000;

/// A directory of files, and one for temporary files.
pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.path("spill")).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Three files of several row groups with page indexes, a fourth without, and unrelated files.
    pub(crate) fn with_files() -> Self {
        let place = Self::new();
        std::fs::create_dir(place.path("rows")).unwrap();
        for (number, count) in [3500, 1000, 2200].into_iter().enumerate() {
            place.write(&format!("rows/{number}.parquet"), number * 10_000, count, &with_pages());
        }
        place.write("rows/3.parquet", 30_000, 1500, &without_pages());
        place
    }

    pub(crate) fn write(&self, name: &str, first: usize, count: usize, properties: &WriterProperties) {
        write(&self.path(name), &rows(first, count), properties);
    }

    /// Adds a table of this project with the rows of three files.
    pub(crate) fn add_table(&self, name: &str) {
        self.add_table_of(name, 1);
    }

    /// Adds such a table with another identity.
    pub(crate) fn add_table_of(&self, name: &str, identity: u64) {
        let table = self.create(name, Clustering::None, identity);
        for (number, count) in [3500, 1000, 2200].into_iter().enumerate() {
            let mut writer = table.load().unwrap();
            writer.write(&flat(&rows(number * 10_000, count))).unwrap();
            writer.commit().unwrap();
        }
    }

    pub(crate) fn add_empty_table(&self, name: &str) -> Table {
        self.add_clustered_table(name, Clustering::None)
    }

    pub(crate) fn add_clustered_table(&self, name: &str, clustering: Clustering) -> Table {
        self.create(name, clustering, 1)
    }

    fn create(&self, name: &str, clustering: Clustering, identity: u64) -> Table {
        let layout = Layout { page_bytes: 2048, row_group_rows: 1000, file_rows: 2500, ..Layout::default() };
        let schema = flat(&rows(0, 1)).schema();
        Table::create(
            &self.path(name),
            &TableOptions { layout, clustering, ..TableOptions::new(schema, identity) },
        )
        .unwrap()
    }

    pub(crate) fn options(&self, memory_bytes: u64) -> EngineOptions {
        EngineOptions {
            memory_bytes,
            spill_directory: self.path("spill"),
            spill_limit_bytes: 1 << 30,
            threads: NonZeroUsize::new(3).unwrap(),
            thread_clock,
            queries: NonZeroUsize::MIN,
            world_layer: None,
        }
    }

    /// An engine with some of the places as tables.
    pub(crate) fn engine(&self, names: &[&str]) -> Engine {
        self.engine_in(64 << 20, names)
    }

    pub(crate) fn engine_in(&self, memory_bytes: u64, names: &[&str]) -> Engine {
        let engine = Engine::new(&self.options(memory_bytes)).unwrap();
        for name in names {
            self.add(&engine, name).unwrap();
        }
        engine
    }

    pub(crate) fn add(&self, engine: &Engine, name: &str) -> Result<(), EngineError> {
        engine.add_table(&Source::find(&self.path(name).display().to_string())?, &pricing())
    }
}

/// Advances by a microsecond per call.
fn thread_clock() -> Nanos {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    Nanos(LOOKS.fetch_add(1000, Ordering::Relaxed))
}

pub(crate) fn write(path: &Path, rows: &RecordBatch, properties: &WriterProperties) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.clone())).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

pub(crate) fn with_pages() -> WriterProperties {
    WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build()
}

fn without_pages() -> WriterProperties {
    WriterProperties::builder()
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_dictionary_enabled(false)
        .build()
}

/// Ascending numbers, repeating and unique texts, nulls, lists, structs.
pub(crate) fn rows(first: usize, count: usize) -> RecordBatch {
    let numbers = || (first..first + count).map(|row| i64::try_from(row).unwrap());
    let small = |row: i64, of: i64| i32::try_from(row % of).unwrap();
    let some = |row: i64, every: i64| (row % every != 0).then_some(row);
    let mut tags = ListBuilder::new(Int32Builder::new());
    for row in numbers() {
        (0..row % 4).for_each(|tag| tags.values().append_value(small(row + tag, 7)));
        tags.append(row % 5 != 0);
    }
    let names = ["IAH", "HOU", "DFW", "AUS", "SAT"];
    let point: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("x", DataType::Int32, true)),
            Arc::new(numbers().map(|row| some(row, 3).map(|row| small(row, 100))).collect::<Int32Array>()),
        ),
        (
            Arc::new(Field::new("label", DataType::Utf8, true)),
            Arc::new(numbers().map(|row| some(row, 4).map(|row| format!("p{row}"))).collect::<StringArray>()),
        ),
    ];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(numbers().collect::<Int64Array>())),
        (
            "airport",
            Arc::new(
                numbers()
                    .map(|row| some(row, 6).map(|row| names[usize::try_from(row % 5).unwrap()]))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "note",
            Arc::new(
                numbers()
                    .map(|row| some(row, 9).map(|row| format!("note {}", row * 7919 % 100_003)))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "amount",
            Arc::new(
                numbers()
                    .map(|row| some(row, 8).map(|row| (row * 31 % 1000) as f64 / 4.0))
                    .collect::<Float64Array>(),
            ),
        ),
        ("day", Arc::new(numbers().map(|row| Some(14_000 + small(row / 50, 400))).collect::<Date32Array>())),
        ("tags", Arc::new(tags.finish())),
        ("point", Arc::new(StructArray::from(point))),
    ];
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, name != "id")),
    )
    .unwrap()
}

/// Removes columns that tables of this project can't have.
pub(crate) fn flat(rows: &RecordBatch) -> RecordBatch {
    rows.project(&[0, 1, 2, 3, 4]).unwrap()
}

/// 80 us per request, up to 32 at once and 2 GB/s.
pub(crate) fn pricing() -> Pricing {
    let seconds = |bytes: u64, depth: u32| {
        let bytes = bytes as f64;
        let value = ((80e-6 + bytes / 2e9) / f64::from(depth)).max(bytes / 2e9);
        Estimate { value, low: value * 0.9, high: value * 1.2 }
    };
    let cells = (12..=18).flat_map(|power| [1_u32, 4, 16, 32].map(|depth| (1_u64 << power, depth)));
    let random = cells.map(|(request_bytes, depth)| RequestCost {
        request_bytes,
        depth,
        seconds: seconds(request_bytes, depth),
    });
    let costs = ReadCosts {
        logical_block_bytes: 512,
        largest_request_bytes: 256 << 10,
        random: random.collect(),
        sequential: Vec::new(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    };
    Pricing::new(costs).unwrap()
}

/// Rows of a statement as lines of JSON.
pub(crate) fn answer(engine: &Engine, statement: &str) -> Result<Vec<String>, EngineError> {
    let mut lines = Vec::new();
    for statement in engine.parse(statement)? {
        let mut rows = engine.run(&statement)?;
        let mut text = Vec::new();
        let mut writer = RowWriter::new(&mut text, Format::Json, rows.schema())?;
        while let Some(batch) = rows.next_batch(&|| false)? {
            writer.write(&batch)?;
        }
        writer.finish()?;
        lines.extend(String::from_utf8(text).unwrap().lines().map(ToOwned::to_owned));
    }
    Ok(lines)
}

/// Sorted rows, for statements without an order.
#[track_caller]
pub(crate) fn sorted(engine: &Engine, statement: &str) -> Vec<String> {
    let mut lines = answer(engine, statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    lines.sort();
    lines
}

#[track_caller]
pub(crate) fn set_reads(engine: &Engine, how: &str) {
    answer(engine, &format!("SET nandle.reads = '{how}'")).unwrap();
}

/// Output of EXPLAIN or EXPLAIN ANALYZE.
#[track_caller]
pub(crate) fn plan(engine: &Engine, statement: &str) -> String {
    let statement = engine.parse(statement).unwrap().remove(0).unwrap();
    let mut rows = engine.run(&statement).unwrap();
    let mut text = String::new();
    while let Some(batch) = rows.next_batch(&|| false).unwrap() {
        let plans = batch.column_by_name("plan").unwrap().as_string::<i32>();
        plans.iter().flatten().for_each(|plan| text.push_str(plan));
    }
    text
}

/// Values of a figure for each scan of a plan.
pub(crate) fn figures<'a>(plan: &'a str, name: &'a str) -> Vec<&'a str> {
    let parts =
        plan.lines().filter(|line| line.contains("reads=")).flat_map(|line| line.split(['[', ',', ']']));
    parts.filter_map(|part| part.trim().strip_prefix(name)?.strip_prefix('=')).collect()
}
