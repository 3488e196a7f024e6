//! Code that the compiler can't check lives in one crate.

use super::workspace::{SourceFile, Workspace};
use super::{Finding, Rule};

const HOME: &str = "crates/device/io/src/";

pub(super) const RULE: Rule = Rule { says: "`unsafe` stands in crates/device/io/src alone", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.files.iter().filter(|file| !file.path.starts_with(HOME)).flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    let message = format!("`unsafe` outside {HOME}: give nandle-io a safe function that does it");
    let places = file.lexed.find(&["unsafe"]);
    places.map(|token| Finding::new(&file.path, token.line, message.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_has_one_home() {
        let code = "// unsafe\nfn f() {\n    unsafe { g() }\n}";
        let at = |path: &str| {
            check(&Workspace::sample(&[(path, code)])).iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(at("crates/device/io/src/ring/queue.rs"), [0; 0]);
        assert_eq!(at("crates/device/model/src/drive.rs"), [3]);
        assert_eq!(at("crates/device/io/tests/ring.rs"), [3]);
    }
}
