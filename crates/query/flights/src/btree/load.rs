//! Inserts flights row by row.

use arrow_array::types::{Int16Type, UInt8Type, UInt16Type};
use arrow_array::{Array, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use super::{BtreeError, COLUMNS};
use crate::Column;

/// Values of a column.
enum Cells<'a> {
    Code(&'a DictionaryArray<UInt16Type>, &'a StringArray),
    U16(&'a PrimitiveArray<UInt16Type>),
    U8(&'a PrimitiveArray<UInt8Type>),
    I16(&'a PrimitiveArray<Int16Type>),
}

impl<'a> Cells<'a> {
    fn of(flights: &'a RecordBatch, column: Column) -> Result<Self, BtreeError> {
        let no_such = BtreeError::Schema { column: column.name() };
        let Some(array) = flights.column_by_name(column.name()) else { return Err(no_such) };
        let array = array.as_any();
        if let Some(codes) = array.downcast_ref::<DictionaryArray<UInt16Type>>()
            && let Some(names) = codes.values().as_any().downcast_ref()
        {
            return Ok(Self::Code(codes, names));
        }
        let u16 = array.downcast_ref().map(Self::U16);
        let u8 = || array.downcast_ref().map(Self::U8);
        let i16 = || array.downcast_ref().map(Self::I16);
        u16.or_else(u8).or_else(i16).ok_or(no_such)
    }

    fn value(&self, row: usize) -> ToSqlOutput<'a> {
        let number =
            |is_there: bool, number: i64| if is_there { Value::Integer(number) } else { Value::Null };
        ToSqlOutput::Owned(match self {
            Self::Code(codes, names) => {
                return match codes.key(row) {
                    Some(key) => ToSqlOutput::Borrowed(ValueRef::Text(names.value(key).as_bytes())),
                    None => ToSqlOutput::Owned(Value::Null),
                };
            }
            Self::U16(cells) => number(cells.is_valid(row), cells.value(row).into()),
            Self::U8(cells) => number(cells.is_valid(row), cells.value(row).into()),
            Self::I16(cells) => number(cells.is_valid(row), cells.value(row).into()),
        })
    }
}

pub(super) fn add(connection: &mut Connection, flights: &RecordBatch) -> Result<(), BtreeError> {
    let cells = COLUMNS.iter().map(|column| Cells::of(flights, *column)).collect::<Result<Vec<_>, _>>()?;
    let failed = BtreeError::of("adding flights");
    let transaction = connection.transaction().map_err(&failed)?;
    {
        let mut insert =
            transaction.prepare("insert into flights values (?, ?, ?, ?, ?, ?, ?, ?)").map_err(&failed)?;
        for row in 0..flights.num_rows() {
            let values = rusqlite::params_from_iter(cells.iter().map(|cells| cells.value(row)));
            insert.execute(values).map_err(&failed)?;
        }
    }
    transaction.commit().map_err(failed)
}
