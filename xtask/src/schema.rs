//! JSON Schema of the profile, generated from its types, and a page that lists its keys.

mod keys;

use std::fs;
use std::path::PathBuf;

use crate::{Outcome, output, workspace_root};

/// Published schemas and their paths.
fn published() -> Outcome<[(PathBuf, String); 2]> {
    let schema = nandle_profile::profile_schema()?;
    let docs = workspace_root().join("docs");
    Ok([
        (docs.join("profile.schema.json"), serde_json::to_string_pretty(&schema)? + "\n"),
        (docs.join("profile-keys.md"), keys::page(&schema)),
    ])
}

/// Writes it.
pub(crate) fn run() -> Outcome {
    for (path, text) in published()? {
        fs::write(&path, text)?;
        output::say(&format!("written: {}", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_is_what_the_types_say() {
        for (path, text) in published().unwrap() {
            let there = fs::read_to_string(&path).unwrap_or_default();
            assert!(there == text, "{} is out of date: run cargo xtask schema", path.display());
        }
    }
}
