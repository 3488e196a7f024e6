//! A `Cargo.toml`, as the rules about dependencies see it.

use toml::{Table, Value};

use crate::Outcome;

/// A manifest, parsed, with its text for line numbers.
pub(super) struct Manifest {
    pub(super) path: String,
    text: String,
    table: Table,
}

/// A dependency as a manifest states it.
pub(super) struct Dependency<'a> {
    pub(super) name: &'a str,
    pub(super) stated: &'a Value,
    /// True if only tests and examples use it.
    pub(super) for_tests: bool,
}

impl Manifest {
    /// # Errors
    /// When the text isn't TOML.
    pub(super) fn new(path: &str, text: String) -> Outcome<Self> {
        let table = text.parse().map_err(|error| format!("{path}: {error}"))?;
        Ok(Self { path: path.to_owned(), text, table })
    }

    /// The package's name; a manifest that holds only a workspace has none.
    pub(super) fn package(&self) -> Option<&str> {
        self.table.get("package")?.get("name")?.as_str()
    }

    /// Entries of `[workspace.dependencies]`.
    pub(super) fn workspace_dependencies(&self) -> Vec<Dependency<'_>> {
        let table = self.table.get("workspace").and_then(|workspace| workspace.get("dependencies"));
        entries(table, false)
    }

    /// Dependencies of the package: always, on some platforms, in its build script, and in its
    /// tests.
    pub(super) fn dependencies(&self) -> Vec<Dependency<'_>> {
        let platforms = self.table.get("target").and_then(Value::as_table);
        let tables = std::iter::once(&self.table)
            .chain(platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table));
        tables.flat_map(dependencies_of).collect()
    }

    /// The line on which a dependency is stated; 1 when it can't be told.
    pub(super) fn line_of(&self, dependency: &str) -> usize {
        let states = |line: &str| {
            let rest = line.trim_start().strip_prefix(dependency);
            rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        self.text.lines().position(states).map_or(1, |index| index + 1)
    }
}

fn dependencies_of(table: &Table) -> Vec<Dependency<'_>> {
    let kinds = [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)];
    kinds.iter().flat_map(|(key, for_tests)| entries(table.get(*key), *for_tests)).collect()
}

fn entries(table: Option<&Value>, for_tests: bool) -> Vec<Dependency<'_>> {
    let table = table.and_then(Value::as_table);
    let entries = table.into_iter().flatten();
    entries.map(|(name, stated)| Dependency { name, stated, for_tests }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_dependencies_of_every_kind() {
        let text = "[package]\nname = \"a\"\n[dependencies]\nb.workspace = true\n[dev-dependencies]\n\
                    c = \"1\"\n[target.'cfg(unix)'.dependencies]\nd = \"2\"\n";
        let manifest = Manifest::new("Cargo.toml", text.to_owned()).unwrap();
        let found: Vec<_> = manifest.dependencies().iter().map(|d| (d.name, d.for_tests)).collect();
        assert_eq!(found, [("b", false), ("c", true), ("d", false)]);
        assert_eq!(manifest.package(), Some("a"));
        assert_eq!(manifest.line_of("c"), 6);
    }
}
