use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, new_null_array};
use arrow_row::{RowConverter, SortField};
use arrow_schema::{ArrowError, DataType};

use super::CubeError;

/// All values of a column in any row group, ascending, null first. A value's index is its code.
pub(super) struct Domain {
    column: &'static str,
    converter: RowConverter,
    /// Values in an encoding that sorts like them, with their codes once all are known.
    codes: BTreeMap<Box<[u8]>, u32>,
    null: Option<Box<[u8]>>,
    /// Dictionary of each row group, kept for a column by which rows may be clustered.
    dictionaries: Option<Vec<ArrayRef>>,
}

impl Domain {
    pub(super) fn new(
        column: &'static str,
        data_type: &DataType,
        is_nullable: bool,
    ) -> Result<Self, CubeError> {
        let failed = |source| CubeError::Values { column, source };
        let converter = RowConverter::new(vec![SortField::new(data_type.clone())]).map_err(failed)?;
        let mut domain = Self { column, converter, codes: BTreeMap::new(), null: None, dictionaries: None };
        if is_nullable {
            domain.add(&new_null_array(data_type, 1))?;
            domain.null = domain.codes.keys().next().cloned();
        }
        Ok(domain)
    }

    /// Keeps the dictionary of each row group.
    pub(super) fn keep_dictionaries(&mut self) {
        self.dictionaries = Some(Vec::new());
    }

    /// Codes of the values in each row group; `None` if dictionaries weren't kept, or the column
    /// has nulls.
    pub(super) fn codes_of_groups(&self) -> Result<Option<Vec<Vec<u32>>>, CubeError> {
        let Some(dictionaries) = self.dictionaries.as_ref().filter(|_| self.null.is_none()) else {
            return Ok(None);
        };
        let codes = dictionaries.iter().map(|dictionary| {
            let mut codes = self.codes_of(dictionary)?;
            codes.sort_unstable();
            codes.dedup();
            Ok(codes)
        });
        codes.collect::<Result<_, CubeError>>().map(Some)
    }

    /// Adds the values of a row group's dictionary.
    pub(super) fn add(&mut self, dictionary: &ArrayRef) -> Result<(), CubeError> {
        if let Some(dictionaries) = &mut self.dictionaries {
            dictionaries.push(Arc::clone(dictionary));
        }
        let rows = self.rows(dictionary)?;
        for row in &rows {
            if !self.codes.contains_key(row.data()) {
                self.codes.insert(row.data().into(), 0);
            }
        }
        Ok(())
    }

    /// Assigns codes, and returns the values in their order.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, CubeError> {
        for (code, place) in (0_u32..).zip(self.codes.values_mut()) {
            *place = code;
        }
        let parser = self.converter.parser();
        let rows = self.codes.keys().map(|row| parser.parse(row));
        let values = self.converter.convert_rows(rows).map_err(|source| self.failed(source))?;
        values.into_iter().next().ok_or(CubeError::UnknownValue { column: self.column })
    }

    /// Codes of a dictionary's values, followed by that of null if the column has it.
    pub(super) fn codes_of(&self, dictionary: &ArrayRef) -> Result<Vec<u32>, CubeError> {
        let unknown = || CubeError::UnknownValue { column: self.column };
        let rows = self.rows(dictionary)?;
        let values = (0..dictionary.len()).map(|at| rows.row(at));
        let null = self.null.as_deref().map(|null| self.codes.get(null).copied());
        let codes = values.map(|row| self.codes.get(row.data()).copied());
        codes.chain(null).collect::<Option<Vec<_>>>().ok_or_else(unknown)
    }

    fn rows(&self, dictionary: &ArrayRef) -> Result<arrow_row::Rows, CubeError> {
        self.converter.convert_columns(std::slice::from_ref(dictionary)).map_err(|source| self.failed(source))
    }

    fn failed(&self, source: ArrowError) -> CubeError {
        CubeError::Values { column: self.column, source }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int16Array};
    use arrow_schema::DataType;

    use super::Domain;

    #[test]
    fn values_are_numbered_in_their_order() {
        let mut domain = Domain::new("delay", &DataType::Int16, true).unwrap();
        let one: ArrayRef = Arc::new(Int16Array::from(vec![7, -3]));
        let other: ArrayRef = Arc::new(Int16Array::from(vec![-3, 0, 0]));
        domain.add(&one).unwrap();
        domain.add(&other).unwrap();
        let values = domain.finish().unwrap();
        let expected: ArrayRef = Arc::new(Int16Array::from(vec![None, Some(-3), Some(0), Some(7)]));
        assert_eq!(&values, &expected);
        assert_eq!(domain.codes_of(&other).unwrap(), [1, 2, 2, 0]);
        let unknown: ArrayRef = Arc::new(Int16Array::from(vec![8]));
        assert!(domain.codes_of(&unknown).is_err());
    }
}
