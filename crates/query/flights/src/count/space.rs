//! Groups as numbers: the codes of a group's values packed into one key.

use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use super::{CountError, Shifted};

/// Grouping columns with the values of their codes, and the packing of codes into keys.
///
/// A column's code is the index of its value among `values`. A key is the sum of each code times
/// the column's stride; the last column's stride is 1. So keys sort like groups by their codes. One
/// column can be chosen to lead the order.
#[derive(Debug, Clone)]
pub struct KeySpace {
    columns: Vec<KeyColumn>,
    packing: Packing,
    cells: u64,
    schema: SchemaRef,
    /// Column with the largest stride.
    leading: usize,
}

#[derive(Debug, Clone)]
struct KeyColumn {
    values: ArrayRef,
    stride: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// Strides are products of the numbers of values, for the smallest keys.
    Radix,
    /// Strides are powers of two, so that keys are unpacked without division.
    Bits,
}

impl KeySpace {
    /// Maximum number of cells for counting in an array, if it fits in memory.
    pub const DENSE_CELLS_MAX: u64 = 16 << 20;

    /// Creates a space of these columns, with names and values by code. A value may be null.
    ///
    /// # Errors
    /// There is no column; one has no values; the combinations of values exceed 63 bits.
    pub fn new(columns: Vec<(String, ArrayRef)>) -> Result<Self, CountError> {
        Self::led_by(0, columns)
    }

    /// Creates a space in which the column `leading` comes first in the order of keys.
    pub(crate) fn led_by(leading: usize, columns: Vec<(String, ArrayRef)>) -> Result<Self, CountError> {
        if columns.is_empty() || columns.iter().any(|(_, values)| values.is_empty()) {
            return Err(CountError::NoValues);
        }
        let sizes: Vec<u64> = columns.iter().map(|(_, values)| values.len() as u64).collect();
        let names = || columns.iter().map(|(name, values)| format!("{name} ({})", values.len()));
        let product = sizes.iter().try_fold(1_u64, |product, size| product.checked_mul(*size));
        let bits: u32 = sizes.iter().map(|size| bits_of(*size)).sum();
        let packing = match product {
            Some(cells) if cells <= Self::DENSE_CELLS_MAX => Packing::Radix,
            // A table of groups needs at least one more bit per key.
            _ if bits < u64::BITS => Packing::Bits,
            Some(cells) if cells <= 1 << (u64::BITS - 1) => Packing::Radix,
            _ => return Err(CountError::TooManyCells { columns: names().collect::<Vec<_>>().join(", ") }),
        };
        let mut cells = 1_u64;
        let mut strides = vec![1; sizes.len()];
        let others = (0..sizes.len()).rev().filter(|number| *number != leading);
        for number in others.chain([leading]) {
            let (Some(size), Some(stride)) = (sizes.get(number), strides.get_mut(number)) else { continue };
            *stride = cells;
            cells *= match packing {
                Packing::Radix => *size,
                Packing::Bits => 1 << bits_of(*size),
            };
        }
        let fields =
            columns.iter().map(|(name, values)| Field::new(name, result_type(values), values.is_nullable()));
        let count = Field::new("count", DataType::UInt64, false);
        let schema = Arc::new(Schema::new(fields.chain([count]).collect::<Vec<_>>()));
        let columns = columns
            .into_iter()
            .zip(strides)
            .map(|((_, values), stride)| KeyColumn { values, stride })
            .collect();
        Ok(Self { columns, packing, cells, schema, leading })
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// One more than the largest key.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Schema of results: the columns, and `count` (u64). Text is dictionary-encoded.
    pub fn result_schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the parts of keys for a column's own dictionary. `codes` maps each entry of the
    /// dictionary to the column's code.
    ///
    /// # Errors
    /// There is no such column, or a code is too large.
    pub fn shifted(&self, column: usize, codes: &[u32]) -> Result<Shifted, CountError> {
        let key_column = self.columns.get(column);
        let (values, stride) = key_column.map_or((0, 0), |column| (column.values.len(), column.stride));
        let shifted = codes.iter().map(|code| {
            let is_known = (*code as usize) < values;
            is_known.then(|| u64::from(*code) * stride).ok_or(CountError::Code {
                column,
                code: *code,
                codes: values,
            })
        });
        shifted.collect::<Result<_, _>>().map(Shifted::new)
    }

    /// Splits a key into the part without the last column, and the last column's part.
    pub(super) fn split_last(&self, key: u64) -> (u64, u64) {
        let size = self.columns.last().map_or(1, |column| column.values.len() as u64);
        match self.packing {
            Packing::Radix => (key - key % size, key % size),
            Packing::Bits => {
                let mask = (1 << bits_of(size)) - 1;
                (key & !mask, key & mask)
            }
        }
    }

    /// Number of values of the last column.
    pub(super) fn last_values(&self) -> usize {
        self.columns.last().map_or(0, |column| column.values.len())
    }

    /// Column that comes first in the order of keys.
    pub(super) fn leading(&self) -> usize {
        self.leading
    }

    /// Stride of the leading column: one more than the largest key without its part.
    pub(super) fn cells_behind(&self) -> u64 {
        self.columns.get(self.leading).map_or(1, |column| column.stride)
    }

    /// Number of values of the leading column.
    pub(super) fn leading_values(&self) -> usize {
        self.columns.get(self.leading).map_or(0, |column| column.values.len())
    }

    /// Maximum bits of a key.
    pub(super) fn key_bits(&self) -> u32 {
        (u64::BITS - (self.cells - 1).leading_zeros()).max(1)
    }

    /// Maximum bytes of a key.
    pub(super) fn key_bytes(&self) -> usize {
        self.key_bits().div_ceil(8) as usize
    }

    /// Converts groups and counts to a batch, with values instead of codes.
    pub(super) fn batch(&self, keys: &[u64], counts: Vec<u64>) -> Result<RecordBatch, CountError> {
        let mut arrays = Vec::with_capacity(self.columns.len() + 1);
        for column in &self.columns {
            let size = column.values.len() as u64;
            let codes: Vec<u32> = match self.packing {
                Packing::Radix => keys.iter().map(|key| low(key / column.stride % size)).collect(),
                Packing::Bits => {
                    let (shift, mask) = (column.stride.trailing_zeros(), (1 << bits_of(size)) - 1);
                    keys.iter().map(|key| low(key >> shift & mask)).collect()
                }
            };
            arrays.push(values_of(&column.values, UInt32Array::from(codes))?);
        }
        arrays.push(Arc::new(UInt64Array::from(counts)));
        Ok(RecordBatch::try_new(self.result_schema(), arrays)?)
    }
}

/// Type of a result column. Text keeps its dictionary, which all batches share, so names are
/// written once.
fn result_type(values: &ArrayRef) -> DataType {
    match values.data_type() {
        DataType::Utf8 => DataType::Dictionary(Box::new(DataType::UInt32), Box::new(DataType::Utf8)),
        other => other.clone(),
    }
}

fn values_of(values: &ArrayRef, codes: UInt32Array) -> Result<ArrayRef, CountError> {
    Ok(match values.data_type() {
        DataType::Utf8 => Arc::new(DictionaryArray::try_new(codes, Arc::clone(values))?),
        _ => take(values, &codes, None)?,
    })
}

/// Bits needed to number this many values.
fn bits_of(values: u64) -> u32 {
    u64::BITS - (values - 1).leading_zeros()
}

/// Converts a code, which is less than 2³² because arrays are shorter.
#[allow(clippy::cast_possible_truncation, reason = "codes number the values of a column")]
fn low(code: u64) -> u32 {
    code as u32
}
