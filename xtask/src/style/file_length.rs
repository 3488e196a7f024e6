//! Files stay small enough to be read in one sitting.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

const LINES_MAX: usize = 400;

pub(super) const RULE: Rule = Rule { says: "a file has 400 lines at most", check };

/// Longer files and the reasons. The list only shrinks: a needless entry is a finding.
const LONGER: &[(&str, &str)] = &[
    (
        "crates/device/model/src/array/controller.rs",
        "one controller: its ports, its cache and the requests that it holds",
    ),
    ("crates/device/model/src/disk/device.rs", "one state machine: the arm's and the cache's turns"),
    ("crates/storage/pages/src/policy/auto/judge.rs", "a quarter of it are histories that its tests judge"),
];
const LIST: &str = "xtask/src/style/file_length.rs";

fn check(workspace: &Workspace) -> Vec<Finding> {
    let is_listed = |file: &&SourceFile| LONGER.iter().any(|(path, _)| *path == file.path);
    let unlisted = workspace.files.iter().filter(|file| !is_listed(file)).filter_map(check_file);
    let listed = workspace.files.iter().filter(is_listed);
    let needless = listed.filter(|file| file.text.lines().count() <= LINES_MAX).map(|file| {
        Finding::new(
            LIST,
            1,
            format!("{} has no more than {LINES_MAX} lines: take it off the list", file.path),
        )
    });
    unlisted.chain(needless).collect()
}

fn check_file(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    (lines > LINES_MAX && !is_excused(&file.text)).then(|| {
        let mend = "split it by idea, or say why not in a line `// long: reason` at its top";
        Finding::new(&file.path, LINES_MAX + 1, format!("{lines} lines, {LINES_MAX} at most; {mend}"))
    })
}

/// Returns true if a reason precedes the first line of code.
fn is_excused(text: &str) -> bool {
    let opening = text.lines().take_while(|line| line.is_empty() || line.starts_with("//"));
    opening.into_iter().any(gives_reason)
}

/// Returns true if a line is `// long: ` followed by a reason.
pub(super) fn gives_reason(line: &str) -> bool {
    line.trim_start().strip_prefix("// long:").is_some_and(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_in(path: &str, text: &str) -> usize {
        check(&Workspace::sample(&[(path, text)])).len()
    }

    fn findings(text: &str) -> usize {
        findings_in("crates/device/io/src/a.rs", text)
    }

    #[test]
    fn an_exception_is_long_and_has_its_reason() {
        for (path, reason) in LONGER {
            assert!(!reason.is_empty());
            assert_eq!(findings_in(path, &"//\n".repeat(401)), 0);
            assert_eq!(findings_in(path, "//\n"), 1, "{path} needs no exception any more");
        }
    }

    #[test]
    fn long_files_need_a_reason() {
        assert_eq!(findings(&"//\n".repeat(400)), 0);
        assert_eq!(findings(&"//\n".repeat(401)), 1);
        assert_eq!(findings(&format!("// long: a table\n{}", "//\n".repeat(401))), 0);
        assert_eq!(findings(&format!("// long:\n{}", "//\n".repeat(401))), 1, "no reason given");
        assert_eq!(findings(&format!("use a;\n// long: late\n{}", "//\n".repeat(401))), 1);
    }
}
