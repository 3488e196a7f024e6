//! Comments fit on a narrow screen.

use super::comments::commented;
use crate::style::workspace::Workspace;
use crate::style::{Finding, Rule};

const COLUMNS_MAX: usize = 100;

pub(crate) const RULE: Rule = Rule { says: "a comment fits in 100 columns", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    let findings = commented(workspace).flat_map(|(file, comments)| {
        let found = comments.into_iter().filter_map(|comment| {
            let line = file.text.lines().nth(comment.line - 1)?;
            let columns = line.chars().count();
            (columns > COLUMNS_MAX && !is_unbreakable(comment.text)).then(|| {
                let message = format!("{columns} columns, {COLUMNS_MAX} at most: break the comment's line");
                Finding::new(&file.path, comment.line, message)
            })
        });
        found.collect::<Vec<_>>()
    });
    findings.collect()
}

/// Returns true for tables, drawings and addresses, which no line break may cut.
fn is_unbreakable(text: &str) -> bool {
    text.trim_start().starts_with(['|', '[']) || text.contains("://") || text.starts_with("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("crates/sample/src/a.rs", text)])).len()
    }

    #[test]
    fn long_lines_are_found() {
        assert_eq!(findings(&format!("/// {}\nfn a() {{}}", "a ".repeat(48))), 0);
        assert_eq!(findings(&format!("/// {}\nfn a() {{}}", "a ".repeat(49))), 1);
        assert_eq!(findings(&format!("fn a() {{\n    // {}\n}}", "a ".repeat(49))), 1);
    }

    #[test]
    fn tables_and_addresses_are_free() {
        assert_eq!(findings(&format!("/// | {}\nfn a() {{}}", "a ".repeat(60))), 0);
        assert_eq!(findings(&format!("/// https://a.example/{}\nfn a() {{}}", "a".repeat(90))), 0);
    }
}
