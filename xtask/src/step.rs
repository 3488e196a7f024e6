//! The steps of `test` and `lint`: each runs one tool over the workspace and counts what it said.

use std::process::ExitCode;
use std::time::Instant;

use clap::ValueEnum;

use crate::command::{cargo, find_program, succeeds, watch};
use crate::tally::{Tally, TestCounts};
use crate::{Outcome, extensions, output, peers, setup, style};

/// One step, as it is named after `--only`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Step {
    /// The format of the code
    Fmt,
    /// Our own style rules
    Style,
    /// The compiler's and clippy's warnings, as errors
    Clippy,
    /// The program without what only its release has compiles, too
    Features,
    /// Every test of the workspace, documentation examples included
    Unit,
    /// The documentation builds without a warning
    Doc,
    /// A made-up one of each kind can be added by CONTRIBUTING's lists
    Extensions,
    /// Licences, advisories and sources of the dependencies
    Deny,
}

/// The schema is written, and tested, by what the program doesn't need.
pub(crate) const SCHEMA_FEATURE: &str = "nandle-replay/schema";

/// Steps of `cargo xtask test`, quick ones first.
pub(crate) const TEST: &[Step] =
    &[Step::Fmt, Step::Style, Step::Clippy, Step::Features, Step::Unit, Step::Doc, Step::Extensions];

/// Steps of `cargo xtask lint`.
pub(crate) const LINT: &[Step] =
    &[Step::Fmt, Step::Style, Step::Clippy, Step::Features, Step::Doc, Step::Deny];

/// The steps that the user chose, or all of the chore's own.
pub(crate) fn chosen<'a>(only: &'a [Step], all: &'a [Step]) -> &'a [Step] {
    if only.is_empty() { all } else { only }
}

/// Runs every step, even after a failure, and prints the closing line.
pub(crate) fn run_all(steps: &[Step]) -> ExitCode {
    let mut tally = Tally::default();
    for step in steps {
        output::headline(&format!("{step:?}").to_lowercase());
        let began = Instant::now();
        if let Err(error) = step.run(&mut tally) {
            tally.fail(error.to_string());
        }
        output::say(&format!("{step:?} took {} s", began.elapsed().as_secs()));
    }
    tally.finish()
}

impl Step {
    fn run(self, tally: &mut Tally) -> Outcome {
        match self {
            Self::Fmt => check(tally, &["fmt", "--all", "--check"]),
            Self::Style => style::run(tally),
            Self::Clippy => check(tally, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]),
            Self::Features => check(
                tally,
                // Of all of the workspace, so that third-party artefacts are those of clippy's.
                &[
                    "clippy",
                    "--workspace",
                    "--bin",
                    "nandle",
                    "--no-default-features",
                    "--",
                    "-D",
                    "warnings",
                ],
            ),
            Self::Unit => unit(tally),
            Self::Doc => doc(tally),
            Self::Extensions => extensions::run(tally),
            Self::Deny => deny(tally),
        }
    }
}

fn check(tally: &mut Tally, arguments: &[&str]) -> Outcome {
    let succeeded = succeeds(&mut cargo(arguments))?;
    tally.check(&format!("cargo {}", arguments.join(" ")), succeeded);
    Ok(())
}

fn unit(tally: &mut Tally) -> Outcome {
    let prepared = setup::prepare(tally);
    let python = peers::python(tally);
    let mut counts = TestCounts::default();
    let mut succeeded = true;
    // Examples have no tests, and clippy sees that they compile: linking them would take minutes.
    for kind in ["--tests", "--doc"] {
        let mut command =
            cargo(&["test", "--workspace", kind, "--no-fail-fast", "--features", SCHEMA_FEATURE]);
        command.envs(prepared.iter().map(|variable| (variable, "1")));
        command.envs(python.iter().map(|python| (peers::VARIABLE, python)));
        succeeded &= watch(&mut command, |line| {
            if let Some(of_one_binary) = TestCounts::parse(line) {
                counts.add(of_one_binary);
            }
        })?;
    }
    tally.tests(counts, succeeded);
    Ok(())
}

fn doc(tally: &mut Tally) -> Outcome {
    let mut command = cargo(&["doc", "--workspace", "--no-deps"]);
    let succeeded = succeeds(command.env("RUSTDOCFLAGS", "-D warnings"))?;
    tally.check("cargo doc --workspace --no-deps, with warnings as errors", succeeded);
    Ok(())
}

fn deny(tally: &mut Tally) -> Outcome {
    if find_program("cargo-deny").is_some() {
        check(tally, &["deny", "check", "licenses", "bans", "sources"])?;
        check(tally, &["deny", "check", "advisories"]) // apart, because it fetches the list of advisories
    } else {
        tally.skip("dependencies: no cargo-deny here; `cargo install cargo-deny --locked` brings it");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chosen_steps_run() {
        assert_eq!(chosen(&[], LINT), LINT);
        assert_eq!(chosen(&[Step::Unit], TEST), [Step::Unit]);
    }
}
