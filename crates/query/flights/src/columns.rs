//! Builder of batches of flights.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, Date32Builder, Int16Builder, StringBuilder, StringDictionaryBuilder, UInt8Builder,
    UInt16Builder,
};
use arrow_array::types::UInt16Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, SchemaRef};

use crate::Column;
use crate::schema::{Kind, flight_schema};

/// Builder of a column.
pub(crate) enum Cells {
    /// Numbers up to 255.
    U8(UInt8Builder),
    /// Numbers up to 65 535.
    U16(UInt16Builder),
    /// Minutes.
    I16(Int16Builder),
    /// Days.
    Date(Date32Builder),
    /// Few distinct texts.
    Code(StringDictionaryBuilder<UInt16Type>),
    /// Arbitrary texts.
    Text(StringBuilder),
}

impl Cells {
    fn new(kind: Kind, rows: usize) -> Self {
        match kind {
            Kind::U8 => Self::U8(UInt8Builder::with_capacity(rows)),
            Kind::U16 => Self::U16(UInt16Builder::with_capacity(rows)),
            Kind::I16 => Self::I16(Int16Builder::with_capacity(rows)),
            Kind::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Kind::Code => Self::Code(StringDictionaryBuilder::with_capacity(rows, 512, 2048)),
            Kind::Text => Self::Text(StringBuilder::with_capacity(rows, 8 * rows)),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::U8(cells) => Arc::new(cells.finish()),
            Self::U16(cells) => Arc::new(cells.finish()),
            Self::I16(cells) => Arc::new(cells.finish()),
            Self::Date(cells) => Arc::new(cells.finish()),
            Self::Code(cells) => Arc::new(cells.finish()),
            Self::Text(cells) => Arc::new(cells.finish()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U8(cells) => cells.len(),
            Self::U16(cells) => cells.len(),
            Self::I16(cells) => cells.len(),
            Self::Date(cells) => cells.len(),
            Self::Code(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }
}

/// Builders of all columns.
pub(crate) struct Columns {
    schema: SchemaRef,
    cells: Vec<Cells>,
}

impl Columns {
    /// Reserves space for `rows` rows.
    pub(crate) fn new(rows: usize) -> Self {
        let cells = Column::ALL.iter().map(|column| Cells::new(column.kind(), rows)).collect();
        Self { schema: flight_schema(), cells }
    }

    /// All columns with their builders.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Column, &mut Cells)> {
        Column::ALL.iter().copied().zip(&mut self.cells)
    }

    /// Number of complete rows.
    pub(crate) fn rows(&self) -> usize {
        self.cells.last().map_or(0, Cells::len)
    }

    /// Returns the batch and starts the next one.
    pub(crate) fn finish(&mut self) -> Result<RecordBatch, ArrowError> {
        let arrays = self.cells.iter_mut().map(Cells::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
    }
}
