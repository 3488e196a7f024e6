//! CONTRIBUTING lists the files to touch for each kind of addition, by an existing example. Each
//! list is compared with the code: it must hold exactly the files that name the example.
//!
//! ```text
//! ### A plot, as `drift` and `DRIFT` in `crates/show/report/`      how code names the example, and where to look
//!
//! - `crates/show/report/src/plots/drift.rs`: what                  a file that does
//! ```
//!
//! Tests, examples and documents may name it besides.

use std::path::Path;

use super::links::prose;
use super::workspace::{SourceFile, Workspace, is_rust};
use super::{Finding, Rule};

const PAGE: &str = "CONTRIBUTING.md";
/// Recipes of samples name the examples that they copy.
const RECIPES: &str = "xtask/src/extensions/";

pub(super) const RULE: Rule =
    Rule { says: "CONTRIBUTING's lists of files to touch are what an example of each kind touches", check };

/// A list of the page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Extension<'a> {
    line: usize,
    /// Names of the example in code.
    names: Vec<&'a str>,
    /// Folder to search; empty means everywhere.
    folder: &'a str,
    files: Vec<&'a str>,
}

fn check(workspace: &Workspace) -> Vec<Finding> {
    extensions(workspace.document(PAGE))
        .iter()
        .flat_map(|extension| check_list(workspace, extension))
        .collect()
}

fn extensions(text: &str) -> Vec<Extension<'_>> {
    let mut extensions: Vec<Extension> = Vec::new();
    let mut is_inside = false;
    for (line, text) in prose(text) {
        if text.starts_with('#') {
            let example = text.strip_prefix("### ").and_then(|heading| heading.split_once(" as `"));
            is_inside = example.is_some();
            extensions.extend(example.map(|(_, example)| opened(line, example)));
        } else if let Some((path, _)) = text.strip_prefix("- `").and_then(|rest| rest.split_once('`'))
            && is_inside
        {
            extensions.iter_mut().last().into_iter().for_each(|extension| extension.files.push(path));
        }
    }
    extensions
}

/// `one` and `two`, in `folder/`.
fn opened(line: usize, example: &str) -> Extension<'_> {
    let (names, folder) = example.split_once(" in `").unwrap_or((example, ""));
    let names = names.split('`').step_by(2).filter(|name| !name.is_empty()).collect();
    Extension { line, names, folder: folder.trim_end_matches('`'), files: Vec::new() }
}

fn check_list(workspace: &Workspace, extension: &Extension<'_>) -> Vec<Finding> {
    let example = extension.names.first().copied().unwrap_or_default();
    let naming: Vec<&str> =
        workspace.files.iter().filter(|file| names(file, extension)).map(|file| file.path.as_str()).collect();
    let unlisted = naming.iter().filter(|path| !extension.files.contains(path)).map(|path| {
        Finding::new(
            path,
            1,
            format!("names `{example}` and isn't on {PAGE}'s list of line {}", extension.line),
        )
    });
    let rust = extension.files.iter().filter(|path| is_rust(Path::new(path)));
    let idle = rust.filter(|path| !naming.contains(path)).map(|path| {
        Finding::new(PAGE, extension.line, format!("`{path}` is on the list and doesn't name `{example}`"))
    });
    unlisted.chain(idle).collect()
}

/// Returns true if the file's code, tests apart, has one of the names as an identifier or string,
/// or in its file name.
fn names(file: &SourceFile, extension: &Extension<'_>) -> bool {
    let is_apart = file.path.contains("/examples/") || file.path.starts_with(RECIPES);
    if file.is_test() || is_apart || !file.path.starts_with(extension.folder) {
        return false;
    }
    let tokens = || file.lexed.tokens.iter().filter(|token| !token.in_tests);
    extension.names.iter().any(|name| {
        let literal = format!("\"{name}\"");
        let is_its_own = file.path.ends_with(&format!("/{name}.rs"));
        is_its_own || tokens().any(|token| token.text == *name || token.text == literal)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "# Contributing\n### A trick, as `Juggle` and `juggle`\n\n- `crates/a/juggle.rs`: what\n- `crates/a/all.rs`: it\n\n## Other\n- `no.rs`\n";

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let page = [("CONTRIBUTING.md", LIST)];
        let found = check(&Workspace::sample(&[&page, files].concat()));
        found.into_iter().map(|finding| format!("{} {}", finding.path, finding.message)).collect()
    }

    #[test]
    fn a_list_has_its_example_and_its_files() {
        let expected = Extension {
            line: 2,
            names: vec!["Juggle", "juggle"],
            folder: "",
            files: vec!["crates/a/juggle.rs", "crates/a/all.rs"],
        };
        assert_eq!(extensions(LIST), [expected]);
        assert_eq!(extensions("### A plot, as `drift` in `crates/show/`\n")[0].folder, "crates/show/");
    }

    #[test]
    fn files_that_name_the_example_are_on_the_list() {
        let own = ("crates/a/juggle.rs", "fn new() {}");
        let all = ("crates/a/all.rs", "const N: &str = \"juggle\";");
        assert!(findings(&[own, all, ("crates/a/tests/b.rs", "Juggle")]).is_empty());
        assert_eq!(findings(&[own, all, ("crates/b/c.rs", "fn f() { Juggle }")]).len(), 1);
        assert!(findings(&[own])[0].contains("doesn't name"));
    }

    #[test]
    fn comments_and_tests_may_name_it() {
        let own = ("crates/a/juggle.rs", "fn new() {}");
        let all = ("crates/a/all.rs", "mod juggle;");
        let test = (
            "crates/c.rs",
            "/// Juggle\nfn f() { g(\"to Juggle\") }\n#[cfg(test)]\nmod tests { fn f() { Juggle } }",
        );
        assert!(findings(&[own, all, test]).is_empty());
    }
}
