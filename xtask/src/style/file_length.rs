//! Files stay small enough to be read in one sitting.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

const LINES_MAX: usize = 500;

pub(super) const RULE: Rule = Rule { says: "a file has 500 lines at most", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.files.iter().filter_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    (lines > LINES_MAX && !is_excused(&file.text)).then(|| {
        let mend = "split it by idea, or say why not in a line `// long: reason` at its top";
        Finding::new(&file.path, LINES_MAX + 1, format!("{lines} lines, {LINES_MAX} at most; {mend}"))
    })
}

/// Whether a reason stands before the first line of code.
fn is_excused(text: &str) -> bool {
    let opening = text.lines().take_while(|line| line.is_empty() || line.starts_with("//"));
    opening.into_iter().any(gives_reason)
}

/// Whether a line is `// long: ` with something after it.
pub(super) fn gives_reason(line: &str) -> bool {
    line.trim_start().strip_prefix("// long:").is_some_and(|reason| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("crates/device/io/src/a.rs", text)])).len()
    }

    #[test]
    fn long_files_need_a_reason() {
        assert_eq!(findings(&"//\n".repeat(500)), 0);
        assert_eq!(findings(&"//\n".repeat(501)), 1);
        assert_eq!(findings(&format!("// long: a table\n{}", "//\n".repeat(501))), 0);
        assert_eq!(findings(&format!("// long:\n{}", "//\n".repeat(501))), 1, "no reason given");
        assert_eq!(findings(&format!("use a;\n// long: late\n{}", "//\n".repeat(501))), 1);
    }
}
