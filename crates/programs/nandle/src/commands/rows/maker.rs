//! Converts records to rows.

use nandle_spill::Row;
use nandle_spill::keys::KeyWriter;

use super::blocks::Block;
use super::key::Keys;
use crate::error::CliError;

/// Payload that accompanies a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carried {
    /// The whole record.
    Record,
    /// The non-key fields.
    OtherFields,
}

pub(crate) struct Maker {
    /// `None`: the whole record is the key.
    pub(crate) keys: Option<Keys>,
    pub(crate) carried: Carried,
    /// The first record of each file is a header.
    pub(crate) has_header: bool,
    header: Option<Vec<u8>>,
    /// Required number of fields, if all records need equally many.
    fields: Option<usize>,
    key: Vec<u8>,
    others: Vec<u8>,
}

impl Maker {
    pub(crate) fn new(keys: Option<Keys>, carried: Carried, has_header: bool) -> Self {
        Self { keys, carried, has_header, header: None, fields: None, key: Vec::new(), others: Vec::new() }
    }

    /// Row of the record at `at`, and the offset of the next record; `None` at the end of the
    /// block. A header yields no row.
    pub(crate) fn row<'a>(
        &'a mut self,
        block: &'a Block,
        mut at: usize,
    ) -> Result<Option<(Row<'a>, usize)>, CliError> {
        let mut first = 0;
        if at == 0 && block.begins_file && self.has_header {
            let Some((record, next)) = block.record(0) else { return Ok(None) };
            self.take_header(record, block)?;
            self.fields = None;
            self.check_fields(record, block, 0)?;
            (at, first) = (next, next);
        }
        let Some((record, next)) = block.record(at) else { return Ok(None) };
        self.check_fields(record, block, at)?;
        let failed = |what: String| CliError::failed(format!("{}: {what}", block.file.display()));
        if block.begins_file
            && at == first
            && let Some(keys) = &self.keys
        {
            keys.check_first(record).map_err(failed)?;
        }
        let row = match &self.keys {
            None => Row { key: record, payload: &[] },
            Some(keys) => {
                self.key.clear();
                let mut writer = KeyWriter::new(std::mem::take(&mut self.key));
                let written = keys.write(record, &mut writer);
                self.key = writer.into_bytes();
                written.map_err(failed)?;
                let payload = others(keys, self.carried, record, &mut self.others).map_err(failed)?;
                Row { key: &self.key, payload }
            }
        };
        Ok(Some((row, next)))
    }

    /// Checks that the record has a field for each column.
    fn check_fields(&mut self, record: &[u8], block: &Block, at: usize) -> Result<(), CliError> {
        let Some(keys) = self.keys.as_ref().filter(|keys| keys.need_even_records()) else { return Ok(()) };
        let failed = |what: String| {
            CliError::failed(format!("{}, line {}: {what}", block.file.display(), block.line(at)))
        };
        let found = keys.count(record).map_err(failed)?;
        let expected = *self.fields.get_or_insert(found);
        if found == expected {
            return Ok(());
        }
        Err(failed(format!(
            "the record has {found} fields, and those before it have {expected}; complete it with empty fields, or quote a field that has \
             the delimiter in it"
        )))
    }

    fn take_header(&mut self, record: &[u8], block: &Block) -> Result<(), CliError> {
        match &self.header {
            None => self.header = Some(record.to_vec()),
            Some(header) if header == record => {}
            Some(_) => {
                return Err(CliError::failed(format!(
                    "{}: its header is not that of the first file; --no-header takes headers for records",
                    block.file.display()
                )));
            }
        }
        Ok(())
    }

    /// Header fields that accompany keys, if a header has been read.
    pub(crate) fn header(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        let (Some(header), others_of_it) = (&self.header, &mut self.others) else { return Ok(None) };
        let carried = match &self.keys {
            Some(keys) => others(keys, self.carried, header, others_of_it)
                .map_err(|what| CliError::failed(format!("the header: {what}")))?,
            None => header,
        };
        Ok(Some(carried.to_vec()))
    }
}

/// Payload for the key of a record.
fn others<'a>(
    keys: &Keys,
    carried: Carried,
    record: &'a [u8],
    others: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    match carried {
        Carried::Record => Ok(record),
        Carried::OtherFields => {
            others.clear();
            keys.write_others(record, others)?;
            Ok(others)
        }
    }
}
