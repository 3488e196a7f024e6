//! `manifest-N.json`: a snapshot of a table, as JSON of the types below, in UTF-8. A reader rejects
//! another `format`, an unknown `version` and unknown fields, because they may change the meaning
//! of the rows.
//!
//! Paths are relative to the table's directory and begin with `data/` or `projections/`, without
//! `..`.
//!
//! A projection is a copy of some columns of all rows of its snapshot, in one run of consecutive
//! files. It is sorted by these columns in their order: nulls first, numbers by value, text by its
//! bytes. Its `columns` identify it: no two projections of a snapshot have the same columns in the
//! same order. A snapshot with other rows drops it.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use crate::{Clustering, ColumnsError, Layout};

pub(crate) const DATA: &str = "data";
pub(crate) const PROJECTIONS: &str = "projections";
const FORMAT: &str = "nandle-table";
const VERSION: u32 = 1;
/// Limit on snapshot numbers, from the bits that they have in file identities.
const SNAPSHOT_MAX: u64 = (1 << 44) - 1;

/// A snapshot of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Always `nandle-table`.
    pub format: String,
    /// Version of this format, 1.
    pub version: u32,
    /// Identity of the table, to which checksums are bound: 16 hexadecimal digits.
    pub table: String,
    /// Number of the snapshot, from 1.
    pub snapshot: u64,
    /// Columns, in order.
    pub schema: Vec<ColumnSpec>,
    /// Layout of the files.
    pub layout: Layout,
    /// Order of the rows.
    #[serde(default)]
    pub clustering: Clustering,
    /// Device profile that the layout is derived from.
    #[serde(default)]
    pub profile: Option<ProfileIdentity>,
    /// Rows, in the order in which they were loaded.
    pub runs: Vec<Run>,
    /// Sorted covering copies.
    #[serde(default)]
    pub projections: Vec<Projection>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Its name.
    pub name: String,
    /// Its Arrow type, as written by arrow-schema.
    pub r#type: String,
    /// True if it may contain nulls.
    pub nullable: bool,
}

/// Identity of the profile of a layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileIdentity {
    /// The measured device, by its name in the profile.
    pub device: String,
    /// CRC32C of `profile.json`, eight hexadecimal digits.
    pub crc32c: String,
}

/// Rows that were loaded or merged together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Snapshot that added it.
    pub snapshot: u64,
    /// Its files, in the order of rows.
    pub files: Vec<FileEntry>,
}

/// A Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Number of its rows.
    pub rows: u64,
    /// Its checksums.
    pub sums: SumsEntry,
}

/// A file of checksums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumsEntry {
    /// Its path.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// CRC32C of its bytes, eight hexadecimal digits.
    pub crc32c: String,
    /// Identity of the Parquet file that the checksums are bound to, 16 hexadecimal digits.
    pub identity: String,
}

/// A sorted copy of some columns of all rows of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Projection {
    /// Its columns, which are also its sort keys in order.
    pub columns: Vec<String>,
    /// Its rows, in one run.
    pub runs: Vec<Run>,
}

impl Run {
    /// Number of its rows.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}

impl Projection {
    /// Its column names, separated by commas.
    pub fn name(&self) -> String {
        self.columns.join(",")
    }

    /// Number of its rows.
    pub fn rows(&self) -> u64 {
        self.runs.iter().map(Run::rows).sum()
    }

    /// Total length of its files.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().flat_map(|run| &run.files).map(|file| file.bytes).sum()
    }

    /// Returns true if it contains all of `columns`.
    pub fn covers<'a>(&self, columns: impl IntoIterator<Item = &'a str>) -> bool {
        columns.into_iter().all(|column| self.columns.iter().any(|own| own == column))
    }
}

