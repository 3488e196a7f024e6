//! Derives sort keys from records.

use std::str::FromStr;

use nandle_spill::keys::{KeyWriter, Order};

use super::number::write_number;

/// A field to sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeySpec {
    /// Field number, from 0.
    field: usize,
    is_number: bool,
    is_reversed: bool,
}

impl KeySpec {
    /// A field as text.
    pub(crate) fn plain(field: usize) -> Self {
        Self { field, is_number: false, is_reversed: false }
    }
}

/// Refuses duplicate fields: they add nothing, and `sort -k 2,2n` gives them another meaning.
pub(crate) fn check_specs(specs: &[KeySpec]) -> Result<(), String> {
    let is_twice =
        |(at, spec): (usize, &KeySpec)| specs.iter().take(at).any(|other| other.field == spec.field);
    match specs.iter().enumerate().find(|pair| is_twice(*pair)) {
        Some((_, spec)) => Err(format!(
            "--key names field {} twice: it is a list of fields, not the two ends of one as for `sort -k`; one number is enough",
            spec.field + 1
        )),
        None => Ok(()),
    }
}

impl FromStr for KeySpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let flags = text.get(digits.len()..).unwrap_or_default();
        let field = digits.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let (Some(field), true) = (field, flags.chars().all(|flag| flag == 'n' || flag == 'r')) else {
            return Err(
                "expected the number of a field from 1 on, with n (numbers) and r (reverse) behind it: 3nr"
                    .into(),
            );
        };
        Ok(Self { field, is_number: flags.contains('n'), is_reversed: flags.contains('r') })
    }
}

/// Splitting of a record into fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fields {
    /// Separated by this byte.
    Delimited(u8),
    /// Words, each with its leading blanks.
    Words,
    /// Words without blanks.
    TrimmedWords,
    /// RFC 4180, separated by this byte.
    Csv(u8),
    /// A single field: the first bytes of the record.
    First(usize),
}

/// Conversion of records to keys and back.
#[derive(Debug)]
pub(crate) struct Keys {
    fields: Fields,
    specs: Vec<KeySpec>,
    /// Default order of fields without flags.
    is_reversed: bool,
    /// Records with equal fields are ordered by their bytes.
    compares_records: bool,
    /// The fields must exist, at least in the first record.
    are_required: bool,
    csv: Option<csv::ReaderBuilder>,
}

impl Keys {
    pub(crate) fn new(fields: Fields, specs: &[KeySpec], is_reversed: bool, compares_records: bool) -> Self {
        let csv = match fields {
            Fields::Csv(delimiter) => {
                let mut builder = csv::ReaderBuilder::new();
                builder.has_headers(false).flexible(true).delimiter(delimiter);
                Some(builder)
            }
            Fields::Delimited(_) | Fields::Words | Fields::TrimmedWords | Fields::First(_) => None,
        };
        // As in `sort`, global flags apply to fields without flags.
        let turned = |spec: &KeySpec| {
            let says_nothing = !spec.is_number && !spec.is_reversed;
            KeySpec { is_reversed: spec.is_reversed || (says_nothing && is_reversed), ..*spec }
        };
        Self {
            fields,
            specs: specs.iter().map(turned).collect(),
            is_reversed,
            compares_records,
            are_required: false,
            csv,
        }
    }

    /// Requires the first record to have all key fields. A missing field counts as empty, so a
    /// wrong number would make all records equal.
    pub(crate) fn required(self) -> Self {
        Self { are_required: true, ..self }
    }

    /// Returns true if all records need equally many fields: in CSV with required fields, each
    /// belongs to a column.
    pub(crate) fn need_even_records(&self) -> bool {
        self.are_required && matches!(self.fields, Fields::Csv(_))
    }

    /// Checks that the first record has the required fields.
    pub(crate) fn check_first(&self, record: &[u8]) -> Result<(), String> {
        let wanted = self.specs.iter().map(|spec| spec.field + 1).max().unwrap_or_default();
        if !self.are_required || wanted <= 1 {
            return Ok(());
        }
        let there = self.count(record)?;
        if there < wanted {
            return Err(format!("its first record has {there} fields, and field {wanted} is asked for"));
        }
        Ok(())
    }

    /// Writes the key of a record.
    pub(crate) fn write(&self, record: &[u8], key: &mut KeyWriter) -> Result<(), String> {
        let order = |is_reversed| if is_reversed { Order::Descending } else { Order::Ascending };
        match self.fields {
            Fields::First(bytes) => key.raw(record.get(..bytes).unwrap_or(record), order(self.is_reversed)),
            Fields::Delimited(_) | Fields::Words | Fields::TrimmedWords => {
                for spec in &self.specs {
                    write_field(self.field(record, spec.field), *spec, order(spec.is_reversed), key);
                }
            }
            Fields::Csv(_) if self.specs.is_empty() => {}
            Fields::Csv(_) => {
                let fields = self.csv_fields(record)?;
                for spec in &self.specs {
                    let field = fields.get(spec.field).unwrap_or_default();
                    write_field(field, *spec, order(spec.is_reversed), key);
                }
            }
        }
        if self.compares_records {
            if self.is_reversed {
                key.text(record, Order::Descending);
            } else {
                key.raw(record, Order::Ascending);
            }
        }
        Ok(())
    }

