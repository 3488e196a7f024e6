//! Dependencies between the crates point one way.
//!
//! ```text
//! cli → {report → replay, advise, probe, target} → {pages, trace, model} → io,   profile beside them
//! ```
//!
//! A test may depend on what it likes.

use super::manifest::Manifest;
use super::workspace::Workspace;
use super::{Finding, Rule};

const NONE: &[&str] = &[];
const IO: &[&str] = &["nandle-io"];
const TOOLS: &[&str] = &["nandle-io", "nandle-model", "nandle-pages", "nandle-trace", "nandle-profile"];
const REPORT: &[&str] = &["nandle-profile", "nandle-trace", "nandle-replay"];
const PROGRAM: &[&str] = &[
    "nandle-io",
    "nandle-model",
    "nandle-pages",
    "nandle-trace",
    "nandle-profile",
    "nandle-target",
    "nandle-probe",
    "nandle-advise",
    "nandle-replay",
    "nandle-report",
];

/// Each of our packages, and which of the others it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("nandle-io", NONE),
    ("nandle-profile", NONE),
    ("nandle-model", IO),
    ("nandle-pages", IO),
    ("nandle-trace", IO),
    ("nandle-crash", &["nandle-io", "nandle-model", "nandle-pages"]),
    ("nandle-target", TOOLS),
    ("nandle-probe", TOOLS),
    ("nandle-advise", TOOLS),
    ("nandle-replay", TOOLS),
    ("nandle-report", REPORT),
    ("nandle", PROGRAM),
    ("xtask", PROGRAM),
];

/// Dependencies that one package keeps from all others.
const KEPT: &[(&str, &str)] = &[("io-uring", "nandle-io"), ("datafusion", "nandle-sql")];

pub(super) const RULE: Rule = Rule { says: "dependencies between our crates point one way", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    let manifests = workspace.manifests.iter();
    let packages = manifests.filter_map(|manifest| Some((manifest, manifest.package()?)));
    packages.flat_map(|(manifest, package)| check_package(manifest, package)).collect()
}

fn check_package(manifest: &Manifest, package: &str) -> Vec<Finding> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package) else {
        let message = format!("`{package}` has no place among the arrows: give it one in {}", file!());
        return vec![Finding::new(&manifest.path, 1, message)];
    };
    let dependencies = manifest.dependencies();
    let used = dependencies.iter().filter(|dependency| !dependency.for_tests);
    used.filter_map(|dependency| {
        let message = objection(package, allowed, dependency.name)?;
        Some(Finding::new(&manifest.path, manifest.line_of(dependency.name), message))
    })
    .collect()
}

fn objection(package: &str, allowed: &[&str], dependency: &str) -> Option<String> {
    let keeper = KEPT.iter().find(|(kept, keeper)| *kept == dependency && *keeper != package);
    if let Some((kept, keeper)) = keeper {
        return Some(format!("only {keeper} may know {kept}: use what {keeper} offers"));
    }
    let is_ours = dependency == "nandle" || dependency == "xtask" || dependency.starts_with("nandle-");
    (is_ours && !allowed.contains(&dependency)).then(|| {
        format!(
            "{package} must not depend on {dependency}: hand it what it needs from above, as plain values"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(package: &str, dependencies: &str) -> usize {
        let text = format!("[package]\nname = \"{package}\"\n{dependencies}");
        check(&Workspace::sample(&[("crates/a/Cargo.toml", &text)])).len()
    }

    #[test]
    fn arrows_point_down() {
        assert_eq!(findings("nandle-pages", "[dependencies]\nnandle-io.workspace = true"), 0);
        assert_eq!(findings("nandle-pages", "[dependencies]\nnandle-profile.workspace = true"), 1);
        assert_eq!(findings("nandle-io", "[dependencies]\nnandle-model.workspace = true"), 1);
        assert_eq!(findings("nandle-probe", "[build-dependencies]\nnandle-report.workspace = true"), 1);
        assert_eq!(findings("nandle", "[dependencies]\nnandle-report.workspace = true"), 0);
    }

    #[test]
    fn tests_may_use_more() {
        assert_eq!(findings("nandle-pages", "[dev-dependencies]\nnandle-model.workspace = true"), 0);
    }

    #[test]
    fn every_package_has_a_place() {
        assert_eq!(findings("nandle-new", ""), 1);
    }

    #[test]
    fn some_dependencies_have_one_keeper() {
        assert_eq!(findings("nandle-io", "[dependencies]\nio-uring.workspace = true"), 0);
        assert_eq!(findings("nandle-probe", "[dependencies]\nio-uring.workspace = true"), 1);
    }

    #[test]
    fn the_table_has_no_circle() {
        for (package, allowed) in ARROWS {
            for below in *allowed {
                let (_, further) = ARROWS.iter().find(|(name, _)| name == below).unwrap();
                assert!(!further.contains(package), "{package} and {below} would depend on each other");
            }
        }
    }
}
