//! Profiles and replay results conform to the published schemas.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, SHORT};

fn schema(name: &str) -> jsonschema::Validator {
    let path = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../docs").join(name);
    let schema: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[track_caller]
fn complaints(profile: &Value) -> Vec<String> {
    complaints_by("profile.schema.json", profile)
}

#[track_caller]
fn complaints_by(name: &str, file: &Value) -> Vec<String> {
    schema(name).iter_errors(file).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn results_of_replays_fit_theirs() {
    let place = Place::new();
    place.write("a.csv", "time_us,op,address,length\n1,write,0,4096\n2,write,8192,4096\n3,sync,0,16384\n");
    let mut file = place.nandle("replay a.csv --on model:mtron-16 --json").done().json();
    assert_eq!(complaints_by("replay.schema.json", &file), [""; 0]);
    file["durability"] = json!("now and then");
    assert_ne!(complaints_by("replay.schema.json", &file), [""; 0]);
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
