//! Every dependency has its version once, in the workspace's manifest. Tests name our crates by
//! their folders, because a published package must not depend on the packages that test it.

use toml::Value;

use super::manifest::{Dependency, Manifest};
use super::workspace::Workspace;
use super::{Finding, Rule};

pub(super) const RULE: Rule =
    Rule { says: "dependencies have their versions in the workspace's Cargo.toml, and nowhere else", check };

/// Packages pinned to one version, because our engine works around faults of that version.
const PINNED: &[&str] = &["datafusion", "arrow-pg"];

fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.manifests.iter().flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &Manifest) -> Vec<Finding> {
    let stated = manifest.workspace_dependencies().into_iter().filter(|dependency| !has_version(dependency));
    let own = manifest.dependencies().into_iter().filter(|dependency| !is_inherited(dependency));
    let stated = stated.map(|d| {
        let mend = if is_pinned(d.name) {
            "write its version as `\"=1.2.3\"`"
        } else {
            "write its version as `\"1.2.3\"`"
        };
        finding(manifest, d.name, mend)
    });
    let own = own.map(|d| {
        let mend = if is_ours(d.name) && d.for_tests {
            "is for tests: write `{ path = \"../…\" }`"
        } else {
            "has its own version: write `workspace = true`"
        };
        finding(manifest, d.name, mend)
    });
    stated.chain(own).collect()
}

fn finding(manifest: &Manifest, dependency: &str, complaint: &str) -> Finding {
    Finding::new(&manifest.path, manifest.line_of(dependency), format!("`{dependency}` {complaint}"))
}

fn is_pinned(name: &str) -> bool {
    PINNED.iter().any(|pinned| name.starts_with(pinned))
}

fn is_ours(name: &str) -> bool {
    name.starts_with("nandle-")
}

/// Returns true for a version of three numbers, with `=` only for pinned packages.
fn has_version(dependency: &Dependency) -> bool {
    let version = dependency.stated.as_str().or_else(|| dependency.stated.get("version")?.as_str());
    version.is_some_and(|version| {
        let exact = version.strip_prefix('=');
        let numbers = exact.unwrap_or(version);
        exact.is_some() == is_pinned(dependency.name)
            && numbers.matches('.').count() >= 2
            && numbers.starts_with(|first: char| first.is_ascii_digit())
    })
}

fn is_inherited(dependency: &Dependency) -> bool {
    if dependency.for_tests && is_ours(dependency.name) {
        return dependency.stated.get("path").is_some() && dependency.stated.get("version").is_none();
    }
    dependency.stated.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> usize {
        check(&Workspace::sample(&[("Cargo.toml", text)])).len()
    }

    #[test]
    fn the_workspace_has_versions() {
        let with = |line: &str| findings(&format!("[workspace.dependencies]\n{line}"));
        assert_eq!(with("a = \"1.2.3\""), 0);
        assert_eq!(with("a = { version = \"1.2.3\", features = [\"b\"] }"), 0);
        assert_eq!(with("nandle-a = { version = \"0.1.0\", path = \"crates/a\" }"), 0);
        assert_eq!(with("datafusion-a = \"=1.2.3\""), 0);
        assert_eq!(with("datafusion-a = \"1.2.3\""), 1, "not pinned");
        assert_eq!(with("a = \"=1.2.3\""), 1, "pinned");
        assert_eq!(with("a = \"1.2\""), 1);
        assert_eq!(with("nandle-a = { path = \"crates/a\" }"), 1, "without a version");
        assert_eq!(with("a = { version = \"^1.2.3\", features = [\"b\"] }"), 1);
        assert_eq!(with("a = { git = \"https://example.org/a\" }"), 1);
    }

    #[test]
    fn crates_inherit() {
        let with = |line: &str| findings(&format!("[package]\nname = \"n\"\n[dev-dependencies]\n{line}"));
        assert_eq!(with("a.workspace = true"), 0);
        assert_eq!(with("a = { workspace = true, features = [\"b\"] }"), 0);
        assert_eq!(with("nandle-a = { path = \"../a\" }"), 0);
        assert_eq!(with("a = \"1.2.3\""), 1);
        assert_eq!(with("a = { path = \"../a\" }"), 1);
        assert_eq!(with("nandle-a.workspace = true"), 1, "a published package would need it");
    }

    #[test]
    fn libraries_of_ours_are_inherited_outside_tests() {
        let with = |line: &str| findings(&format!("[package]\nname = \"n\"\n[dependencies]\n{line}"));
        assert_eq!(with("nandle-a.workspace = true"), 0);
        assert_eq!(with("nandle-a = { path = \"../a\" }"), 1);
    }
}
