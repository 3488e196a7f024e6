use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::SchemaRef;

use crate::directory::{FileEntry, Manifest, Pinned, Projection, pin_current};
use crate::files::{ForeignFile, OnDemand, whole};
use crate::read::common_schema;
use crate::{ColumnsError, Files, ParquetFile, Place, ReadAt, ScanPlan, ScanSpec, Sums};

/// Immutable rows: a table at one time, or a set of Parquet files.
#[derive(Debug, Clone)]
pub struct Snapshot {
    pinned: Option<Arc<Pinned>>,
    /// File system of a table.
    place: Option<Arc<dyn Files>>,
    files: Vec<Arc<ParquetFile>>,
    schema: SchemaRef,
}

impl Snapshot {
    pub(super) fn open(files: &Arc<dyn Files>) -> Result<Self, ColumnsError> {
        let pinned = pin_current(files.as_ref())?;
        let entries = pinned.manifest.runs.iter().flat_map(|run| &run.files);
        let opened = entries.map(|entry| open_entry(files, entry).map(Arc::new)).collect::<Result<_, _>>()?;
        let schema = pinned.manifest.schema()?;
        let place = Some(Arc::clone(files));
        Ok(Self { pinned: Some(Arc::new(pinned)), place, files: opened, schema })
    }

    /// Opens Parquet files in place, in this order. Checks only what Parquet checks.
    ///
    /// # Errors
    /// A file can't be read, or isn't Parquet; there is no file.
    pub fn of_files(paths: &[PathBuf]) -> Result<Self, ColumnsError> {
        let open = |path: &PathBuf| {
            let name = path.display().to_string();
            let source = ForeignFile::open(path).map_err(ColumnsError::io("opening", &name))?;
            ParquetFile::open(&name, Arc::new(source), None).map(Arc::new)
        };
        let files: Vec<Arc<ParquetFile>> = paths.iter().map(open).collect::<Result<_, _>>()?;
        if files.is_empty() {
            let what = "no Parquet file was named".to_owned();
            return Err(ColumnsError::Misuse { what, mend: "name one at least" });
        }
        let schema = common_schema(&files);
        Ok(Self { pinned: None, place: None, files, schema })
    }

    /// Checks that all files have the same flat columns, in any order. Required before creating a
    /// table from them, because columns that only later files have would be lost.
    ///
    /// # Errors
    /// A file lacks a column of the first, has it with another type, or has an additional one.
    pub fn check_same_columns(&self) -> Result<(), ColumnsError> {
        let wrong = |file: &ParquetFile, column: &str, got: String, expected: String| ColumnsError::Schema {
            file: file.name().to_owned(),
            column: column.to_owned(),
            got,
            expected,
        };
        for file in &self.files {
            for field in self.schema.fields() {
                let (got, expected) = (file.column(field.name())?.field, field.data_type());
                if got.data_type() != expected {
                    let (got, expected) = (got.data_type().to_string(), expected.to_string());
                    return Err(wrong(file, field.name(), got, expected));
                }
            }
            let fields = file.schema().fields().iter();
            if let Some(more) = fields.into_iter().find(|field| self.schema.index_of(field.name()).is_err()) {
                let got = more.data_type().to_string();
                return Err(wrong(file, more.name(), got, "no such column".to_owned()));
            }
        }
        Ok(())
    }

    /// Manifest of the table; `None` for Parquet files.
    pub fn manifest(&self) -> Option<&Manifest> {
        self.pinned.as_ref().map(|pinned| &pinned.manifest)
    }

    /// Projections of the table that contain all columns of a scan; none for Parquet files.
    pub fn covering(&self, spec: &ScanSpec) -> Vec<&Projection> {
        let projections = self.manifest().map(|manifest| manifest.projections.as_slice()).unwrap_or_default();
        projections.iter().filter(|projection| projection.covers(spec.names())).collect()
    }

