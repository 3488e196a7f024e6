//! Profiles are what the published schema says they are.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, SHORT};

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/profile.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn complaints(profile: &Value) -> Vec<String> {
    schema().iter_errors(profile).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn profiles_of_disks_and_of_models_fit_the_schema() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT}")).done();
    assert_eq!(complaints(&place.json("profile.json")), [""; 0]);
    place.nandle("probe model:x25-e-64 --budget 60s --profile model.json").done();
    assert_eq!(complaints(&place.json("model.json")), [""; 0]);
}

#[test]
fn the_schema_refuses_what_is_no_profile() {
    let place = Place::new();
    place.nandle(&format!("probe . {SHORT}")).done();
    let profile = place.json("profile.json");
    let spoiled = |pointer: &str, value: Value| {
        let mut profile = profile.clone();
        *profile.pointer_mut(pointer).unwrap() = value;
        complaints(&profile)
    };
    assert_ne!(spoiled("/schema_version", json!(99)), [""; 0]);
    assert_ne!(spoiled("/target", json!(7)), [""; 0]);
    assert_ne!(spoiled("/cells/0/operation", json!(null)), [""; 0]);
    assert_ne!(spoiled("/derived/saturating_queue_depth", json!("deep")), [""; 0]);
    assert_ne!(complaints(&json!({})), [""; 0]);
}
