//! Plans that read only dictionaries, so that a consumer has all values before the first row.

use std::ops::Range;
use std::sync::Arc;

use arrow_schema::Schema;
use nandle_reads::{FileId, Want};

use super::{Column, ScanPlan, ScanSpec, Step};
use crate::ColumnsError;
use crate::number::short;
use crate::read::chunk::indexed_pages;
use crate::read::codes::is_dictionary_encoded;
use crate::read::file::ParquetFile;
use crate::read::rows;

impl ScanPlan {
    /// Plans to read the dictionaries of some columns for [`CodeDecoder::next_dictionaries`], one
    /// step per row group. Reads the whole chunk of a column without a dictionary in the row group,
    /// or without a page index.
    ///
    /// # Errors
    /// See [`new`](Self::new).
    ///
    /// [`CodeDecoder::next_dictionaries`]: crate::CodeDecoder::next_dictionaries
    pub fn of_dictionaries(
        files: Vec<Arc<ParquetFile>>,
        schema: &Schema,
        columns: &[String],
    ) -> Result<Self, ColumnsError> {
        // Without files there are no steps: this only checks columns and types.
        let spec = ScanSpec { step_rows: u32::MAX, ..ScanSpec::of(columns.iter().map(String::as_str)) };
        let mut plan = Self::with_schema(files, schema, &spec)?;
        plan.steps.clear();
        plan.wants.clear();
        plan.want_columns.clear();
        for (number, file) in plan.files.iter().enumerate() {
            let columns = plan.columns.get(number).map(Vec::as_slice).unwrap_or_default();
            for row_group in 0..file.metadata().num_row_groups() {
                let group_rows = file.metadata().row_group(row_group).num_rows();
                let step = short(plan.steps.len());
                let from = plan.wants.len();
                for (place, column) in columns.iter().enumerate() {
                    let bytes = dictionary_bytes(file, row_group, column);
                    if !bytes.is_empty() {
                        let (offset_bytes, length_bytes) = (bytes.start, bytes.end - bytes.start);
                        plan.wants.push(Want {
                            file: FileId(short(number)),
                            offset_bytes,
                            length_bytes,
                            step,
                        });
                        plan.want_columns.push(place);
                    }
                }
                if group_rows > 0 {
                    let batches = vec![rows::one(0..group_rows.cast_unsigned())];
                    let group = plan.groups();
                    plan.steps.push(Step {
                        group,
                        file: number,
                        row_group,
                        batches,
                        wants: from..plan.wants.len(),
                    });
                } else {
                    plan.wants.truncate(from);
                    plan.want_columns.truncate(from);
                }
            }
        }
        Ok(plan)
    }
}

fn dictionary_bytes(file: &ParquetFile, row_group: usize, column: &Column) -> Range<u64> {
    let chunk = file.metadata().row_group(row_group).column(column.leaf);
    let (start, length) = chunk.byte_range();
    let first = indexed_pages(file.metadata(), row_group, column.leaf).and_then(<[_]>::first);
    match first {
        Some(page) if is_dictionary_encoded(chunk) => start..page.offset.cast_unsigned(),
        Some(_) | None => start..start + length,
    }
}
