//! Page store: policies compared with bare writes and SQLite on this machine's disk, threads that
//! share a store, modelled drives in virtual time, and CPU time per page.

mod ablation;
mod choice;
mod disk;
mod ext4;
mod models;
mod threads;

use std::fs;

use super::Bench;
use super::machine::machine;
use super::results::{Comparison, Results};
use crate::command::cargo;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "pages",
    about: "the page store's policies: disk, threads, models, ablation, choice, cpu (option: --only PART, `--only choice DRIVE…`; traces by NANDLE_TRACE, NANDLE_TRACE_REWRITES, NANDLE_TRACE_PAIRS)",
    run,
};

const PARTS: [&str; 6] = ["disk", "threads", "models", "ablation", "choice", "cpu"];

fn run(options: &[String]) -> Outcome {
    let (parts, drives) = parts(options)?;
    if parts.contains(&"disk") {
        let comparisons = disk::comparisons()?;
        write("pages", disk::METHOD, comparisons)?;
    }
    if parts.contains(&"threads") {
        let comparisons = threads::comparisons()?;
        write("pages-threads", threads::METHOD, comparisons)?;
    }
    if parts.contains(&"models") {
        models::run()?;
    }
    if parts.contains(&"ablation") {
        ablation::run()?;
    }
    if parts.contains(&"choice") {
        choice::run(drives)?;
    }
    if parts.contains(&"cpu") {
        cpu()?;
    }
    Ok(())
}

/// CPU time on a device that completes at once. The part `disk` names the machine.
fn cpu() -> Outcome {
    output::say("processor time of a page write, by policy and slots …");
    let ran =
        cargo(&["run", "--release", "--quiet", "--package", "nandle-pages", "--example", "cpu"]).output()?;
    if !ran.status.success() {
        return Err(format!("the example `cpu`: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let told = String::from_utf8(ran.stdout)?;
    let machine = machine(&workspace_root());
    let table = format!(
        "# What a page write costs the processor\n\n`cargo xtask bench pages --only cpu`, one core of {}: processor time on a \
         device that completes at once and forgets what it is given (reads give zeros).\n\n{told}",
        machine.cpu.as_deref().unwrap_or("an unknown processor")
    );
    let folder = workspace_root().join("benches/pages");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("cpu.md"), &table)?;
    output::say(&table);
    Ok(())
}

fn write(name: &str, method: &str, comparisons: Vec<Comparison>) -> Outcome {
    let root = workspace_root();
    let results = Results::new(name, method, machine(&root), comparisons)?;
    output::say(&results.write(&root.join("benches"))?);
    Ok(())
}

/// Parts to run, and the drives of the choice; an empty list means all.
fn parts(options: &[String]) -> Outcome<(Vec<&str>, &[String])> {
    match options {
        [] => Ok((PARTS.to_vec(), &[])),
        [only, part] if only == "--only" && PARTS.contains(&part.as_str()) => Ok((vec![part.as_str()], &[])),
        [only, part, drives @ ..] if only == "--only" && part == "choice" => Ok((vec!["choice"], drives)),
        other => Err(format!("`pages` takes `--only` and one of {PARTS:?}, got {other:?}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_chosen_one_by_one() {
        let options = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(parts(&[]).unwrap().0, PARTS);
        assert_eq!(parts(&options(&["--only", "cpu"])).unwrap().0, ["cpu"]);
        let chosen = options(&["--only", "choice", "sd-card"]);
        let (only, drives) = parts(&chosen).unwrap();
        assert_eq!((only, drives), (vec!["choice"], &options(&["sd-card"])[..]));
        assert!(parts(&options(&["--only", "tape"])).is_err());
    }
}