    /// Writes the non-key fields of a record, each preceded by the delimiter.
    pub(crate) fn write_others(&self, record: &[u8], into: &mut Vec<u8>) -> Result<(), String> {
        let is_other = |number: &usize| self.specs.iter().all(|spec| spec.field != *number);
        match self.fields {
            Fields::Delimited(delimiter) => {
                let fields = record.split(|byte| *byte == delimiter);
                append(fields.enumerate().filter(|(number, _)| is_other(number)), delimiter, into);
            }
            Fields::Words | Fields::TrimmedWords => {
                append(trimmed_words(record).enumerate().filter(|(number, _)| is_other(number)), b' ', into);
            }
            Fields::Csv(delimiter) => {
                let fields = self.csv_fields(record)?;
                let others = fields.iter().enumerate().filter(|(number, _)| is_other(number));
                let mut others = others.map(|(_, field)| field).peekable();
                if others.peek().is_none() {
                    return Ok(());
                }
                // A leading empty field puts a delimiter before the first.
                let others = std::iter::once([].as_slice()).chain(others);
                let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(into);
                writer.write_record(others).map_err(|error| error.to_string())?;
                let into = writer.into_inner().map_err(|error| error.to_string())?;
                into.pop();
            }
            Fields::First(bytes) => into.extend_from_slice(record.get(bytes..).unwrap_or_default()),
        }
        Ok(())
    }

    /// Number of fields in a record.
    pub(crate) fn count(&self, record: &[u8]) -> Result<usize, String> {
        Ok(match self.fields {
            Fields::Delimited(delimiter) => record.split(|byte| *byte == delimiter).count(),
            Fields::Words | Fields::TrimmedWords => trimmed_words(record).count(),
            Fields::Csv(_) => self.csv_fields(record)?.len(),
            Fields::First(_) => 1,
        })
    }

    /// A field; empty if the record lacks it.
    fn field<'a>(&self, record: &'a [u8], number: usize) -> &'a [u8] {
        let field = match self.fields {
            Fields::Delimited(delimiter) => record.split(|byte| *byte == delimiter).nth(number),
            Fields::Words => words(record).nth(number),
            Fields::TrimmedWords => trimmed_words(record).nth(number),
            Fields::Csv(_) | Fields::First(_) => None,
        };
        field.unwrap_or_default()
    }

    fn csv_fields(&self, record: &[u8]) -> Result<csv::ByteRecord, String> {
        let mut fields = csv::ByteRecord::new();
        let Some(builder) = &self.csv else { return Ok(fields) };
        let mut reader = builder.from_reader(record);
        let mut read =
            |fields: &mut csv::ByteRecord| reader.read_byte_record(fields).map_err(|error| error.to_string());
        read(&mut fields)?;
        if read(&mut csv::ByteRecord::new())? {
            return Err(
                "a quote stands inside a field without quotes around it: it is no CSV as RFC 4180 has it"
                    .to_owned(),
            );
        }
        Ok(fields)
    }
}

fn write_field(field: &[u8], spec: KeySpec, order: Order, key: &mut KeyWriter) {
    if spec.is_number { write_number(field, order, key) } else { key.text(field, order) }
}

/// Appends each field with the preceding delimiter, so that one empty field differs from none.
fn append<'a>(fields: impl Iterator<Item = (usize, &'a [u8])>, before: u8, into: &mut Vec<u8>) {
    for (_, field) in fields {
        into.push(before);
        into.extend_from_slice(field);
    }
}

fn trimmed_words(record: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    record.split(is_blank).filter(|word| !word.is_empty())
}

/// Words with their leading blanks.
fn words(record: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_blank = |byte: &u8| *byte == b' ' || *byte == b'\t';
    let mut rest = record;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let blanks = rest.iter().take_while(|byte| is_blank(byte)).count();
        let word = rest.iter().skip(blanks).take_while(|byte| !is_blank(byte)).count();
        let (field, behind) = rest.split_at(blanks + word);
        rest = behind;
        Some(field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(fields: Fields, specs: &str, record: &str) -> Vec<u8> {
        let specs: Vec<KeySpec> = specs.split(',').map(|spec| spec.parse().unwrap()).collect();
        let mut key = KeyWriter::default();
        Keys::new(fields, &specs, false, true).write(record.as_bytes(), &mut key).unwrap();
        key.into_bytes()
    }

    #[test]
    fn fields_are_named_by_number_and_flags() {
        assert_eq!("2".parse(), Ok(KeySpec { field: 1, is_number: false, is_reversed: false }));
        assert_eq!("13nr".parse(), Ok(KeySpec { field: 12, is_number: true, is_reversed: true }));
        for wrong in ["", "0", "n", "1x", "-1", "1.2", "99999999999999999999"] {
            assert!(wrong.parse::<KeySpec>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_have_the_blanks_in_front_of_them() {
        let found: Vec<&[u8]> = words(b"  a bc\t d ").collect();
        assert_eq!(found, [b"  a".as_slice(), b" bc", b"\t d", b" "]);
    }

    #[test]
    fn records_are_ordered_by_fields_and_then_by_their_bytes() {
        let comma = |record| key(Fields::Delimited(b','), "2n,1", record);
        assert!(comma("b,2") < comma("a,10"));
        assert!(comma("a,2") < comma("b,2"));
        assert!(comma("a,2") < comma("a,2,x"));
        assert!(comma("a") < comma("a,1"), "what isn't there is 0");
        let csv = |record| key(Fields::Csv(b','), "2r", record);
        assert!(csv("x,\"b,\"\"1\"") < csv("x,\"b\""));
    }
}
