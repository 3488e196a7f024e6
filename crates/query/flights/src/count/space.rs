//! Groups as numbers: the codes of a group's values, packed into one key.

use std::sync::Arc;

use arrow_array::{ArrayRef, DictionaryArray, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use super::{CountError, Shifted};

/// The columns that rows are grouped by, with the values behind their codes, and how codes become keys.
///
/// A column's code is the index of its value among `values`. A key is the sum of each code times the column's stride, the last column's
/// being 1, so keys in their order are groups in the order of their codes; a column may be named that leads.
#[derive(Debug, Clone)]
pub struct KeySpace {
    columns: Vec<KeyColumn>,
    packing: Packing,
    cells: u64,
    schema: SchemaRef,
    /// The column with the largest stride.
    leading: usize,
}

#[derive(Debug, Clone)]
struct KeyColumn {
    values: ArrayRef,
    stride: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    /// Strides are products of the numbers of values, so that there are as few keys as can be.
    Radix,
    /// Strides are powers of two, so that keys are taken apart without division.
    Bits,
}

impl KeySpace {
    /// With as many cells as this, or fewer, groups are counted in an array, unless memory is too small for that.
    pub const DENSE_CELLS_MAX: u64 = 16 << 20;

    /// A space of these columns: each one's name, and its values by code. A value may be null.
    ///
    /// # Errors
    /// There is no column; one has no values; there are more combinations of values than fit into 63 bits.
    pub fn new(columns: Vec<(String, ArrayRef)>) -> Result<Self, CountError> {
        Self::led_by(0, columns)
    }

    /// The same, but one column comes before all others in the order of keys.
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
            // A table of groups has a bit or more beside each key.
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

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// One more than the largest key.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// The schema of results: the columns, and `count` (u64). Text is dictionary-encoded.
    pub fn result_schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// What a column's codes contribute to keys, for a dictionary of its own: `codes` says which of the column's codes each of its
    /// entries has.
    ///
    /// # Errors
    /// There is no such column, or it has fewer values than a code says.
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

    /// A key without the last column's part, and that part.
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

    /// How many values the last column has.
    pub(super) fn last_values(&self) -> usize {
        self.columns.last().map_or(0, |column| column.values.len())
    }

    /// The column that comes first in the order of keys.
    pub(super) fn leading(&self) -> usize {
        self.leading
    }

    /// One more than the largest key without the leading column's part, which is a multiple of this.
    pub(super) fn cells_behind(&self) -> u64 {
        self.columns.get(self.leading).map_or(1, |column| column.stride)
    }

    /// How many values the leading column has.
    pub(super) fn leading_values(&self) -> usize {
        self.columns.get(self.leading).map_or(0, |column| column.values.len())
    }

    /// How many bits a key has at most.
    pub(super) fn key_bits(&self) -> u32 {
        (u64::BITS - (self.cells - 1).leading_zeros()).max(1)
    }

    /// How many bytes a key has at most.
    pub(super) fn key_bytes(&self) -> usize {
        self.key_bits().div_ceil(8) as usize
    }

    /// Groups and how often each came, as a batch with the values in the place of codes.
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

/// The type of a column of results. Text stays by its dictionary, which all batches share: names are written once, not for each group.
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

/// How many bits it takes to number so many values.
fn bits_of(values: u64) -> u32 {
    u64::BITS - (values - 1).leading_zeros()
}

/// A code, which is less than 2³² because arrays of values are shorter.
#[allow(clippy::cast_possible_truncation, reason = "codes number the values of a column")]
fn low(code: u64) -> u32 {
    code as u32
}
