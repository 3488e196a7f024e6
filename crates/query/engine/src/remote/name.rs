use datafusion::object_store::path::Path;

use super::DataState;

/// Prefix of all names, distinct from file paths.
const FIRST: &str = "nandle-table";
/// Name of a table's own files, as opposed to those of a projection.
const ROWS: &str = "rows";

/// Name of a file between machines, independent of local paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileName {
    /// Name of the table in queries.
    pub(crate) table: String,
    pub(crate) state: DataState,
    /// Index of its projection in the snapshot, if it belongs to one.
    pub(crate) projection: Option<usize>,
    /// Its number within the table or projection.
    pub(crate) number: usize,
}

impl FileName {
    /// Returns true if both are files of the same rows.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        (&self.table, &self.state, self.projection) == (&other.table, &other.state, other.projection)
    }

    pub(crate) fn to_path(&self) -> Path {
        let state = self.state.to_part();
        let rows = self.projection.map_or_else(|| ROWS.to_owned(), |number| number.to_string());
        let number = self.number.to_string();
        [FIRST, &self.table, &state, &rows, &number].into_iter().collect()
    }

    /// Parses a path; `None` if it isn't such a name.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        let parts: Vec<_> = path.parts().collect();
        let [first, table, state, rows, number] = parts.as_slice() else { return None };
        let projection = match rows.as_ref() {
            ROWS => None,
            number => Some(number.parse().ok()?),
        };
        let state = DataState::of_part(state.as_ref())?;
        let (table, number) = (table.as_ref().to_owned(), number.as_ref().parse().ok()?);
        (first.as_ref() == FIRST).then_some(Self { table, state, projection, number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_from_paths() {
        let snapshot = DataState::Snapshot { table: "00ab".to_owned(), number: 17 };
        let files = DataState::Files { count: 3, bytes: 1 << 40, footers: 0xab };
        for (state, projection) in [(snapshot.clone(), None), (snapshot, Some(2)), (files, None)] {
            let name = FileName { table: "flights".to_owned(), state, projection, number: 5 };
            assert_eq!(FileName::of_path(&name.to_path()), Some(name));
        }
        for path in ["data/a.parquet", "nandle-table/t/files-1-2-3/rows", "other/t/files-1-2-3/rows/0"] {
            assert_eq!(FileName::of_path(&Path::from(path)), None, "{path}");
        }
    }
}
