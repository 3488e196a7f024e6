//! The paper's own path: a row store with a covering B-tree index for each query (papers' notes,
//! §4). It is a real SQLite; reading an index's leaves one by one in key order is the cost of a
//! cube on a device.

mod error;
mod jumps;
mod leaves;
mod load;

use std::path::Path;

use arrow_array::RecordBatch;
use nandle_reads::FileId;
use nandle_reads::recording::{QueryTotals, RecordedQuery};
use rusqlite::Connection;

pub use self::error::BtreeError;
pub use self::jumps::{turning_share, with_jumps};
pub use self::leaves::Leaves;
use crate::{Column, CubeQuery, ThreadClock};

/// Time at which an index is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// After all rows: built from sorted keys, so nearly every leaf follows the previous one.
    Built,
    /// Before any row: leaves split as rows arrive, so hardly any does.
    Grown,
}

/// Options of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BtreeOptions {
    /// Page size: a power of two from 512 to 65 536. The paper uses 8 and 32 KiB.
    pub page_bytes: u32,
    /// Time at which its indexes are created.
    pub index: IndexKind,
    /// Memory of the page cache during creation.
    pub pool_bytes: u64,
}

impl Default for BtreeOptions {
    /// 8 KiB, built, 64 MiB.
    fn default() -> Self {
        Self { page_bytes: 8 << 10, index: IndexKind::Built, pool_bytes: 64 << 20 }
    }
}

/// A database of flights with a covering index for each of some cubes. It doesn't survive power
/// cuts: it is for measurements only.
pub struct Btree {
    connection: Connection,
    options: BtreeOptions,
    queries: Vec<CubeQuery>,
    has_indexes: bool,
}

/// Columns of the cubes, in table order.
const COLUMNS: [Column; 8] = [
    Column::Airline,
    Column::Dest,
    Column::Month,
    Column::Origin,
    Column::Year,
    Column::Diverted,
    Column::Cancelled,
    Column::ArrDelay,
];

impl Btree {
    /// Creates a database at `path` with indexes for these cubes.
    ///
    /// # Errors
    /// `path` exists; the page size is unsupported; SQLite failed.
    pub fn create(path: &Path, queries: &[CubeQuery], options: BtreeOptions) -> Result<Self, BtreeError> {
        if path.exists() {
            return Err(BtreeError::Exists { path: path.to_owned() });
        }
        let failed = BtreeError::of("making the database");
        let connection = Connection::open(path).map_err(&failed)?;
        let BtreeOptions { page_bytes, pool_bytes, .. } = options;
        // The page size must be set before the first table; a negative cache size is in KiB.
        let pool_kib = pool_bytes >> 10;
        let names = COLUMNS.map(Column::name).join(", ");
        let setup = format!(
            "pragma page_size = {page_bytes}; pragma journal_mode = off; pragma synchronous = off; \
             pragma locking_mode = exclusive; pragma cache_size = -{pool_kib}; create table flights ({names});"
        );
        connection.execute_batch(&setup).map_err(&failed)?;
        let got: u32 = connection.query_row("pragma page_size", [], |row| row.get(0)).map_err(&failed)?;
        if got != page_bytes {
            return Err(BtreeError::PageBytes { page_bytes });
        }
        let mut btree = Self { connection, options, queries: queries.to_vec(), has_indexes: false };
        if options.index == IndexKind::Grown {
            btree.index()?;
        }
        Ok(btree)
    }

    /// Inserts flights of the crate's schema in one transaction.
    ///
    /// # Errors
    /// The batch has another schema; SQLite failed.
    pub fn add(&mut self, flights: &RecordBatch) -> Result<(), BtreeError> {
        load::add(&mut self.connection, flights)
    }

    /// Completes the database: builds its indexes if they are created after the rows.
    ///
    /// # Errors
    /// SQLite failed.
    pub fn finish(&mut self) -> Result<(), BtreeError> {
        match self.options.index {
            IndexKind::Built => self.index(),
            IndexKind::Grown => Ok(()),
        }
    }

    fn index(&mut self) -> Result<(), BtreeError> {
        for query in &self.queries {
            let statement = format!("create index \"{query}\" on flights ({})", columns_of(*query));
            self.connection.execute_batch(&statement).map_err(BtreeError::of("making an index"))?;
        }
        self.has_indexes = true;
        Ok(())
    }

    /// Leaves of a cube's index, in key order.
    ///
    /// # Errors
    /// There is no such index; SQLite failed.
    pub fn leaves(&self, query: CubeQuery) -> Result<Leaves, BtreeError> {
        self.has(query)?;
        Leaves::of(&self.connection, &query.to_string(), self.options.page_bytes)
    }

    /// Number of a cube's groups, counted by SQLite through its index.
    ///
    /// # Errors
    /// See [`leaves`](Self::leaves).
    pub fn groups(&self, query: CubeQuery) -> Result<u64, BtreeError> {
        self.has(query)?;
        let columns = columns_of(query);
        let select = format!(
            "select count(*) from (select count(*) from flights indexed by \"{query}\" group by {columns})"
        );
        let counted = self.connection.query_row(&select, [], |row| row.get::<_, i64>(0));
        // A count isn't negative.
        Ok(counted.map_err(BtreeError::of("counting a cube"))?.unsigned_abs())
    }

    /// Records a cube computed from its index: one step per leaf in key order. The processor time
    /// is that of SQLite with all pages in memory, divided evenly. Reading the wants one by one
    /// matches SQLite with a cold cache. The database is file `file`.
    ///
    /// # Errors
    /// See [`leaves`](Self::leaves).
    pub fn recorded(
        &self,
        query: CubeQuery,
        file: FileId,
        clock: ThreadClock,
    ) -> Result<RecordedQuery, BtreeError> {
        let leaves = self.leaves(query)?;
        // A page cache for the whole index, filled by a first run; a negative size is in KiB.
        let pages = leaves.count() as u64 + leaves.inner_pages();
        let pool_kib = (pages + 64) * u64::from(self.options.page_bytes) / 1024 + (8 << 10);
        let pool = |kib: u64| {
            let statement = format!("pragma cache_size = -{kib}");
            self.connection.execute_batch(&statement).map_err(BtreeError::of("sizing the pool of pages"))
        };
        pool(pool_kib)?;
        self.groups(query)?;
        let began_at = clock();
        let result_rows = self.groups(query)?;
        let cpu = clock().since(began_at);
        pool(self.options.pool_bytes >> 10)?;
        let steps = leaves.count() as u64;
        Ok(RecordedQuery {
            name: Some(query.to_string()),
            text: None,
            wants: leaves.wants(file).collect(),
            cpu_after_ns: vec![cpu.0 / steps.max(1); leaves.count()],
            totals: QueryTotals { result_rows, ..QueryTotals::default() },
        })
    }

    fn has(&self, query: CubeQuery) -> Result<(), BtreeError> {
        let is_there = self.has_indexes && self.queries.contains(&query);
        if is_there { Ok(()) } else { Err(BtreeError::NoIndex { query }) }
    }
}

fn columns_of(query: CubeQuery) -> String {
    query.columns().into_iter().map(Column::name).collect::<Vec<_>>().join(", ")
}
