//! A decision's title is an imperative sentence, and the list of decisions repeats it word by word.

use super::workspace::{Document, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule = Rule { says: "decisions have a number, an imperative title and a date", check };

const FOLDER: &str = "docs/decisions/";
const LIST: &str = "docs/decisions/README.md";
const TITLE_CHARACTERS_MAX: usize = 72;

/// Verbs that open a title. A new decision may add its own.
const VERBS: &[&str] = &[
    "Add",
    "Answer",
    "Apply",
    "Bound",
    "Cache",
    "Capture",
    "Checksum",
    "Classify",
    "Commit",
    "Compact",
    "Compute",
    "Convert",
    "Copy",
    "Correct",
    "Count",
    "Cut",
    "Derive",
    "Destage",
    "Detect",
    "Distribute",
    "Drop",
    "End",
    "Generate",
    "Give",
    "Go",
    "Group",
    "Implement",
    "Include",
    "Inspect",
    "Interpolate",
    "Keep",
    "Leave",
    "Let",
    "Limit",
    "Load",
    "Mark",
    "Measure",
    "Model",
    "Never",
    "Number",
    "Overlap",
    "Plan",
    "Pool",
    "Predict",
    "Preserve",
    "Price",
    "Punch",
    "Put",
    "Read",
    "Recognise",
    "Record",
    "Refuse",
    "Reject",
    "Remove",
    "Report",
    "Require",
    "Reserve",
    "Reset",
    "Retry",
    "Return",
    "Rewrite",
    "Run",
    "Save",
    "Seal",
    "Send",
    "Skip",
    "Split",
    "Spread",
    "Store",
    "Submit",
    "Sync",
    "Track",
    "Use",
    "Validate",
    "Wake",
    "Wipe",
    "Work",
    "Write",
];

fn check(workspace: &Workspace) -> Vec<Finding> {
    let list = workspace.document(LIST);
    let decisions = workspace.documents.iter().filter(|document| is_decision(&document.path));
    decisions.flat_map(|document| check_decision(document, list)).collect()
}

fn is_decision(path: &str) -> bool {
    path.strip_prefix(FOLDER).is_some_and(|name| name.starts_with(|first: char| first.is_ascii_digit()))
}

fn check_decision(document: &Document, list: &str) -> Vec<Finding> {
    let mut lines = document.text.lines();
    let heading = lines.next().unwrap_or_default();
    let Some((number, title)) = heading.strip_prefix("# ").and_then(|heading| heading.split_once(". "))
    else {
        return vec![Finding::new(&document.path, 1, "the first line isn't `# NUMBER. Title`")];
    };
    let name = document.path.trim_start_matches(FOLDER);
    let is_numbered = number.parse().is_ok_and(|number: u32| name.starts_with(&format!("{number:03}-")));
    let opens_with_verb = title.split(' ').next().is_some_and(|word| VERBS.contains(&word));
    let has_date = lines.take(3).any(|line| line.starts_with("*Accepted ") || line.starts_with("*Replaced "));
    let faults = [
        (!is_numbered, "the number isn't the file's".to_owned()),
        (
            title.chars().count() > TITLE_CHARACTERS_MAX,
            format!("the title has more than {TITLE_CHARACTERS_MAX} characters"),
        ),
        (
            !opens_with_verb,
            "the title opens with no verb of the list in xtask/src/style/decisions.rs".to_owned(),
        ),
        (!has_date, "a line `*Accepted YYYY-MM-DD.*` is missing below the title".to_owned()),
        (
            !list.contains(&format!("[{title}]({name})")),
            format!("{LIST} doesn't have the line `{number}. [{title}]({name})`"),
        ),
    ];
    let faults = faults.into_iter().filter(|(is_broken, _)| *is_broken);
    faults.map(|(_, message)| Finding::new(&document.path, 1, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str, list: &str) -> usize {
        check(&Workspace::sample(&[(path, text), (LIST, list)])).len()
    }

    #[test]
    fn a_titled_decision_is_free() {
        let text = "# 7. Keep the map\n\n*Accepted 2026-11-22.*\n";
        assert_eq!(
            findings("docs/decisions/007-keep-the-map.md", text, "7. [Keep the map](007-keep-the-map.md)"),
            0
        );
        assert_eq!(findings("docs/decisions/README.md", "# Decisions\n", ""), 0);
    }

    #[test]
    fn each_fault_is_found() {
        let path = "docs/decisions/007-a.md";
        let long = format!("Keep {}", "a".repeat(70));
        for text in [
            "Keep the map",
            "# 8. Keep the map\n\n*Accepted 2026-11-22.*\n",
            "# 7. The map is kept\n\n*Accepted 2026-11-22.*\n",
            "# 7. Keep the map\n",
            &format!("# 7. {long}\n\n*Accepted 2026-11-22.*\n"),
        ] {
            let title = text.lines().next().unwrap().trim_start_matches(|c: char| !c.is_alphabetic());
            assert_eq!(findings(path, text, &format!("[{title}](007-a.md)")), 1, "{text}");
        }
        assert_eq!(findings(path, "# 7. Keep the map\n\n*Accepted 2026-11-22.*\n", ""), 1, "not listed");
    }
}
