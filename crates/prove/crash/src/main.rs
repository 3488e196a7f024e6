//! The program behind `cargo xtask crash`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this is where it talks to a terminal")]

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use clap::Parser;
use nandle_crash::file_calls::{FileSystem, Interface, fail_calls, fail_conversion};
use nandle_crash::{Campaign, Fixture, Scenario, Summary, Violation, run};
use nandle_pages::PolicyKind;

/// Cuts the power of modelled devices under random histories of page stores, and checks what
/// recovery finds
#[derive(Parser)]
struct Arguments {
    /// Distinct crash images to judge, at least; each history is explored to its end
    #[arg(long, default_value_t = 50_000)]
    images: u64,
    /// The first history; the next ones have the next seeds
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads; the result doesn't depend on it [default: one for each core]
    #[arg(long)]
    threads: Option<usize>,
    /// Fail each file call of stores on a file system of this program (FUSE), in the place of power
    /// cuts
    #[arg(long, conflicts_with_all = ["images", "seed", "threads", "json"])]
    file_calls: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.file_calls {
        return fail_file_calls();
    }
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.unwrap_or_else(cores);
    let shown = AtomicU64::new(0);
    let progress = |images: u64| {
        let step = arguments.images.div_ceil(100);
        if std::io::stderr().is_terminal()
            && shown.fetch_max(images / step, Ordering::Relaxed) < images / step
        {
            eprintln!("{images} of {} images", arguments.images);
        }
    };
    let campaign = Campaign { seed: arguments.seed, images: arguments.images, threads };
    let summary = run(campaign, &progress);
    if arguments.json {
        println!("{}", json(arguments.seed, &summary));
    } else {
        say(&summary);
    }
    if summary.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Fails every call of every interface and policy.
fn fail_file_calls() -> ExitCode {
    let file_system = match FileSystem::mount() {
        Ok(file_system) => file_system,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut runs, mut broken) = (0, 0);
    for interface in Interface::ALL {
        for policy in PolicyKind::ALL {
            let summary = fail_calls(&file_system, interface, policy, 1);
            println!("{:14} {:14} {:5} failed calls", interface.to_string(), policy.name(), summary.runs);
            for (call, what) in &summary.violations {
                println!("violation: {} number {}: {what}", call.kind, call.nth);
            }
            runs += summary.runs;
            broken += summary.violations.len();
        }
    }
    let fixtures = match Fixture::all() {
        Ok(fixtures) => fixtures,
        Err(error) => {
            eprintln!("reading the fixtures of earlier formats: {error}");
            return ExitCode::FAILURE;
        }
    };
    for fixture in fixtures {
        let summary = fail_conversion(&file_system, &fixture, 1);
        println!("{:29} {:5} failed calls and kills", fixture.name, summary.runs);
        for (life, what) in &summary.violations {
            println!("violation: {life:?}: {what}");
        }
        runs += summary.runs;
        broken += summary.violations.len();
    }
    println!("{runs} failed calls, {broken} violations");
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(summary: &Summary) {
    for (policy, images) in &summary.images {
        println!("{policy:14} {images:9} images");
    }
    println!("{} histories, {} lives, {} salvaged", summary.histories, summary.lives, summary.salvaged);
    summary.violations.iter().for_each(complain);
    println!("{} images, {} violations", summary.total(), summary.violations.len());
}

fn complain(violation: &Violation) {
    let Violation { seed, steps, what } = violation;
    let cuts: Vec<_> =
        steps.iter().map(|step| format!("event {}, choice {}", step.cut, step.choice)).collect();
    println!("\nviolation: {what}");
    println!("  power cuts  {}", if cuts.is_empty() { "none".to_owned() } else { cuts.join(", then ") });
    println!("  history     {:?}", Scenario::of(*seed));
    println!("  repeat      cargo xtask crash --images 1 --seed {seed}\n");
}

fn json(seed: u64, summary: &Summary) -> serde_json::Value {
    serde_json::json!({
        "schema_version": 1,
        "seed": seed,
        "histories": summary.histories,
        "lives": summary.lives,
        "salvaged": summary.salvaged,
        "images": summary.total(),
        "images_by_policy": summary.images,
        "violations": summary.violations.iter().map(|violation| serde_json::json!({
            "seed": violation.seed,
            "cuts": violation.steps.iter().map(|step| [step.cut, u64::from(step.choice)]).collect::<Vec<_>>(),
            "what": violation.what,
        })).collect::<Vec<_>>(),
    })
}