impl Manifest {
    /// Creates the manifest of a table without rows.
    ///
    /// # Errors
    /// A column is nested, has a duplicate name or a type without a unique text form; or a column
    /// occurs twice in the clustering.
    pub(crate) fn empty(
        table: u64,
        schema: &Schema,
        layout: Layout,
        clustering: Clustering,
    ) -> Result<Self, ColumnsError> {
        if let Some(name) = named_twice(schema.fields().iter().map(|field| field.name().as_str())) {
            return Err(ColumnsError::Unsupported {
                file: String::new(),
                column: name.to_owned(),
                why: "there are two of this name; call one of them otherwise".to_owned(),
            });
        }
        if let Some(name) = named_twice(clustering.columns().iter().map(String::as_str)) {
            return Err(ColumnsError::Unsupported {
                file: String::new(),
                column: name.to_owned(),
                why: "the order of rows is to be by it twice; name it once".to_owned(),
            });
        }
        let columns = schema.fields().iter().map(|field| ColumnSpec::of(field));
        Ok(Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            table: format!("{table:016x}"),
            snapshot: 1,
            schema: columns.collect::<Result<_, _>>()?,
            layout,
            clustering,
            profile: None,
            runs: Vec::new(),
            projections: Vec::new(),
        })
    }

    /// File name of a snapshot's manifest.
    pub fn name(snapshot: u64) -> String {
        format!("manifest-{snapshot}.json")
    }

    /// Parses the snapshot number from a manifest's file name.
    pub(crate) fn snapshot_of(name: &str) -> Option<u64> {
        let digits = name.strip_prefix("manifest-")?.strip_suffix(".json")?;
        digits.parse().ok().filter(|snapshot| Self::name(*snapshot) == name)
    }

    /// Parses a manifest and validates it.
    ///
    /// # Errors
    /// It isn't a manifest, has another version, or contains invalid entries.
    pub fn parse(name: &str, bytes: &[u8]) -> Result<Self, ColumnsError> {
        let refuse = |why: String| ColumnsError::NotATable { file: name.to_owned(), why };
        let manifest: Self = serde_json::from_slice(bytes).map_err(|error| refuse(error.to_string()))?;
        if manifest.format != FORMAT || manifest.version != VERSION {
            let (format, version) = (&manifest.format, manifest.version);
            return Err(refuse(format!(
                "it is `{format}` version {version}, and this reads `{FORMAT}` version {VERSION}"
            )));
        }
        if Self::name(manifest.snapshot) != name {
            return Err(refuse(format!("it is the one of snapshot {}", manifest.snapshot)));
        }
        if !(1..=SNAPSHOT_MAX).contains(&manifest.snapshot) {
            return Err(refuse(format!("{} is no number of a snapshot", manifest.snapshot)));
        }
        hexadecimal(&manifest.table).ok_or_else(|| refuse(format!("`{}` is no identity", manifest.table)))?;
        manifest.schema()?;
        if let Some(name) = named_twice(manifest.schema.iter().map(|column| column.name.as_str())) {
            return Err(refuse(format!("it has column `{name}` twice")));
        }
        if let Some(figure) = manifest.layout.zero() {
            return Err(refuse(format!("its layout has 0 as `{figure}`")));
        }
        manifest.check_totals().map_err(refuse)?;
        for path in manifest.files().flat_map(|file| [&file.path, &file.sums.path]) {
            let inside = [DATA, PROJECTIONS].iter().any(|folder| path.starts_with(&format!("{folder}/")));
            if !inside || path.split('/').count() != 2 || path.contains("..") {
                return Err(refuse(format!("it names `{path}`, which is no place of a table's file")));
            }
        }
        manifest.check_projections().map_err(refuse)?;
        Ok(manifest)
    }

    /// Checks that sums over its files don't overflow.
    fn check_totals(&self) -> Result<(), String> {
        let too_much = |figure: &str| format!("its files have more {figure} together than a number can say");
        let rows = self.files().try_fold(0_u64, |sum, file| sum.checked_add(file.rows));
        let bytes = self.files().try_fold(0_u64, |sum, file| sum.checked_add(file.bytes));
        rows.ok_or_else(|| too_much("rows"))?;
        bytes.ok_or_else(|| too_much("bytes"))?;
        Ok(())
    }

    fn check_projections(&self) -> Result<(), String> {
        for projection in &self.projections {
            let name = projection.name();
            let known = |column: &String| self.schema.iter().any(|spec| spec.name == *column);
            if projection.columns.is_empty() || !projection.columns.iter().all(known) {
                return Err(format!("its projection `{name}` is of no columns of the table"));
            }
            if projection.rows() != self.rows() {
                let (got, expected) = (projection.rows(), self.rows());
                return Err(format!("its projection `{name}` has {got} rows, and the table {expected}"));
            }
        }
        Ok(())
    }

    /// Its columns as an Arrow schema.
    ///
    /// # Errors
    /// The type of a column is unknown.
    pub fn schema(&self) -> Result<SchemaRef, ColumnsError> {
        let fields: Result<Vec<Field>, _> = self.schema.iter().map(ColumnSpec::field).collect();
        Ok(Arc::new(Schema::new(fields?)))
    }

    /// All files: those of the runs, then those of the projections.
    pub fn files(&self) -> impl Iterator<Item = &FileEntry> {
        let projected = self.projections.iter().flat_map(|projection| &projection.runs);
        self.runs.iter().chain(projected).flat_map(|run| &run.files)
    }

    /// Number of its rows.
    pub fn rows(&self) -> u64 {
        self.runs.iter().map(Run::rows).sum()
    }

    /// Identity of the table, as a number.
    pub(crate) fn identity(&self) -> u64 {
        hexadecimal(&self.table)
            .unwrap_or_else(|| unreachable!("a manifest's identity was checked when it was made"))
    }
}

