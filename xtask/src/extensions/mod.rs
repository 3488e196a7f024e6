//! Adds a made-up one of a kind to a copy of the tree, touching the files of CONTRIBUTING's list and no others, and has the
//! compiler say that nothing is left to touch. `cargo xtask style` holds the lists against the examples that they name; this holds
//! them against an addition.

mod recipes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};
use recipes::{RECIPES, Recipe};

/// Adds each kind in turn, every one to a copy of its own.
///
/// # Errors
/// A list and an addition differ, or what was added doesn't compile.
pub(crate) fn run() -> Outcome {
    let page = fs::read_to_string(workspace_root().join("CONTRIBUTING.md"))?;
    for recipe in RECIPES {
        output::headline(recipe.heading);
        let listed = listed(&page, recipe);
        let touched = recipe.touched();
        if listed != touched {
            return Err(format!(
                "{}: CONTRIBUTING lists {listed:?}, the addition touches {touched:?}",
                recipe.heading
            )
            .into());
        }
        let copy = copy()?;
        add(recipe, &copy)?;
        let mut check = cargo(&["check", "--quiet"]);
        recipe.packages.iter().for_each(|package| {
            check.args(["--package", package]);
        });
        if !succeeds(check.current_dir(&copy))? {
            return Err(
                format!("{}: the addition doesn't compile; see {}", recipe.heading, copy.display()).into()
            );
        }
        output::say(&format!("ok: {} files", touched.len()));
    }
    Ok(())
}

/// The files of a list up to its first paragraph of prose, with the made-up name for the example's.
fn listed(page: &str, recipe: &Recipe) -> Vec<String> {
    let list = page.lines().skip_while(|line| !line.starts_with(recipe.heading)).skip(1);
    let items = list.skip_while(|line| !line.starts_with("- ")).take_while(|line| !line.is_empty());
    let paths = items.filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    let mut paths: Vec<String> = paths.map(|(path, _)| recipe.renamed(path)).collect();
    paths.sort_unstable();
    paths
}

/// A copy of what git tracks, as it is in the working tree, below the build folder.
fn copy() -> Outcome<PathBuf> {
    let root = workspace_root();
    let copy = build_folder().join("extensions");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    let files =
        Command::new("git").args(["ls-files", "-co", "--exclude-standard"]).current_dir(&root).output()?;
    for path in String::from_utf8(files.stdout)?.lines() {
        let (from, to) = (root.join(path), copy.join(path));
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(&copy))?;
            fs::copy(from, to)?;
        }
    }
    Ok(copy)
}

/// Writes the example's own file once more under the made-up name, and edits the others.
fn add(recipe: &Recipe, copy: &Path) -> Outcome {
    for path in recipe.own {
        let mut text = fs::read_to_string(copy.join(path))?;
        for (example, made_up) in recipe.names {
            text = text.replace(example, made_up);
        }
        fs::write(copy.join(recipe.renamed(path)), text)?;
    }
    for (path, before, after) in recipe.edits {
        let text = fs::read_to_string(copy.join(path))?;
        if !text.contains(before) {
            return Err(
                format!("{path} has no {before:?} any more: mend the recipe of {}", recipe.heading).into()
            );
        }
        fs::write(copy.join(path), text.replacen(before, after, 1))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compiler isn't asked here: it takes a minute.
    #[test]
    fn lists_and_additions_name_the_same_files() {
        let page = fs::read_to_string(workspace_root().join("CONTRIBUTING.md")).unwrap();
        for recipe in RECIPES {
            assert_eq!(listed(&page, recipe), recipe.touched(), "{}", recipe.heading);
            for (path, before, _) in recipe.edits {
                let text = fs::read_to_string(workspace_root().join(path)).unwrap();
                assert!(text.contains(before), "{path} has no {before:?}");
            }
        }
    }

    #[test]
    fn a_derived_parameter_takes_three_files() {
        let derived = RECIPES.iter().find(|recipe| recipe.heading.contains("derived parameter")).unwrap();
        assert!(derived.touched().len() <= 3, "{:?}", derived.touched());
    }
}
