//! Builds the book under `docs/`: writes its reference from the programs' own descriptions, then
//! its pages with mdBook, from the path or from the build folder, where `--install` puts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{build_folder, cargo, find_program, succeeds};
use crate::{Outcome, output, workspace_root};

/// The release that is installed; without search, server and watcher, which it can do without.
const MDBOOK_VERSION: &str = "0.4.52";

/// Parts of the book to build, and the tools to use.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Options {
    /// Write the reference alone
    #[arg(long)]
    reference_only: bool,
    /// Install mdBook below the build folder if there is none; that takes about ten minutes
    #[arg(long)]
    install: bool,
}

/// Writes the reference, and unless that is all that is wanted the pages.
pub(crate) fn run(Options { reference_only, install }: Options) -> Outcome {
    // A program that is missing is told before anything is built.
    let mdbook = if reference_only { None } else { Some(mdbook(install)?) };
    for (package, test) in [("nandle", "book"), ("nandle-tables", "program"), ("nandle-sql", "program")] {
        let test = ["test", "--package", package, "--test", test, "reference"];
        must(cargo(&test).env("NANDLE_WRITE_REFERENCE", "1"))?;
    }
    let Some(mdbook) = mdbook else { return Ok(()) };
    let pages = build_folder().join("book");
    let mut build = Command::new(mdbook);
    must(build.arg("build").arg(workspace_root().join("docs")).arg("--dest-dir").arg(&pages))?;
    output::say(&format!("written: {}", pages.join("index.html").display()));
    Ok(())
}

/// The mdBook installed here before, the one on the path, or, if allowed, a new one.
fn mdbook(may_install: bool) -> Outcome<PathBuf> {
    let tools = build_folder().join(format!("mdbook-{MDBOOK_VERSION}"));
    let installed = tools.join("bin/mdbook");
    let present = installed.is_file().then(|| installed.clone());
    if let Some(program) = present.or_else(|| find_program("mdbook")) {
        return Ok(program);
    }
    if !may_install {
        return Err(missing().into());
    }
    output::headline(&format!("installing mdBook {MDBOOK_VERSION} below {}", tools.display()));
    must(&mut install(&tools))?;
    Ok(installed)
}

/// Advice if mdBook is missing.
fn missing() -> String {
    format!(
        "no mdbook on the path, which makes the book's pages: `cargo xtask docs --install` builds {MDBOOK_VERSION} below the build \
         folder (about ten minutes), and `cargo install mdbook --version {MDBOOK_VERSION} --locked` for all projects; `cargo xtask docs \
         --reference-only` needs none"
    )
}

fn install(tools: &Path) -> Command {
    let mut command =
        cargo(&["install", "mdbook", "--version", MDBOOK_VERSION, "--locked", "--no-default-features"]);
    command.arg("--root").arg(tools);
    command
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
    fn a_missing_program_is_told_with_what_brings_it() {
        for way in ["cargo xtask docs --install", "cargo install mdbook", "--reference-only"] {
            assert!(missing().contains(way), "{way}: {}", missing());
        }
    }

    #[test]
    fn what_fails_is_named() {
        let error = must(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh -c exit 3 failed");
    }
}
