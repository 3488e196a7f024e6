//! Comment lines of a source file.

use crate::style::workspace::{SourceFile, Workspace};

/// A line that holds nothing but a comment.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment<'a> {
    /// Counted from 1.
    pub(super) line: usize,
    /// Text after the slashes.
    pub(super) text: &'a str,
    /// True for `///` and `//!`.
    pub(super) is_documentation: bool,
    /// True where the line before is no comment of the same kind.
    pub(super) is_first: bool,
}

/// Source files, each with its comments outside examples of code.
pub(super) fn commented(workspace: &Workspace) -> impl Iterator<Item = (&SourceFile, Vec<Comment<'_>>)> {
    workspace.files.iter().map(|file| (file, comments(&file.text)))
}

fn comments(text: &str) -> Vec<Comment<'_>> {
    let mut marker_before = None;
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let comment = split_marker(line.trim_start());
        let marker = comment.map(|(marker, _)| marker);
        let is_first = marker != marker_before;
        marker_before = marker;
        is_code &= !is_first;
        let Some((marker, text)) = comment else { continue };
        let is_fence = text.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            found.push(Comment { line: at + 1, text, is_documentation: marker != "//", is_first });
        }
    }
    found
}

fn split_marker(line: &str) -> Option<(&'static str, &str)> {
    let found =
        ["//!", "///", "//"].into_iter().find_map(|marker| Some((marker, line.strip_prefix(marker)?)));
    found.map(|(marker, text)| (marker, text.strip_prefix(' ').unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_code() {
        let text = "//! A.\n//! B.\n\nfn a() {} // no line of its own\n    /// C.\n    // D.\n    /// ```\n    /// code\n    /// ```\n    /// E.\n";
        let lines: Vec<_> =
            comments(text).into_iter().map(|c| (c.line, c.text, c.is_documentation, c.is_first)).collect();
        let expected = [
            (1, "A.", true, true),
            (2, "B.", true, false),
            (5, "C.", true, true),
            (6, "D.", false, true),
            (10, "E.", true, false),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn an_example_ends_with_its_comment() {
        assert_eq!(comments("/// ```\nfn a() {}\n/// B.\n").len(), 1);
    }
}
