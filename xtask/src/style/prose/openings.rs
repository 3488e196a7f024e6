//! A doc comment opens with a noun phrase or a verb: it describes the item directly.

use super::comments::{Comment, commented};
use crate::style::workspace::Workspace;
use crate::style::{Finding, Rule};

pub(crate) const RULE: Rule =
    Rule { says: "doc comments open with a noun or a verb, not with `What` or `Whether`", check };

/// Openings of a clause or a pronoun where a noun or a verb belongs.
const BANNED: &[&str] = &[
    "By how",
    "By what",
    "By which",
    "For what",
    "From what",
    "How",
    "In what",
    "Of what",
    "One that",
    "That which",
    "The one that",
    "The same",
    "Those",
    "To what",
    "What",
    "Whatever",
    "When",
    "Where",
    "Whether",
    "Which",
    "Who",
    "Whom",
    "Whose",
    "Why",
    "With what",
];

fn check(workspace: &Workspace) -> Vec<Finding> {
    let findings = commented(workspace).flat_map(|(file, comments)| {
        let found = comments.iter().filter_map(banned_opening);
        found.map(|(line, opening)| Finding::new(&file.path, line, message(opening))).collect::<Vec<_>>()
    });
    findings.collect()
}

fn message(opening: &str) -> String {
    format!(
        "a doc comment opens with `{opening}`: name what the item is, or say what it does (\"Returns true if …\")"
    )
}

fn banned_opening(comment: &Comment<'_>) -> Option<(usize, &'static str)> {
    if !comment.is_documentation || !comment.is_first {
        return None;
    }
    let opens = |opening: &&&str| {
        comment.text.strip_prefix(**opening).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    BANNED.iter().find(opens).map(|opening| (comment.line, *opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("crates/sample/src/a.rs", text)])).len()
    }

    #[test]
    fn clauses_and_pronouns_are_found() {
        for opening in ["What is kept.", "Whether it ends.", "Those that end.", "How long it takes, in ns."] {
            assert_eq!(findings(&format!("/// {opening}\nfn a() {{}}")), 1, "{opening}");
            assert_eq!(findings(&format!("//! {opening}\n")), 1, "{opening}");
        }
    }

    #[test]
    fn nouns_and_verbs_are_free() {
        for opening in ["Pages kept in memory.", "Returns true if it ends.", "Whole pages.", "Whence."] {
            assert_eq!(findings(&format!("/// {opening}\nfn a() {{}}")), 0, "{opening}");
        }
        assert_eq!(findings("/// Pages.\n/// What else there is.\nfn a() {}"), 0, "a later line");
        assert_eq!(findings("fn a() {\n    // What follows needs no lock.\n}"), 0, "not documentation");
    }
}
