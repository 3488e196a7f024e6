//! Examples of the workspace that measure and print a JSON object per line.

use std::path::Path;
use std::process::Command;

use serde::de::DeserializeOwned;

use crate::Outcome;
use crate::command::build_folder;

/// Runs an example, already built, and parses its lines.
pub(super) fn example<T: DeserializeOwned>(name: &str, arguments: &[&str]) -> Outcome<Vec<T>> {
    let program = Path::new(&build_folder()).join("release/examples").join(name);
    let ran = Command::new(&program).args(arguments).output()?;
    if !ran.status.success() {
        return Err(format!("{name} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let lines = String::from_utf8(ran.stdout)?;
    Ok(lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}
