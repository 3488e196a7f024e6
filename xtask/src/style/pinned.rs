//! Every dependency is pinned once, in the workspace's manifest.

use toml::Value;

use super::manifest::{Dependency, Manifest};
use super::workspace::Workspace;
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "dependencies are pinned in the workspace's Cargo.toml, and nowhere else", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.manifests.iter().flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Manifest) -> Vec<Finding> {
    let loose = manifest.workspace_dependencies().into_iter().filter(|dependency| !is_pinned(dependency));
    let own = manifest.dependencies().into_iter().filter(|dependency| !is_inherited(dependency));
    let loose = loose.map(|d| finding(manifest, d.name, "is not pinned: write its version as `\"=1.2.3\"`"));
    let own = own.map(|d| finding(manifest, d.name, "has its own version: write `workspace = true`"));
    loose.chain(own).collect()
}

fn finding(manifest: &Manifest, dependency: &str, complaint: &str) -> Finding {
    Finding::new(&manifest.path, manifest.line_of(dependency), format!("`{dependency}` {complaint}"))
}

/// Whether it names one exact version of a registry, or a folder of our own.
fn is_pinned(dependency: &Dependency) -> bool {
    let version = dependency.stated.as_str().or_else(|| dependency.stated.get("version")?.as_str());
    match version {
        Some(version) => version.starts_with('=') && version.matches('.').count() >= 2,
        None => dependency.stated.get("path").is_some(),
    }
}

fn is_inherited(dependency: &Dependency) -> bool {
    dependency.stated.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("Cargo.toml", text)])).len()
    }

    #[test]
    fn the_workspace_pins_exactly() {
        let with = |line: &str| findings(&format!("[workspace.dependencies]\n{line}"));
        assert_eq!(with("a = \"=1.2.3\""), 0);
        assert_eq!(with("a = { version = \"=1.2.3\", features = [\"b\"] }"), 0);
        assert_eq!(with("a = { path = \"crates/a\" }"), 0);
        assert_eq!(with("a = \"1.2.3\""), 1);
        assert_eq!(with("a = \"=1.2\""), 1);
        assert_eq!(with("a = { version = \"^1\", features = [\"b\"] }"), 1);
        assert_eq!(with("a = { git = \"https://example.org/a\" }"), 1);
    }

    #[test]
    fn crates_inherit() {
        let with = |line: &str| findings(&format!("[package]\nname = \"n\"\n[dev-dependencies]\n{line}"));
        assert_eq!(with("a.workspace = true"), 0);
        assert_eq!(with("a = { workspace = true, features = [\"b\"] }"), 0);
        assert_eq!(with("a = \"=1.2.3\""), 1);
        assert_eq!(with("a = { path = \"../a\" }"), 1);
    }
}
