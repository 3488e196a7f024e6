//! The profile's JSON Schema, generated from its types and published with the documentation.

use std::fs;
use std::path::PathBuf;

use crate::{Outcome, output, workspace_root};

fn published() -> PathBuf {
    workspace_root().join("docs/profile.schema.json")
}

fn generated() -> Outcome<String> {
    Ok(serde_json::to_string_pretty(&nandle_profile::profile_schema()?)? + "\n")
}

/// Writes it.
pub(crate) fn run() -> Outcome {
    fs::write(published(), generated()?)?;
    output::say(&format!("written: {}", published().display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_schema_is_that_of_the_types() {
        let published = fs::read_to_string(published()).unwrap();
        assert!(
            published == generated().unwrap(),
            "docs/profile.schema.json is out of date: run cargo xtask schema"
        );
    }
}