/// Returns the first duplicate name. Columns are looked up by name, so a duplicate would be lost.
fn named_twice<'a>(names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen = BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// Parses 16 hexadecimal digits.
pub(crate) fn hexadecimal(digits: &str) -> Option<u64> {
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok())?
}

impl ColumnSpec {
    fn of(field: &Field) -> Result<Self, ColumnsError> {
        let (name, text) = (field.name().clone(), field.data_type().to_string());
        let refuse = |why: &str| ColumnsError::Unsupported {
            file: String::new(),
            column: name.clone(),
            why: why.to_owned(),
        };
        if field.data_type().is_nested() {
            return Err(refuse("it is nested; a table's columns are flat"));
        }
        if text.parse::<DataType>().ok().as_ref() != Some(field.data_type()) {
            return Err(refuse("its type has no text that a manifest could keep"));
        }
        Ok(Self { name, r#type: text, nullable: field.is_nullable() })
    }

    fn field(&self) -> Result<Field, ColumnsError> {
        let data_type = self.r#type.parse::<DataType>().map_err(|error| ColumnsError::Unsupported {
            file: "manifest".to_owned(),
            column: self.name.clone(),
            why: format!("`{}` is no type: {error}", self.r#type),
        })?;
        Ok(Field::new(&self.name, data_type, self.nullable))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn sound() -> Value {
        let file = json!({
            "path": "data/2-0.parquet", "bytes": 10, "rows": 5,
            "sums": {"path": "data/2-0.sums", "bytes": 40, "crc32c": "00000000", "identity": "0000000000000000"},
        });
        json!({
            "format": FORMAT, "version": 1, "table": "0000000000000001", "snapshot": 2,
            "schema": [{"name": "a", "type": "Int32", "nullable": true}, {"name": "b", "type": "Int32", "nullable": true}],
            "layout": Layout::default(),
            "runs": [{"snapshot": 2, "files": [file.clone(), file]}],
        })
    }

    fn refusal(change: impl FnOnce(&mut Value)) -> String {
        let mut manifest = sound();
        change(&mut manifest);
        let name = Manifest::name(manifest["snapshot"].as_u64().unwrap());
        Manifest::parse(&name, &serde_json::to_vec(&manifest).unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn what_can_not_be_is_refused() {
        Manifest::parse("manifest-2.json", &serde_json::to_vec(&sound()).unwrap()).unwrap();
        for field in ["page_bytes", "page_rows", "row_group_rows", "row_group_bytes", "file_rows"] {
            let text = refusal(|manifest| manifest["layout"][field] = json!(0));
            assert!(text.contains(field), "{text}");
        }
        let text = refusal(|manifest| manifest["schema"][1]["name"] = json!("a"));
        assert!(text.contains("`a`"), "{text}");
        for field in ["rows", "bytes"] {
            let text = refusal(|manifest| manifest["runs"][0]["files"][1][field] = json!(u64::MAX));
            assert!(text.contains(field), "{text}");
        }
        for snapshot in [0, 1 << 44, u64::MAX] {
            let text = refusal(|manifest| manifest["snapshot"] = json!(snapshot));
            assert!(text.contains(&snapshot.to_string()), "{text}");
        }
    }
}
