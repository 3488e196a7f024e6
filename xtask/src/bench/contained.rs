//! A program's run, in a group where there is one: its time, what it took, what it said.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::cgroup::{Group, Taken};
use crate::{Outcome, output};

pub(super) struct Contained {
    pub(super) seconds: f64,
    pub(super) taken: Option<Taken>,
    /// What it printed, or why it failed.
    pub(super) said: Result<String, String>,
    /// All that it wrote beside.
    pub(super) messages: String,
}

/// Runs it; what it prints goes through files in `folder`.
pub(super) fn run(command: &Command, group: Option<&Group>, folder: &Path) -> Outcome<Contained> {
    let [answer, messages] = ["answer", "messages"].map(|name| folder.join(name));
    let mut inside = group.map_or_else(|| same(command), |group| group.inside(command));
    inside.stdout(File::create(&answer)?).stderr(File::create(&messages)?);
    let began = Instant::now();
    let mut child = inside.spawn()?;
    let taken = group.map(|group| group.watch(&mut child)).transpose()?;
    let status = child.wait()?;
    let seconds = began.elapsed().as_secs_f64();
    // Records say what a file is called, and not where it lay on this machine.
    let messages =
        String::from_utf8_lossy(&fs::read(messages)?).replace(&format!("{}/", folder.display()), "");
    let said = if status.success() {
        Ok(fs::read_to_string(answer)?)
    } else {
        let last = messages.lines().rev().find(|line| !line.trim().is_empty());
        let killed = taken.is_some_and(|taken| taken.was_killed);
        let why = if killed { Some("ended by the system for want of memory") } else { last };
        let why = why.map_or_else(|| status.to_string(), str::to_owned);
        output::say(&format!("  {} failed: {why}", command.get_program().display()));
        Err(why)
    };
    Ok(Contained { seconds, taken, said, messages })
}

/// Takes a file, or all files of a folder, out of the page cache.
pub(super) fn forget(path: &Path) -> Outcome {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| forget(&entry?.path()));
    }
    let forget = format!("if={}", path.display());
    _ = Command::new("dd").args([&forget, "iflag=nocache", "count=0", "status=none"]).status();
    Ok(())
}

/// Reads a file, or all files of a folder, into the page cache.
pub(super) fn remember(path: &Path) -> Outcome {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| remember(&entry?.path()));
    }
    io::copy(&mut BufReader::with_capacity(1 << 20, File::open(path)?), &mut io::sink())?;
    Ok(())
}

/// The command again, which is all that can be had of one.
fn same(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    same.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    same
}
