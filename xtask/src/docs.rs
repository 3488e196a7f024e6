//! Builds the book under `docs/`: writes its reference from what the program says of itself, then the pages, with an mdBook of one
//! version that is installed below the build folder when it is first needed.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

/// The release that is installed; without search, server and watcher, which it can do without.
const MDBOOK_VERSION: &str = "0.4.52";

/// Writes the reference, and unless `reference_only` the pages.
pub(crate) fn run(reference_only: bool) -> Outcome {
    must(
        cargo(&["test", "--package", "nandle", "--test", "book", "reference"])
            .env("NANDLE_WRITE_REFERENCE", "1"),
    )?;
    if reference_only {
        return Ok(());
    }
    let pages = build_folder().join("book");
    let mut build = Command::new(mdbook()?);
    must(build.arg("build").arg(workspace_root().join("docs")).arg("--dest-dir").arg(&pages))?;
    output::say(&format!("written: {}", pages.join("index.html").display()));
    Ok(())
}

/// The program, which is installed if it isn't there.
fn mdbook() -> Outcome<PathBuf> {
    let tools = build_folder().join(format!("mdbook-{MDBOOK_VERSION}"));
    let program = tools.join("bin/mdbook");
    if !program.is_file() {
        output::headline(&format!("installing mdBook {MDBOOK_VERSION} below {}", tools.display()));
        must(&mut install(&tools))?;
    }
    Ok(program)
}

fn install(tools: &Path) -> Command {
    let mut command =
        cargo(&["install", "mdbook", "--version", MDBOOK_VERSION, "--locked", "--no-default-features"]);
    command.arg("--root").arg(tools);
    command
}

/// Where cargo builds.
fn build_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace_root().join("target"), PathBuf::from)
}

fn must(command: &mut Command) -> Outcome {
    let program = command.get_program().display().to_string();
    let arguments: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    if succeeds(command)? { Ok(()) } else { Err(format!("{program} {} failed", arguments.join(" ")).into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_version_is_installed_below_the_build_folder() {
        let command = install(Path::new("/build/tools"));
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
        assert!(words.contains(&MDBOOK_VERSION.to_owned()) && words.contains(&"--locked".to_owned()));
        assert!(words.ends_with(&["--root".to_owned(), "/build/tools".to_owned()]));
    }

    #[test]
    fn what_fails_is_named() {
        let error = must(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh -c exit 3 failed");
    }
}
