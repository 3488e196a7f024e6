//! Result files: those of older programs can be read, and those of newer programs are refused.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "all of it is tests")]

use std::path::Path;

use nandle_pages::PolicyKind;
use nandle_replay::{
    AddressesUsed, Durability, Method, REPLAY_SCHEMA_VERSION, ReplayFile, ReplayFileError, read_replay,
};
use serde_json::{Value, json};

const VERSION_1: &str = "tests/fixtures/version-1.json";
/// The version 1 file in terms of version 2: `pages_homed` became `pages_destaged`.
const VERSION_2: &str = "tests/fixtures/version-2.json";

fn version_2() -> Value {
    serde_json::from_slice(&std::fs::read(VERSION_2).unwrap()).unwrap()
}

fn read(value: &Value) -> Result<Option<ReplayFile>, ReplayFileError> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), value.to_string()).unwrap();
    read_replay(file.path())
}

/// Removes keys that older files lack; they are null when such a file is read.
fn remove_new_keys(now: &mut Value, then: &Value) {
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => {
            now.retain(|key, value| then.contains_key(key) || !value.is_null());
            now.iter_mut().for_each(|(key, value)| remove_new_keys(value, &then[key]));
        }
        (Value::Array(now), Value::Array(then)) => {
            now.iter_mut().zip(then).for_each(|(now, then)| remove_new_keys(now, then));
        }
        _ => {}
    }
}

#[test]
fn files_of_both_versions_keep_their_contents() {
    for (schema_version, path) in [(1, VERSION_1), (2, VERSION_2)] {
        let mut file = read_replay(Path::new(path)).unwrap().unwrap();
        assert_eq!(
            (file.schema_version, file.durability, file.page_writes),
            (schema_version, Durability::Trace, 3120)
        );
        assert!(matches!(file.addresses, AddressesUsed::Compact { area_count: 32, .. }));
        let policies: Vec<PolicyKind> = file.policies.iter().map(|policy| policy.policy).collect();
        assert_eq!(
            policies,
            [PolicyKind::Direct, PolicyKind::StableBuffer, PolicyKind::OutOfPlace, PolicyKind::Auto]
        );
        assert_eq!(file.policies[3].auto.unwrap().chosen, Some(Method::Staging));
        let destaged: Vec<u64> = file.policies.iter().map(|policy| policy.pages_destaged).collect();
        assert_eq!(destaged, [0, 3002, 0, 2984]);
        file.schema_version = 2;
        let mut now = serde_json::to_value(&file).unwrap();
        remove_new_keys(&mut now, &version_2());
        assert_eq!(now, version_2(), "keys must not be lost or renamed");
    }
}

#[test]
fn file_of_a_later_version_is_refused_with_advice() {
    let mut later = version_2();
    later["schema_version"] = json!(REPLAY_SCHEMA_VERSION + 1);
    let error = read(&later).unwrap_err();
    assert!(matches!(error, ReplayFileError::Version { got: 3, .. }), "{error}");
    assert!(error.to_string().contains("replay the trace again"), "{error}");
}

#[test]
fn damaged_file_is_refused_and_a_foreign_one_is_none() {
    let mut damaged = version_2();
    damaged["policies"][0]["policy"] = json!("by-magic");
    let error = read(&damaged).unwrap_err();
    assert!(
        matches!(error, ReplayFileError::Damaged { .. }) && error.to_string().contains("by-magic"),
        "{error}"
    );
    assert_eq!(read(&json!({ "schema_version": 1, "cells": [] })).unwrap(), None);
    assert!(matches!(read_replay(Path::new("/nonexistent")), Err(ReplayFileError::File { .. })));
}
