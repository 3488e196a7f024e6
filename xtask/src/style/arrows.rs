//! Dependencies between crates point one way: from floor to floor of `crates/`, and within a floor
//! to crates listed earlier. The table below is the only source; ARCHITECTURE repeats it.
//!
//! A test may depend on what it likes.

use super::manifest::Manifest;
use super::workspace::Workspace;
use super::{Finding, Rule};

/// A folder of `crates/`.
struct Floor {
    name: &'static str,
    /// Its crates without `nandle-`; each may depend on those before it.
    crates: &'static [&'static str],
    /// The floors whose crates it may depend on.
    below: &'static [&'static str],
}

const FLOORS: &[Floor] = &[
    Floor { name: "device", crates: &["units", "io", "model", "target"], below: &[] },
    Floor { name: "measure", crates: &["profile", "probe", "session"], below: &["device"] },
    Floor { name: "storage", crates: &["pages", "spill"], below: &["device"] },
    Floor { name: "decide", crates: &["advise"], below: &["measure", "device"] },
    Floor {
        name: "query",
        crates: &["reads", "predict", "columns", "flights", "engine", "distributed"],
        below: &["storage", "measure", "device"],
    },
    Floor {
        name: "prove",
        crates: &["trace", "replay", "workloads", "crash"],
        below: &["storage", "device"],
    },
    Floor {
        name: "show",
        crates: &["report", "dashboard"],
        below: &["prove", "query", "decide", "measure", "device"],
    },
    Floor {
        name: "programs",
        crates: &["terminal", "nandle", "tables", "sql"],
        below: &["show", "prove", "query", "decide", "storage", "measure", "device"],
    },
];

/// Depends on no crate of ours, so every floor may use it, except storage: a store receives
/// figures, not profiles.
const ALONE: &str = "profile";
const WITHOUT_PROFILE: &str = "storage";

/// A crate that promises to know less than its floor may: it is pure.
const PURE: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("profile", &[]),
    ("trace", &[]),
    ("advise", &["units", "profile"]),
    ("reads", &["io", "units"]),
];

/// Dependencies that few packages keep from all others.
const KEPT: &[(&str, &[&str])] = &[
    ("crc32c", &["nandle-units"]),
    ("io-uring", &["nandle-io"]),
    ("datafusion", &["nandle-engine", "nandle-distributed"]),
    ("datafusion-datasource", &["nandle-engine"]),
    ("datafusion-pg-catalog", &["nandle-engine"]),
    ("datafusion-distributed", &["nandle-distributed"]),
    ("tonic", &["nandle-distributed"]),
    ("arrow-pg", &["nandle-sql"]),
    ("axum", &["nandle-sql"]),
    ("hyper", &["nandle-sql"]),
    ("pgwire", &["nandle-sql"]),
    ("tokio", &["nandle-engine", "nandle-distributed", "nandle-sql"]),
];

pub(super) const RULE: Rule = Rule { says: "dependencies between our crates point one way", check };

fn check(workspace: &Workspace) -> Vec<Finding> {
    let manifests = workspace.manifests.iter();
    let packages = manifests.filter_map(|manifest| Some((manifest, manifest.package()?)));
    let wrong = packages.flat_map(|(manifest, package)| check_package(manifest, package));
    wrong.chain(check_architecture(workspace.document("ARCHITECTURE.md"))).collect()
}

/// Compares ARCHITECTURE with the table above; a sample of a workspace has none.
fn check_architecture(architecture: &str) -> Vec<Finding> {
    let rows = FLOORS.iter().map(row).filter(|row| !architecture.is_empty() && !architecture.contains(row));
    rows.map(|row| Finding::new("ARCHITECTURE.md", 1, format!("its table of floors lacks the row `{row}`")))
        .collect()
}

fn row(floor: &Floor) -> String {
    let below = if floor.below.is_empty() { "nothing".to_owned() } else { floor.below.join(", ") };
    format!("| `{}/` | {} | {below} |", floor.name, floor.crates.join(", "))
}

fn check_package(manifest: &Manifest, package: &str) -> Vec<Finding> {
    if package == "xtask" {
        return Vec::new();
    }
    let name = short(package);
    let Some(floor) = floor_of(name) else {
        let message = format!("`{package}` has no place among the floors: give it one in {}", file!());
        return vec![Finding::new(&manifest.path, 1, message)];
    };
    let mut findings = Vec::new();
    if !manifest.path.starts_with(&format!("crates/{}/", floor.name)) {
        findings.push(Finding::new(
            &manifest.path,
            1,
            format!("`{package}` belongs into crates/{}/", floor.name),
        ));
    }
    let dependencies = manifest.dependencies();
    let used = dependencies.iter().filter(|dependency| !dependency.for_tests);
    findings.extend(used.filter_map(|dependency| {
        let message = objection(package, floor, dependency.name)?;
        Some(Finding::new(&manifest.path, manifest.line_of(dependency.name), message))
    }));
    findings
}

