//! Phrases that carry the main point in a pronoun, and the plain ones in their place.

use super::comments::commented;
use crate::style::workspace::Workspace;
use crate::style::{Finding, Rule};

pub(crate) const RULE: Rule = Rule { says: "comments are free of phrases that hide their subject", check };

/// A phrase, and what to write.
const BANNED: &[(&str, &str)] = &[
    ("by so much", "the figure's name"),
    ("nor does", "a sentence of its own"),
    ("one that", "the noun"),
    ("so many", "the parameter's name"),
    ("that which", "the noun"),
];

fn check(workspace: &Workspace) -> Vec<Finding> {
    let findings = commented(workspace).flat_map(|(file, comments)| {
        let found = comments.into_iter().flat_map(|comment| {
            let text = format!(" {} ", comment.text.to_lowercase());
            let phrases = BANNED.iter().filter(move |(phrase, _)| has_phrase(&text, phrase));
            phrases.map(move |phrase| (comment.line, phrase))
        });
        let finding = |(line, (phrase, better)): (usize, &(&str, &str))| {
            Finding::new(&file.path, line, format!("`{phrase}` hides its subject: write {better}"))
        };
        found.map(finding).collect::<Vec<_>>()
    });
    findings.collect()
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(start, _)| {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(start + phrase.len()..).and_then(|text| text.chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Workspace::sample(&[(path, text)])).len()
    }

    #[test]
    fn phrases_are_found_in_comments_alone() {
        assert_eq!(findings("crates/sample/src/a.rs", "/// Ends after so many rows.\nfn a() {}"), 1);
        assert_eq!(findings("crates/sample/src/a.rs", "// Nor does it wait.\n"), 1);
        assert_eq!(findings("crates/sample/src/a.rs", "fn a() { b(\"so many\") }"), 0);
    }

    #[test]
    fn plain_sentences_are_free() {
        assert_eq!(
            findings("crates/sample/src/a.rs", "/// Ends after `limit` rows. Done thatch.\nfn a() {}"),
            0
        );
    }
}
