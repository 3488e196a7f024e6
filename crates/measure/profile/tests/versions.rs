//! Compatibility with profiles of older versions.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "this file only has tests")]

use std::path::Path;

use nandle_profile::read_profile;

#[test]
fn a_profile_of_version_0_is_read() {
    let fixture =
        Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("tests/fixtures/version-0.json");
    let profile = read_profile(&fixture).unwrap();
    assert_eq!(profile.schema_version, 0);
    let (fitted, error) = (profile.fitted_cells[0].bandwidth_bytes_per_s, profile.fit.unwrap().error_p90);
    assert!(error > 0.0);
    assert!((fitted.high / fitted.value - (1.0 + error.min(1.0))).abs() < 1e-9);
    assert!((fitted.low / fitted.value - (1.0 - error.min(1.0))).abs() < 1e-9);
    assert!(profile.experiments.flush.is_none() && profile.derived.flush_ns.is_none());
}
