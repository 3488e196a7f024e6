//! A crate's `lib.rs` opens with what the crate is and what it must never do.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "a crate's lib.rs opens with what it is and what it must never do", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    let libraries = workspace.files.iter().filter(|file| file.path.ends_with("/src/lib.rs"));
    libraries.filter_map(check_library).collect()
}

fn check_library(file: &SourceFile) -> Option<Finding> {
    let paragraph = first_paragraph(&file.text);
    (!paragraph.contains("must never")).then(|| {
        let mend = "open with a `//!` paragraph that says what the crate is, and what it \"must never\" do";
        Finding::new(&file.path, 1, mend)
    })
}

/// The documentation from the first line to the first empty one, in one line.
fn first_paragraph(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let words = lines.map(str::trim).take_while(|line| !line.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("crates/device/io/src/lib.rs", text)])).len()
    }

    #[test]
    fn the_first_paragraph_says_never() {
        assert_eq!(findings("//! Devices. It must\n//! never print.\n\nmod a;"), 0);
        assert_eq!(findings("//! Devices.\n//!\n//! It must never print."), 1, "not in the first paragraph");
        assert_eq!(findings("mod a;\n// It must never print."), 1);
        assert_eq!(findings(""), 1);
    }
}
