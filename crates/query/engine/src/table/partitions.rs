//! Columns with values in directory names, as written by Hive: `year=2008/month=1/a.parquet`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use datafusion::arrow::compute::kernels::cast_utils::Parser as _;
use datafusion::arrow::datatypes::Date32Type;
use datafusion::common::ScalarValue;
use datafusion::common::stats::{ColumnStatistics, Precision, Statistics};

use crate::EngineError;

/// Directory name for null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Partition columns of a table, with each file's values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partitions {
    keys: Vec<String>,
    /// For each file a value per key.
    values: Vec<Vec<Option<String>>>,
}

impl Partitions {
    /// Parses the directories of files below a root.
    ///
    /// # Errors
    /// Files are in directories with different keys, or a decoded name isn't text.
    pub(crate) fn of(root: &Path, files: &[PathBuf]) -> Result<Self, EngineError> {
        let mut partitions = Self::default();
        let mut first: Option<&Path> = None;
        for file in files {
            let below = file.strip_prefix(root).unwrap_or(file).parent().unwrap_or(Path::new(""));
            let mut keys = Vec::new();
            let mut values = Vec::new();
            for name in below.iter().map(|name| name.to_string_lossy()) {
                let (key, value) = name.split_once('=').unwrap_or((&name, ""));
                keys.push(decoded(key, file)?);
                values.push(if value == NULL { None } else { Some(decoded(value, file)?) });
            }
            match first {
                None => partitions.keys = keys,
                Some(first) if keys != partitions.keys => {
                    return Err(differing((first, &partitions.keys), (file, &keys)));
                }
                Some(_) => {}
            }
            first.get_or_insert(file);
            partitions.values.push(values);
        }
        Ok(partitions)
    }

    /// Columns with the narrowest type that fits all values: integers, dates, or else text.
    pub(crate) fn columns(&self) -> Vec<FieldRef> {
        let types = (0..self.keys.len()).map(|place| self.type_of(place));
        let fields = self.keys.iter().zip(types).map(|(key, of)| Arc::new(Field::new(key, of, true)));
        fields.collect()
    }

    /// Values of a file.
    pub(crate) fn values(&self, file: usize) -> Vec<ScalarValue> {
        let texts = self.values.get(file).into_iter().flatten().enumerate();
        texts.map(|(place, text)| scalar(&self.type_of(place), text.as_deref())).collect()
    }

    fn type_of(&self, place: usize) -> DataType {
        let known = || self.values.iter().filter_map(|values| values.get(place)?.as_deref());
        let are_all = |test: fn(&str) -> bool| known().next().is_some() && known().all(test);
        if are_all(|text| integer(text).is_some()) {
            DataType::Int64
        } else if are_all(|text| date(text).is_some()) {
            DataType::Date32
        } else {
            DataType::Utf8
        }
    }
}

/// Appends the statistics of a file's partition columns.
pub(crate) fn with_values(mut statistics: Statistics, values: &[ScalarValue]) -> Statistics {
    let of_value = |value: &ScalarValue| {
        let unknown = ColumnStatistics::new_unknown();
        if value.is_null() {
            return ColumnStatistics { null_count: statistics.num_rows, ..unknown };
        }
        let bound = Precision::Exact(value.clone());
        ColumnStatistics {
            null_count: Precision::Exact(0),
            min_value: bound.clone(),
            max_value: bound,
            ..unknown
        }
    };
    let added: Vec<ColumnStatistics> = values.iter().map(of_value).collect();
    statistics.column_statistics.extend(added);
    statistics
}

fn scalar(of: &DataType, text: Option<&str>) -> ScalarValue {
    match of {
        DataType::Int64 => ScalarValue::Int64(text.and_then(integer)),
        DataType::Date32 => ScalarValue::Date32(text.and_then(date)),
        _ => ScalarValue::Utf8(text.map(ToOwned::to_owned)),
    }
}

fn integer(text: &str) -> Option<i64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

/// Parses `2008-01-31`.
fn date(text: &str) -> Option<i32> {
    let is_date = text.len() == 10 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    is_date.then(|| Date32Type::parse(text)).flatten()
}

/// Decodes `%` with two hexadecimal digits, used for bytes that directory names can't contain.
fn decoded(name: &str, file: &Path) -> Result<String, EngineError> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%');
        if let Some(byte) = byte {
            bytes.push(byte);
            rest = behind.get(2..).unwrap_or_default();
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).map_err(|_| EngineError::Source {
        name: file.display().to_string(),
        why: format!("`{name}` in its path isn't UTF-8 when it is decoded"),
    })
}

fn differing(first: (&Path, &[String]), other: (&Path, &[String])) -> EngineError {
    let named = |keys: &[String]| if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
    EngineError::Source {
        name: other.0.display().to_string(),
        why: format!(
            "it lies in directories of {}, and {} in those of {}; query them as different tables",
            named(other.1),
            first.0.display(),
            named(first.1)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[&str]) -> Result<Partitions, EngineError> {
        let files: Vec<PathBuf> = files.iter().map(|file| Path::new("/data").join(file)).collect();
        Partitions::of(Path::new("/data"), &files)
    }

    #[test]
    fn types_are_those_that_all_values_have() {
        let partitions = of(&[
            "n=07/d=2008-02-29/t=a%2Fb%20c/m=1/a.parquet",
            "n=-8/d=__HIVE_DEFAULT_PARTITION__/t=100%/m=x/b.parquet",
        ])
        .unwrap();
        let types: Vec<DataType> =
            partitions.columns().iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(types, [DataType::Int64, DataType::Date32, DataType::Utf8, DataType::Utf8]);
        let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
        let first =
            [ScalarValue::Int64(Some(7)), ScalarValue::Date32(Some(13_938)), text("a/b c"), text("1")];
        assert_eq!(partitions.values(0), first);
        let second = [ScalarValue::Int64(Some(-8)), ScalarValue::Date32(None), text("100%"), text("x")];
        assert_eq!(partitions.values(1), second);
    }

    #[test]
    fn files_lie_in_directories_of_the_same_keys() {
        for files in [["a=1/x.parquet", "b=1/y.parquet"], ["a=1/x.parquet", "y.parquet"]] {
            let error = of(&files).unwrap_err().to_string();
            assert!(error.contains("x.parquet") && error.contains("y.parquet"), "{error}");
        }
        assert!(of(&["a=%ff/x.parquet"]).unwrap_err().to_string().contains("UTF-8"));
        assert_eq!(of(&["x.parquet"]).unwrap().columns(), []);
    }
}
