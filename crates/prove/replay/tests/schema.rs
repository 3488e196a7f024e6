//! The published schema matches the types. To renew it, run `NANDLE_WRITE_SCHEMA=1 cargo test -p
//! nandle-replay --features schema --test schema`.
#![allow(clippy::unwrap_used, reason = "all of it is tests")]

use std::path::Path;

#[test]
fn published_schema_matches_the_types() {
    let path =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../docs/replay.schema.json");
    let text = serde_json::to_string_pretty(&nandle_replay::replay_schema().unwrap()).unwrap() + "\n";
    if std::env::var_os("NANDLE_WRITE_SCHEMA").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == text, "{} is out of date: see the top of this test", path.display());
}