/// `io` of `nandle-io`; the program's name is its own.
fn short(package: &str) -> &str {
    package.strip_prefix("nandle-").unwrap_or(package)
}

fn floor_of(name: &str) -> Option<&'static Floor> {
    FLOORS.iter().find(|floor| floor.crates.contains(&name))
}

fn objection(package: &str, floor: &Floor, dependency: &str) -> Option<String> {
    let kept = KEPT.iter().find(|(kept, keepers)| *kept == dependency && !keepers.contains(&package));
    if let Some((kept, keepers)) = kept {
        let keepers = keepers.join(" and ");
        return Some(format!("only {keepers} may know {kept}: use what is offered there"));
    }
    let is_ours = dependency == "nandle" || dependency == "xtask" || dependency.starts_with("nandle-");
    (is_ours && !may_know(short(package), floor, short(dependency))).then(|| {
        format!(
            "{package} must not depend on {dependency}: hand it what it needs from above, as plain values"
        )
    })
}

fn may_know(name: &str, floor: &Floor, other: &str) -> bool {
    if let Some((_, known)) = PURE.iter().find(|(pure, _)| *pure == name) {
        return known.contains(&other);
    }
    if other == ALONE {
        return floor.name != WITHOUT_PROFILE;
    }
    let Some(other_floor) = floor_of(other) else { return false };
    if other_floor.name == floor.name {
        let place = |wanted| floor.crates.iter().position(|name| *name == wanted);
        return place(other) < place(name);
    }
    floor.below.contains(&other_floor.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings_in(path: &str, package: &str, dependencies: &str) -> usize {
        let text = format!("[package]\nname = \"{package}\"\n{dependencies}");
        check(&Workspace::sample(&[(path, &text)])).len()
    }

    fn findings(package: &str, dependencies: &str) -> usize {
        let floor = floor_of(short(package)).map_or("none", |floor| floor.name);
        findings_in(&format!("crates/{floor}/a/Cargo.toml"), package, dependencies)
    }

    #[test]
    fn arrows_point_down() {
        assert_eq!(findings("nandle-pages", "[dependencies]\nnandle-io.workspace = true"), 0);
        assert_eq!(findings("nandle-pages", "[dependencies]\nnandle-profile.workspace = true"), 1);
        assert_eq!(findings("nandle-target", "[dependencies]\nnandle-profile.workspace = true"), 0);
        assert_eq!(findings("nandle-io", "[dependencies]\nnandle-model.workspace = true"), 1);
        assert_eq!(findings("nandle-probe", "[build-dependencies]\nnandle-report.workspace = true"), 1);
        assert_eq!(findings("nandle", "[dependencies]\nnandle-report.workspace = true"), 0);
        assert_eq!(findings("nandle-advise", "[dependencies]\nnandle-io.workspace = true"), 1);
    }

    #[test]
    fn tests_may_use_more() {
        assert_eq!(findings("nandle-pages", "[dev-dependencies]\nnandle-model.workspace = true"), 0);
    }

    #[test]
    fn every_package_has_a_place() {
        assert_eq!(findings("nandle-new", ""), 1);
        assert_eq!(findings_in("crates/prove/pages/Cargo.toml", "nandle-pages", ""), 1);
    }

    #[test]
    fn some_dependencies_have_one_keeper() {
        assert_eq!(findings("nandle-io", "[dependencies]\nio-uring.workspace = true"), 0);
        assert_eq!(findings("nandle-probe", "[dependencies]\nio-uring.workspace = true"), 1);
        assert_eq!(findings("nandle-sql", "[dependencies]\ntokio.workspace = true"), 0);
        assert_eq!(findings("nandle-sql", "[dependencies]\ndatafusion.workspace = true"), 1);
    }

    #[test]
    fn floors_lie_on_floors_before_them() {
        for (place, floor) in FLOORS.iter().enumerate() {
            let before: Vec<&str> = FLOORS[..place].iter().map(|floor| floor.name).collect();
            assert!(floor.below.iter().all(|below| before.contains(below)), "{}", floor.name);
        }
    }

    #[test]
    fn architecture_shows_every_floor() {
        assert_eq!(check_architecture("some other text").len(), FLOORS.len());
        let rows: Vec<String> = FLOORS.iter().map(row).collect();
        assert!(check_architecture(&rows.join("\n")).is_empty());
    }
}
