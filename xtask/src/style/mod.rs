//! The project's own style rules. Each is a pure function from the workspace's text to findings, in
//! a file with samples that keep and break it.

mod arrows;
mod clock;
mod decisions;
mod extensions;
mod file_length;
mod function_length;
mod lexer;
mod links;
mod manifest;
mod opening;
mod paths;
mod pinned;
mod prose;
mod unsafe_code;
mod words;
mod workspace;

use workspace::Workspace;

use crate::tally::Tally;
use crate::{Outcome, output, workspace_root};

/// One breach of a rule: where it is, and how to mend it.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

/// A rule: one sentence that says what holds, and the check that it does.
struct Rule {
    says: &'static str,
    check: fn(&Workspace) -> Vec<Finding>,
}

const RULES: &[Rule] = &[
    file_length::RULE,
    function_length::RULE,
    unsafe_code::RULE,
    clock::RULE,
    opening::RULE,
    arrows::RULE,
    pinned::RULE,
    links::RULE,
    paths::RULE,
    words::RULE,
    extensions::RULE,
    decisions::RULE,
    prose::OPENINGS,
    prose::PHRASES,
    prose::WIDTH,
];

/// Checks every rule on the workspace and counts each as one check.
///
/// # Errors
/// When a file can't be read or isn't what its name says.
pub(crate) fn run(tally: &mut Tally) -> Outcome {
    let workspace = Workspace::read(&workspace_root())?;
    for rule in RULES {
        let findings = (rule.check)(&workspace);
        for Finding { path, line, message } in &findings {
            output::say(&format!("{path}:{line}: {message}"));
        }
        let verdict = if findings.is_empty() { "ok" } else { "BROKEN" };
        output::say(&format!("{verdict}: {}", rule.says));
        tally.check(&format!("style: {}", rule.says), findings.is_empty());
    }
    Ok(())
}
