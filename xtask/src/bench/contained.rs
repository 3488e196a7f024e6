//! A program's run in an optional group: time, resource usage and output.

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
    /// Standard output, or the reason of the failure.
    pub(super) said: Result<String, String>,
    /// Standard error.
    pub(super) messages: String,
}

/// Runs a program. Its output goes through files in `folder`.
pub(super) fn run(command: &Command, group: Option<&Group>, folder: &Path) -> Outcome<Contained> {
    let [answer, messages] = ["answer", "messages"].map(|name| folder.join(name));
    let mut inside = group.map_or_else(|| same(command), |group| group.inside(command));
    inside.stdout(File::create(&answer)?).stderr(File::create(&messages)?);
    let began = Instant::now();
    let mut child = inside.spawn()?;
    let taken = group.map(|group| group.watch(&mut child)).transpose()?;
    let status = child.wait()?;
    let seconds = began.elapsed().as_secs_f64();
    // Records give file names without this machine's paths.
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

/// Evicts a file, or all files of a folder, from the page cache.
pub(super) fn forget(path: &Path) -> Outcome {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| forget(&entry?.path()));
    }
    let forget = format!("if={}", path.display());
    _ = Command::new("dd").args([&forget, "iflag=nocache", "count=0", "status=none"]).status();
    Ok(())
}

pub(super) fn remember(path: &Path) -> Outcome {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| remember(&entry?.path()));
    }
    io::copy(&mut BufReader::with_capacity(1 << 20, File::open(path)?), &mut io::sink())?;
    Ok(())
}

/// Copy of a command, as `Command` has no `Clone`.
fn same(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    same.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    same
}
