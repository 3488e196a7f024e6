use std::io::Write;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::writing::{NewFile, Writing};
use crate::directory::{DATA, FileEntry, PARTIAL, SumsEntry};
use crate::guard::guarded_writer;
use crate::layout::properties;
use crate::sums::{SummingWriter, Sums};
use crate::{ColumnsError, Files, WriteFile};

/// Rows from which the encodings of columns are chosen.
const SAMPLE_ROWS: usize = 64 << 10;
/// Rows per call of the writer; its memory is checked after each call.
const PIECE_ROWS: usize = 16 << 10;

/// Writes rows in input order into consecutive files.
pub(super) struct RunWriter {
    folder: &'static str,
    schema: SchemaRef,
    /// Rows waiting until the encodings are chosen.
    sample: Vec<RecordBatch>,
    properties: Option<WriterProperties>,
    open: Option<OpenFile>,
    entries: Vec<FileEntry>,
}

struct OpenFile {
    writer: ArrowWriter<SummingWriter<Box<dyn WriteFile>>>,
    names: NewFile,
    rows: u64,
}

impl RunWriter {
    pub(super) const fn new(schema: SchemaRef) -> Self {
        Self::within(DATA, schema)
    }

    /// Writes files in a folder of the table.
    pub(super) const fn within(folder: &'static str, schema: SchemaRef) -> Self {
        Self { folder, schema, sample: Vec::new(), properties: None, open: None, entries: Vec::new() }
    }

    pub(super) fn write(&mut self, writing: &mut Writing, batch: &RecordBatch) -> Result<(), ColumnsError> {
        if self.properties.is_some() {
            return self.write_pieces(writing, batch);
        }
        self.sample.push(batch.clone());
        let rows: usize = self.sample.iter().map(RecordBatch::num_rows).sum();
        if rows >= SAMPLE_ROWS { self.decide(writing) } else { Ok(()) }
    }

    /// Ends the file; the next rows begin another.
    pub(super) fn end_file(&mut self, writing: &mut Writing) -> Result<(), ColumnsError> {
        self.decide(writing)?;
        if let Some(open) = self.open.take() {
            self.entries.push(open.finish(writing.files.as_ref())?);
        }
        Ok(())
    }

    /// Returns the written files, synced, with `.partial`.
    pub(super) fn finish(mut self, writing: &mut Writing) -> Result<Vec<FileEntry>, ColumnsError> {
        self.end_file(writing)?;
        Ok(self.entries)
    }

    fn decide(&mut self, writing: &mut Writing) -> Result<(), ColumnsError> {
        let gathered = std::mem::take(&mut self.sample);
        if self.properties.is_none() && !gathered.is_empty() {
            let sample =
                concat_batches(&self.schema, &gathered).map_err(ColumnsError::arrow("sampling rows"))?;
            self.properties = Some(properties(&writing.manifest.layout, &sample)?);
        }
        gathered.iter().try_for_each(|batch| self.write_pieces(writing, batch))
    }

    fn write_pieces(&mut self, writing: &mut Writing, batch: &RecordBatch) -> Result<(), ColumnsError> {
        let mut from = 0;
        while from < batch.num_rows() {
            if self.open.is_none() {
                let properties = self.properties.clone().unwrap_or_default();
                self.open = Some(OpenFile::create(writing, self.folder, &self.schema, properties)?);
            }
            let Some(open) = &mut self.open else { unreachable!("it was opened just now") };
            let room =
                usize::try_from(writing.manifest.layout.file_rows.max(1) - open.rows).unwrap_or(usize::MAX);
            let rows = PIECE_ROWS.min(room).min(batch.num_rows() - from);
            open.write(&batch.slice(from, rows), writing.row_group_bytes)?;
            from += rows;
            if open.rows >= writing.manifest.layout.file_rows {
                self.end_file(writing)?;
            }
        }
        Ok(())
    }
}

impl OpenFile {
    fn create(
        writing: &mut Writing,
        folder: &str,
        schema: &SchemaRef,
        properties: WriterProperties,
    ) -> Result<Self, ColumnsError> {
        let names = writing.new_file(folder);
        let partial = format!("{}{PARTIAL}", names.data);
        let file = writing.files.create(&partial).map_err(ColumnsError::io("creating", &partial))?;
        let file = SummingWriter::new(file, names.identity);
        let wrong = ColumnsError::writing("beginning the file", &names.data);
        let begin = || ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(wrong);
        let writer = guarded_writer(&names.data, || "beginning the file".to_owned(), begin)?;
        Ok(Self { writer, names, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch, row_group_bytes: u64) -> Result<(), ColumnsError> {
        let (before, rows) = (self.rows, batch.num_rows() as u64);
        let (writer, name) = (&mut self.writer, self.names.data.as_str());
        let wrong = |source| ColumnsError::writing("writing rows to", name)(source);
        let action = || format!("writing {} behind {}", counted(rows), counted(before));
        guarded_writer(name, action, || {
            writer.write(batch).map_err(wrong)?;
            let is_full = writer.memory_size() as u64 >= row_group_bytes;
            if is_full { writer.flush().map_err(wrong) } else { Ok(()) }
        })?;
        self.rows += rows;
        Ok(())
    }

    fn finish(self, files: &dyn Files) -> Result<FileEntry, ColumnsError> {
        let Self { mut writer, names, rows } = self;
        // Unlike the writer's `into_inner`, this preserves the I/O error.
        let wrong = ColumnsError::writing("ending the file", &names.data);
        let action = || format!("ending the file of {}", counted(rows));
        guarded_writer(&names.data, action, || writer.finish().map_err(wrong))?;
        let (file, sums) = writer.inner_mut().finish();
        file.sync().map_err(ColumnsError::io("syncing", &names.data))?;
        Ok(FileEntry {
            path: names.data.clone(),
            bytes: sums.length_bytes(),
            rows,
            sums: write_sums(files, &names, &sums)?,
        })
    }
}

fn counted(rows: u64) -> String {
    format!("{rows} row{}", if rows == 1 { "" } else { "s" })
}

/// Writes a file's checksums, with `.partial`, and syncs them.
pub(super) fn write_sums(files: &dyn Files, names: &NewFile, sums: &Sums) -> Result<SumsEntry, ColumnsError> {
    let bytes = sums.encode();
    let partial = format!("{}{PARTIAL}", names.sums);
    let mut file = files.create(&partial).map_err(ColumnsError::io("creating", &partial))?;
    file.write_all(&bytes).map_err(ColumnsError::io("writing", &partial))?;
    file.sync().map_err(ColumnsError::io("syncing", &partial))?;
    Ok(SumsEntry {
        path: names.sums.clone(),
        bytes: bytes.len() as u64,
        crc32c: format!("{:08x}", nandle_units::checksum(&bytes)),
        identity: format!("{:016x}", names.identity),
    })
}
