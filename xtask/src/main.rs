//! The project's chores, started as `cargo xtask CHORE`: tests with their set-up, lints, style
//! rules, documentation and benchmarks. No crate may depend on it, and it must never grow beyond a
//! build of seconds.

mod bench;
mod claims;
mod command;
mod crash;
mod docs;
mod extensions;
mod output;
mod peers;
mod schema;
mod setup;
mod step;
mod style;
mod tally;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use step::Step;

/// Result of a chore that can fail to run at all.
type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's chores", version)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Set up what the tests need, then run every check and every test of the workspace
    Test {
        /// Run these steps alone (may be given several times)
        #[arg(long, value_enum)]
        only: Vec<Step>,
    },
    /// Run the checks that need no test: format, clippy, documentation, style, dependencies
    Lint {
        /// Run these steps alone (may be given several times)
        #[arg(long, value_enum)]
        only: Vec<Step>,
    },
    /// Check our own style rules
    Style,
    /// Print the claims' book: what papers say of drives, what their models give, and the verdict
    Claims,
    /// Cut the power of modelled devices under random histories of page stores, and check recovery
    Crash {
        /// `--images N` (distinct, at least), `--seed S` (of the first history), `--threads T`,
        /// `--json`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
    /// Write the JSON Schema of the profile, from its types, to `docs/profile.schema.json`
    Schema,
    /// Build the book under `docs/`, with the reference of the program's commands
    Docs(docs::Options),
    /// Add a sample of each kind in CONTRIBUTING to a copy of the tree, and look for it in the
    /// program
    Extensions,
    /// Run a benchmark and write its results under `benches/`
    Bench {
        /// Benchmark to run; without a name they are listed
        name: Option<String>,
        /// Options of the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        options: Vec<String>,
    },
}

fn main() -> ExitCode {
    match Arguments::parse().chore {
        Chore::Test { only } => step::run_all(step::chosen(&only, step::TEST)),
        Chore::Lint { only } => step::run_all(step::chosen(&only, step::LINT)),
        Chore::Style => step::run_all(&[Step::Style]),
        Chore::Claims => exit_code(claims::run()),
        Chore::Crash { options } => crash::run(&options),
        Chore::Schema => exit_code(schema::run()),
        Chore::Docs(options) => exit_code(docs::run(options)),
        Chore::Extensions => step::run_all(&[Step::Extensions]),
        Chore::Bench { name, options } => exit_code(bench::run(name.as_deref(), &options)),
    }
}

fn exit_code(outcome: Outcome) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    output::complain(&format!("error: {error}"));
    ExitCode::FAILURE
}

/// Root folder of the workspace. Cargo also names it when the program starts, because checkouts
/// that share a build folder may share this program.
fn workspace_root() -> PathBuf {
    let own_folder = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    own_folder.parent().map(PathBuf::from).unwrap_or(own_folder)
}

#[cfg(test)]
mod tests {
    /// `cargo run --release -- probe .` runs without an installation, although the workspace has
    /// several programs.
    #[test]
    fn cargo_run_finds_the_program() {
        let manifest = std::fs::read_to_string(super::workspace_root().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let members = manifest["workspace"]["default-members"].as_array().unwrap();
        assert_eq!(
            members.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>(),
            ["crates/programs/nandle"]
        );
    }
}
