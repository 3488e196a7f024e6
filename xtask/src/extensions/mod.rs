//! Adds a sample of each kind of extension to a copy of the tree. A sample touches exactly the
//! files of its list in CONTRIBUTING; the compiler confirms that nothing is missing, and the
//! program must show the sample. `cargo xtask style` compares the lists with existing examples;
//! this chore compares them with an addition.
//!
//! All samples share one copy, and only changed files are written to it, so that cargo compiles
//! little.

mod recipe;
mod recipes;
mod tree;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::command::{build_folder, cargo};
use crate::step::SCHEMA_FEATURE;
use crate::tally::Tally;
use crate::{Outcome, output, workspace_root};
use recipe::{Place, Recipe};
use recipes::RECIPES;

/// The probe whose files have what was added.
const PROBE: &str =
    "probe model:made-up-drive --budget 2s --no-progress --profile probed.json --report probed.html";
/// A trace of one write.
const TRACE: &str = "time_us,op,address,length\n0,write,0,4096\n";

/// Adds them, and counts a check for each kind.
///
/// # Errors
/// The copy can't be made, or the program not be started.
pub(crate) fn run(tally: &mut Tally) -> Outcome {
    let page = fs::read_to_string(workspace_root().join("CONTRIBUTING.md"))?;
    for recipe in RECIPES {
        let (listed, touched) = (listed(&page, recipe), recipe.touched());
        let says =
            format!("{}: CONTRIBUTING lists {listed:?}, the addition touches {touched:?}", recipe.heading);
        tally.check(&says, listed == touched);
    }
    let folder = build_folder().join("extensions");
    let copy = folder.join("tree");
    let mut files = tree::of_workspace()?;
    RECIPES.iter().try_for_each(|recipe| recipe.add(&mut files))?;
    tree::write(&files, &copy)?;
    let compiles = compile(&copy, &folder)?;
    tally.check(&format!("what was added compiles without a warning, in {}", copy.display()), compiles);
    if compiles { ask_for_all(&folder, tally) } else { Ok(()) }
}

/// Builds the program with the third-party artefacts of the workspace's own build. It builds the
/// whole workspace, so that those have the features of the tests. Our crates aren't optimised,
/// because the program runs for a second.
fn compile(copy: &Path, folder: &Path) -> Outcome<bool> {
    let mut command =
        cargo(&["build", "--quiet", "--workspace", "--features", SCHEMA_FEATURE, "--bin", "nandle"]);
    for package in packages(copy)? {
        command.args(["--config", &format!("profile.dev.package.{package}.opt-level=0")]);
    }
    command.env("CARGO_TARGET_DIR", folder).env("CARGO_BUILD_BUILD_DIR", build_folder());
    let build = command.current_dir(copy).stderr(Stdio::piped()).output()?;
    let said = String::from_utf8_lossy(&build.stderr);
    output::complain(&said);
    Ok(build.status.success() && !said.contains("warning:"))
}

/// Our own.
fn packages(copy: &Path) -> Outcome<Vec<String>> {
    let manifest: toml::Table = fs::read_to_string(copy.join("Cargo.toml"))?.parse()?;
    let dependencies =
        manifest.get("workspace").and_then(|workspace| workspace.get("dependencies")?.as_table());
    let names = dependencies.into_iter().flat_map(toml::Table::keys);
    Ok(names.filter(|name| name.starts_with("nandle-")).cloned().collect())
}

/// Has the program show each in the places that its recipe names.
fn ask_for_all(folder: &Path, tally: &mut Tally) -> Outcome {
    fs::write(folder.join("trace.csv"), TRACE)?;
    answer(folder, PROBE)?;
    for recipe in RECIPES {
        for (place, name) in recipe.shows {
            let (shown, place) = match place {
                Place::Answer(question) => (answer(folder, question)?, *question),
                Place::Probed(file) => (fs::read_to_string(folder.join(file))?, *file),
            };
            tally.check(&format!("{}: {name:?} in {place}", recipe.heading), shown.contains(name));
        }
    }
    Ok(())
}

/// Output of the program.
fn answer(folder: &Path, question: &str) -> Outcome<String> {
    let mut program = Command::new(folder.join("debug/nandle"));
    let answer = program.args(question.split(' ')).current_dir(folder).stdin(Stdio::null()).output()?;
    if !answer.status.success() {
        output::complain(&String::from_utf8_lossy(&answer.stderr));
    }
    Ok(String::from_utf8(answer.stdout)?)
}

/// Files of a list up to its first paragraph of prose, with the sample's name in place of the
/// example's, and without those marked "only if".
fn listed(page: &str, recipe: &Recipe) -> Vec<String> {
    let list = page.lines().skip_while(|line| !line.starts_with(recipe.heading)).skip(1);
    let items = list.skip_while(|line| !line.starts_with("- ")).take_while(|line| !line.is_empty());
    let paths = items.filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    let always = paths.filter(|(_, why)| !why.starts_with(": only if"));
    let mut paths: Vec<String> = always.map(|(path, _)| recipe.renamed(path)).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler isn't asked here: it takes a minute.
    #[test]
    fn lists_and_additions_name_the_same_files() {
        let page = fs::read_to_string(workspace_root().join("CONTRIBUTING.md")).unwrap();
        let mut files = tree::of_workspace().unwrap();
        for recipe in RECIPES {
            assert_eq!(listed(&page, recipe), recipe.touched(), "{}", recipe.heading);
            recipe.add(&mut files).unwrap();
        }
    }

    /// Lists of changes that no copied example makes: they need new code at each place.
    const WITHOUT_SAMPLE: &[&str] = &[
        "### A request kind",
        "### An SQL function",
        "### A dashboard question",
        "### A column type",
        "### A checksum",
        "### Compression of temporary data",
    ];

    #[test]
    fn every_kind_that_has_a_list_has_an_addition() {
        let page = fs::read_to_string(workspace_root().join("CONTRIBUTING.md")).unwrap();
        let kinds = page.lines().filter(|line| line.starts_with("### ") && line.contains(", as `"));
        let has_recipe = |kind: &str| RECIPES.iter().any(|recipe| kind.starts_with(recipe.heading));
        let is_listed = |kind: &str| WITHOUT_SAMPLE.iter().any(|heading| kind.starts_with(heading));
        for kind in kinds {
            assert!(has_recipe(kind) != is_listed(kind), "{kind}");
        }
    }

    #[test]
    fn files_that_are_touched_only_if_are_left_out() {
        let recipe = Recipe { heading: "### A", own: &[], names: &[], edits: &[], shows: &[] };
        assert_eq!(listed("### A b\n\n- `c`: only if d\n- `e`: f\n\n- `g`: h\n", &recipe), ["e"]);
    }

    #[test]
    fn a_derived_parameter_takes_three_files() {
        let derived = RECIPES.iter().find(|recipe| recipe.heading.contains("derived parameter")).unwrap();
        assert!(derived.touched().len() <= 3, "{:?}", derived.touched());
    }
}
