//! Links between our documents lead somewhere. Those that leave the repository aren't followed.

use super::workspace::{Document, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "links between documents lead to a file and, where they name one, a heading", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.documents.iter().flat_map(|document| check_document(workspace, document)).collect()
}

fn check_document(workspace: &Workspace, document: &Document) -> Vec<Finding> {
    let links =
        prose(&document.text).flat_map(|(line, text)| targets(text).map(move |target| (line, target)));
    let broken = links.filter(|(_, target)| !leads_somewhere(workspace, &document.path, target));
    broken
        .map(|(line, target)| {
            Finding::new(&document.path, line, format!("nothing is at the end of the link `{target}`"))
        })
        .collect()
}

/// The lines outside fenced code, with their numbers.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((at + 1, line))
    })
}

/// Text between `](` and `)`.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

fn leads_somewhere(workspace: &Workspace, from: &str, target: &str) -> bool {
    if target.contains("://") || target.starts_with("mailto:") {
        return true;
    }
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let path = if file.is_empty() { from.to_owned() } else { resolve(from, file) };
    let is_there = workspace.paths.contains(&path);
    is_there && (heading.is_empty() || headings(workspace.document(&path)).any(|there| there == heading))
}

/// A path relative to a document, from the workspace's root.
fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Headings as links name them: small letters, hyphens for spaces, no other marks.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let lines = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    lines.map(|line| {
        let kept = line
            .trim_start_matches('#')
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        let other = "# One\n## What it `does`\n";
        check(&Workspace::sample(&[("docs/a/page.md", text), ("docs/other.md", other)])).len()
    }

    #[test]
    fn links_lead_to_files_and_folders() {
        assert_eq!(findings("[a](../other.md), [b](https://x.org/y) and [c](../a/page.md), [d](../a/)"), 0);
        assert_eq!(findings("[a](other.md) and [b](../no.md)"), 2);
    }

    #[test]
    fn links_lead_to_headings() {
        assert_eq!(findings("# Here\n[a](../other.md#what-it-does) [b](#here)"), 0);
        assert_eq!(findings("[a](../other.md#what) [b](#here)"), 2);
    }

    #[test]
    fn code_has_no_links() {
        assert_eq!(findings("```\nf[0](no.md)\n```\n[a](no.md)"), 1);
    }
}
