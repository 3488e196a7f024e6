//! Wrong parameters are refused with the field's name, its range and the nearest valid value.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "test code")]

use nandle_model::flash::{FlashParameters, ParameterError};
use nandle_model::library::{self, Model, ModelKind};

fn changed(from: &str, to: &str) -> ParameterError {
    let text = library::toml_of("x25-m-g2").unwrap();
    assert!(text.contains(from), "{from}");
    FlashParameters::from_toml(&text.replace(from, to)).unwrap_err()
}

fn flash_drives() -> impl Iterator<Item = &'static str> {
    library::names().filter(|name| Model::named(name).unwrap().kind() == ModelKind::Flash)
}

#[test]
fn every_drive_of_the_library_is_right_and_says_what_it_was_scaled_from() {
    for name in flash_drives() {
        let parameters = library::flash(name).unwrap();
        let real_bytes = parameters.scaled_from_bytes.unwrap();
        assert!(real_bytes > parameters.capacity_bytes, "{name}");
    }
}

#[test]
fn every_parameter_of_the_library_has_its_source() {
    for name in flash_drives() {
        let text = library::toml_of(name).unwrap();
        assert!(text.contains("seen"), "{name} says where its figures come from");
    }
}

#[test]
fn a_value_out_of_range_is_named_with_the_nearest_right_one() {
    let error = changed("channels = 10 ", "channels = 1000 ");
    assert!(matches!(error, ParameterError::OutOfRange { field: "chips.channels", .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "chips.channels is 1000, but must be between 1 and 256: the nearest right value is 256"
    );
}

#[test]
fn sizes_must_fit_together() {
    let error = changed("unit_bytes = 4_096", "unit_bytes = 3_000");
    assert!(matches!(error, ParameterError::NotAMultiple { unit_bytes: 3_000, .. }), "{error:?}");
    let error = changed("bytes = 262_144 ", "bytes = 4_096 ");
    assert!(matches!(error, ParameterError::OutOfRange { field: "write_buffer.bytes", .. }), "{error:?}");
}

#[test]
fn spare_space_must_suffice_for_cleaning() {
    let error = library::flash("x25-m-g2").unwrap().with_capacity_bytes(100 << 20).unwrap_err();
    assert!(matches!(error, ParameterError::OutOfRange { field: "capacity_bytes", .. }), "{error:?}");
}

/// A model file of a few hundred bytes must not exhaust the memory.
#[test]
fn superblocks_are_not_more_than_there_is_memory_for() {
    let mut tiny = library::flash("mtron-16").unwrap();
    (tiny.chips.channels, tiny.chips.dies_per_channel, tiny.chips.pages_per_block) = (1, 1, 1);
    tiny.capacity_bytes = 1 << 40;
    let error = tiny.validate().unwrap_err();
    let most_bytes = (2048_u64 << 22) as f64;
    assert!(
        matches!(error, ParameterError::OutOfRange { most, .. } if most.to_bits() == most_bytes.to_bits()),
        "{error:?}"
    );
    tiny.capacity_bytes = 2048 << 22;
    tiny.validate().unwrap();
}

#[test]
fn unknown_and_missing_fields_are_named() {
    let error = changed("depth = 32 ", "dept = 32 ");
    assert!(error.to_string().contains("dept"), "{error}");
    let error = changed("erase_ns = 2_000_000 ", "# ");
    assert!(error.to_string().contains("erase_ns"), "{error}");
    let error = changed("\"burst\"", "\"brust\"");
    assert!(error.to_string().contains("brust"), "{error}");
    let error = changed("victim = {", "speed = 3\nvictim = {");
    assert!(error.to_string().contains("speed"), "{error}");
}

#[test]
fn a_scaled_drive_says_what_it_was_scaled_from() {
    let parameters = library::flash("nvme-tlc").unwrap();
    let real_bytes = parameters.scaled_from_bytes;
    let smaller = parameters.with_capacity_bytes(20 << 30).unwrap();
    assert_eq!(smaller.scaled_from_bytes, real_bytes);
    assert!(smaller.capacity_bytes >= 20 << 30 && smaller.capacity_bytes < 21 << 30);
    let whole = smaller.with_capacity_bytes(real_bytes.unwrap()).unwrap();
    assert!(whole.capacity_bytes >= real_bytes.unwrap());
}