    /// Opens a projection of this snapshot: its columns, sorted. Keeps the snapshot's files as
    /// well.
    ///
    /// # Errors
    /// A file can't be read, or is damaged; the snapshot has no such projection.
    pub fn projection(&self, projection: &Projection) -> Result<Self, ColumnsError> {
        let own = self.manifest().is_some_and(|manifest| manifest.projections.contains(projection));
        let Some(place) = self.place.as_ref().filter(|_| own) else {
            let what = format!("projection `{}` is none of this snapshot", projection.name());
            return Err(ColumnsError::Misuse { what, mend: "take one of those in its manifest" });
        };
        let entries = projection.runs.iter().flat_map(|run| &run.files);
        let files = entries.map(|entry| open_entry(place, entry).map(Arc::new));
        let schema = super::schema::select(&self.schema, &projection.columns)?;
        Ok(Self { files: files.collect::<Result<_, _>>()?, schema, ..self.clone() })
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Its files, in the order of rows.
    pub fn files(&self) -> &[Arc<ParquetFile>] {
        &self.files
    }

    /// Number of its rows.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows()).sum()
    }

    /// Plans a scan. The plan keeps the snapshot's files.
    ///
    /// # Errors
    /// See [`ScanPlan::new`].
    pub fn scan(&self, spec: &ScanSpec) -> Result<ScanPlan, ColumnsError> {
        for column in spec.names() {
            super::schema::place(&self.schema, column)?;
        }
        let schema = Arc::clone(&self.schema);
        Ok(ScanPlan::with_schema(self.files.clone(), &schema, spec)?.keeping(self.pinned.clone()))
    }

    /// Plans to read only the dictionaries of some columns. The plan keeps the snapshot's files.
    ///
    /// # Errors
    /// See [`ScanPlan::of_dictionaries`].
    pub fn scan_dictionaries<T: Into<String>>(
        &self,
        columns: impl IntoIterator<Item = T>,
    ) -> Result<ScanPlan, ColumnsError> {
        let spec = ScanSpec::of(columns);
        for column in &spec.columns {
            super::schema::place(&self.schema, column)?;
        }
        let schema = Arc::clone(&self.schema);
        Ok(ScanPlan::of_dictionaries(self.files.clone(), &schema, &spec.columns)?
            .keeping(self.pinned.clone()))
    }
}

/// Opens a file of a table and compares it with its manifest entry.
pub(super) fn open_entry(files: &Arc<dyn Files>, entry: &FileEntry) -> Result<ParquetFile, ColumnsError> {
    let source = OnDemand::open(files, &entry.path).map_err(ColumnsError::io("opening", &entry.path))?;
    let place = Place::of_file(&entry.path);
    if source.length_bytes() != entry.bytes {
        let why = format!("it has {} bytes, and the manifest says {}", source.length_bytes(), entry.bytes);
        return Err(ColumnsError::damaged(&place, why));
    }
    let sums = Arc::new(read_sums(files.as_ref(), entry)?);
    let file = ParquetFile::open(&entry.path, Arc::new(source), Some(sums))?;
    if file.rows() != entry.rows {
        return Err(ColumnsError::damaged(
            &place,
            format!("it has {} rows, and the manifest says {}", file.rows(), entry.rows),
        ));
    }
    Ok(file)
}

/// Reads the checksums of a file and compares them with its manifest entry.
pub(super) fn read_sums(files: &dyn Files, entry: &FileEntry) -> Result<Sums, ColumnsError> {
    let path = &entry.sums.path;
    let damaged = |why: String| ColumnsError::damaged(&Place::of_file(path), why);
    let file = files.open(path).map_err(ColumnsError::io("opening", path))?;
    let length_bytes = file.length_bytes();
    if length_bytes != entry.sums.bytes || length_bytes != Sums::encoded_bytes(entry.bytes) {
        let (said, data_bytes) = (entry.sums.bytes, entry.bytes);
        return Err(damaged(format!(
            "it has {length_bytes} bytes, and the manifest says {said} for a file of {data_bytes}"
        )));
    }
    let bytes = whole(file.as_ref()).map_err(ColumnsError::io("reading", path))?;
    let got = format!("{:08x}", nandle_units::checksum(&bytes));
    if got != entry.sums.crc32c {
        let expected = &entry.sums.crc32c;
        return Err(damaged(format!("its CRC32C is {got}, and the manifest says {expected}")));
    }
    let sums = Sums::parse(path, &bytes)?;
    if format!("{:016x}", sums.identity()) != entry.sums.identity || sums.length_bytes() != entry.bytes {
        return Err(damaged("its sums are of another file".to_owned()));
    }
    Ok(sums)
}
