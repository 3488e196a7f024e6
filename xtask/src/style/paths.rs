//! Documents name paths that exist. A path is text in backticks that begins with a folder of the
//! workspace; it ends at a `:` or a placeholder in capitals.

use super::links::prose;
use super::workspace::{Document, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "every path that ARCHITECTURE, CONTRIBUTING and the book name exists", check };

/// Folders at the root that a path may begin with.
const ROOTS: &[&str] = &["crates/", "xtask/", "docs/", "benches/"];

fn check(workspace: &Workspace) -> Vec<Finding> {
    let documents = workspace.documents.iter().filter(|document| is_checked(&document.path));
    documents.flat_map(|document| check_document(workspace, document)).collect()
}

/// The changelog and records name what was there then.
fn is_checked(path: &str) -> bool {
    path != "CHANGELOG.md" && !path.starts_with("benches/")
}

fn check_document(workspace: &Workspace, document: &Document) -> Vec<Finding> {
    let paths = prose(&document.text).flat_map(|(line, text)| named(text).map(move |path| (line, path)));
    let missing = paths.filter(|(_, path)| !workspace.paths.contains(path.trim_end_matches('/')));
    missing.map(|(line, path)| Finding::new(&document.path, line, format!("`{path}` isn't there"))).collect()
}

fn named(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|text| ROOTS.iter().any(|root| text.starts_with(root)));
    paths.map(|path| path.split([':', ' ']).next().unwrap_or(path)).map(before_placeholder)
}

/// `crates/a/NAME.toml` and `crates/a/claims_*.rs` name the folder `crates/a`.
fn before_placeholder(path: &str) -> &str {
    let is_placeholder = |part: &str| {
        part.contains('*') || part.len() > 1 && stem(part).chars().all(|c| c.is_ascii_uppercase())
    };
    let mut end = 0;
    for part in path.split('/') {
        if is_placeholder(part) {
            return path.get(..end).unwrap_or(path);
        }
        end = (end + part.len() + 1).min(path.len());
    }
    path
}

fn stem(part: &str) -> &str {
    part.split('.').next().unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let workspace = Workspace::sample(&[
            ("ARCHITECTURE.md", text),
            ("crates/a/src/lib.rs", "//! A."),
            ("CHANGELOG.md", text),
        ]);
        check(&workspace).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn named_paths_exist() {
        assert!(
            findings("`crates/a/src/lib.rs`, `crates/a/` and `crates/a/src/lib.rs:12`; `a/b` isn't ours")
                .is_empty()
        );
        assert_eq!(findings("`crates/b/src/lib.rs`"), ["`crates/b/src/lib.rs` isn't there"]);
    }

    #[test]
    fn a_placeholder_stands_for_any_file_of_its_folder() {
        assert!(findings("`crates/a/src/NAME.rs` and `crates/a/tests_*.rs`").is_empty());
        assert_eq!(findings("`crates/b/NAME.toml`").len(), 1);
    }

    #[test]
    fn code_names_what_it_likes() {
        assert!(findings("```\n`crates/b`\n```").is_empty());
    }
}
