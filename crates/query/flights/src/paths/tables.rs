use nandle_columns::{CodeColumn, Codes, NULL_CODE};

use super::CubeError;
use super::domain::Domain;
use crate::{KeySpace, Shifted};

/// Key parts of the current dictionary's codes, for each column.
pub(super) struct Tables<'a> {
    space: &'a KeySpace,
    domains: &'a [Domain],
    columns: Vec<Table>,
}

#[derive(Default)]
struct Table {
    dictionary_number: Option<u32>,
    shifted: Shifted,
    /// Codes with nulls mapped to a table entry; unused for batches without nulls.
    codes: Vec<u32>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(space: &'a KeySpace, domains: &'a [Domain]) -> Self {
        Self { space, domains, columns: domains.iter().map(|_| Table::default()).collect() }
    }

    /// Converts a batch's columns for counting.
    pub(super) fn columns<'b>(
        &'b mut self,
        batch: &'b [CodeColumn],
    ) -> Result<Vec<crate::CodeColumn<'b>>, CubeError> {
        let parts = self.columns.iter_mut().zip(self.domains).zip(batch).enumerate();
        let columns = parts.map(|(place, ((table, domain), column))| {
            if table.dictionary_number != Some(column.dictionary_number) {
                table.shifted = self.space.shifted(place, &domain.codes_of(&column.dictionary)?)?;
                table.dictionary_number = Some(column.dictionary_number);
            }
            let codes = if column.has_nulls {
                // The null entry follows those of the dictionary's values.
                let null = u32::try_from(column.dictionary.len()).unwrap_or(NULL_CODE);
                table.codes = column.codes().to_vec();
                for code in table.codes.iter_mut().filter(|code| **code == NULL_CODE) {
                    *code = null;
                }
                Codes::Each(&table.codes)
            } else {
                column.codes()
            };
            Ok(crate::CodeColumn { shifted: &table.shifted, codes })
        });
        columns.collect()
    }
}
