//! Functions fit on a screen.

use super::file_length::gives_reason;
use super::lexer::Function;
use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

const LINES_MAX: usize = 60;

pub(super) const RULE: Rule = Rule { says: "a function has 60 lines at most", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.files.iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let functions = file.lexed.functions.iter();
    functions.filter_map(|function| check_function(file, function)).collect()
}

fn check_function(file: &SourceFile, function: &Function) -> Option<Finding> {
    let lines = function.last_line - function.first_line + 1;
    (lines > LINES_MAX && !is_excused(&file.text, function.first_line)).then(|| {
        let mend = "give its parts names of their own, or say why not in a line `// long: reason` before it";
        let message = format!("`{}` has {lines} lines, {LINES_MAX} at most; {mend}", function.name);
        Finding::new(&file.path, function.first_line, message)
    })
}

/// Returns true if a reason is among the comments and attributes right before a line (counted from
/// 1).
fn is_excused(text: &str, line: usize) -> bool {
    let before: Vec<&str> = text.lines().take(line - 1).map(str::trim_start).collect();
    let attached = before.into_iter().rev().take_while(|line| line.starts_with(['/', '#']));
    attached.into_iter().any(gives_reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(before: &str, body_lines: usize) -> usize {
        let text = format!("{before}fn long() {{\n{}}}\n", "    f();\n".repeat(body_lines));
        check(&Workspace::sample(&[("crates/device/io/src/a.rs", &text)])).len()
    }

    #[test]
    fn long_functions_need_a_reason() {
        assert_eq!(findings("", 58), 0);
        assert_eq!(findings("", 59), 1);
        assert_eq!(findings("// long: one state machine\n#[inline]\n/// Does.\n", 59), 0);
        assert_eq!(findings("// long:\n", 59), 1, "no reason given");
        assert_eq!(findings("// long: of another\nuse a;\n", 59), 1);
    }

    #[test]
    fn methods_inside_modules_are_seen() {
        let text = format!("mod a {{ impl B {{ fn c() {{\n{}}} }} }}", "f();\n".repeat(80));
        let found = check(&Workspace::sample(&[("crates/device/io/src/a.rs", &text)]));
        assert_eq!(found.first().map(|finding| finding.line), Some(1));
    }
}
