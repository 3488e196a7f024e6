//! Initial states of modelled drives, and injected faults.

use std::fs;

use crate::common::Place;

const RANDOM_WRITES: &str =
    "--operation write --patterns random --block-sizes 4KiB --queue-depths 32 --time-per-run 300ms --json";

fn sweep(place: &Place, target: &str) -> serde_json::Value {
    place.nandle(&format!("sweep {target} {RANDOM_WRITES}")).done().json()
}

fn amplification(sweep: &serde_json::Value) -> f64 {
    sweep["cells"][0]["drive"]["write_amplification"].as_f64().unwrap()
}

#[test]
fn a_drive_that_was_aged_cleans_at_once_and_always_in_the_same_way() {
    let place = Place::new();
    let age = "models age x25-e-64 --write random:1GiB --output aged.zst --json";
    let aged = place.nandle(age).done().json();
    assert!(aged["write_amplification"].as_f64().unwrap() > 1.5, "{aged}");
    let first = fs::read(place.path("aged.zst")).unwrap();
    place.nandle(age).done();
    assert_eq!(
        first,
        fs::read(place.path("aged.zst")).unwrap(),
        "an older state is replaced by the same one"
    );
    let (filled, worn) = (sweep(&place, "model:x25-e-64"), sweep(&place, "model:x25-e-64:state=aged.zst"));
    // Beyond the host's bytes a filled drive writes only map pages, whose blocks are erased; data
    // needs no cleaning yet.
    let bytes = |of: &str| filled["cells"][0]["drive"][of].as_u64().unwrap();
    assert_eq!(bytes("erased_bytes"), bytes("flash_written_bytes") - bytes("host_written_bytes"), "{filled}");
    assert!(amplification(&worn) > 3.0 && amplification(&filled) < 2.0, "{filled} {worn}");
    assert_eq!(worn, sweep(&place, "model:x25-e-64:state=aged.zst"));
    assert!(worn["target"].as_str().unwrap().ends_with("/aged.zst"), "{}", worn["target"]);
    place.nandle("models age x25-e-64 --from aged.zst --write sequential:64MiB --output older.zst").done();
}

#[test]
fn a_part_that_was_never_written_leaves_room() {
    let place = Place::new();
    assert_eq!(sweep(&place, "model:x25-e-64:state=70%")["target"], "model:x25-e-64:state=70%");
    let half =
        place.nandle("models age x25-e-64 --fill 50% --write random:1GiB --output half.zst --json").done();
    assert!(half.json()["write_amplification"].as_f64().unwrap() < 1.5, "half of it is spare");
}

#[test]
fn reads_of_a_new_drive_touch_no_chips() {
    let place = Place::new();
    let mean = |target: &str| {
        let options = "--patterns random --block-sizes 4KiB --queue-depths 1 --time-per-run 50ms --json";
        let sweep = place.nandle(&format!("sweep {target} {options}")).done().json();
        sweep["cells"][0]["latency_ns"]["mean"].as_f64().unwrap()
    };
    assert!(mean("model:x25-m-g2:state=new") < 0.6 * mean("model:x25-m-g2"));
}

#[test]
fn an_array_is_aged_drive_by_drive() {
    let place = Place::new();
    place.nandle("models age x25-e-4-2ctl --write random:256MiB --output array.zst").done();
    let worn = sweep(&place, "model:x25-e-4-2ctl:state=array.zst");
    assert_eq!(worn["complete"], true);
    place.nandle("sweep model:x25-e-64:state=array.zst").refused(2, &["x25-e-4-2ctl", "x25-e-64"]);
}

#[test]
fn states_that_can_not_be_are_refused() {
    let place = Place::new();
    let aged = place.nandle("models age sd-card --write random:1m --output card.zst --json").done().json();
    let took_s = aged["virtual_time_ns"].as_u64().unwrap() / 1_000_000_000;
    assert!((60..75).contains(&took_s), "{took_s} s instead of a minute and what was in flight");
    place.nandle("models age mtron-16 --write random:16MiB --output worn.zst").done();
    place
        .nandle("probe model:x25-m-g2:state=worn.zst")
        .refused(2, &["mtron-16", "nandle models age x25-m-g2"]);
    let state = fs::read(place.path("worn.zst")).unwrap();
    fs::write(place.path("cut.zst"), &state[..state.len() / 2]).unwrap();
    fs::write(place.path("other.zst"), "not a state").unwrap();
    for name in ["cut.zst", "other.zst"] {
        place.nandle(&format!("probe model:mtron-16:state={name}")).refused(2, &[name, "nandle models age"]);
    }
    place.nandle("probe model:mtron-16:state=gone.zst").refused(2, &["gone.zst"]);
    place.nandle("probe model:mtron-16:stat=new").refused(2, &["stat=new", "state=new"]);
    place
        .nandle("models age savvio-15k --write random:1MiB --output a.zst")
        .refused(2, &["savvio-15k", "ages"]);
    let overwrite = "models age mtron-16 --write random:1MiB --output other.zst";
    place.nandle(overwrite).refused(2, &["other.zst", "left alone"]);
    place.nandle("models age mtron-16 --write random --output a.zst").refused(2, &["PATTERN:AMOUNT"]);
}

#[test]
fn faults_of_a_file_strike() {
    let place = Place::new();
    let faults = "seed = 7\n[[fault]]\nkind = \"failed-read\"\nper_million = 20000\n";
    fs::write(place.path("faults.toml"), faults).unwrap();
    let options = "--patterns random --block-sizes 4KiB --queue-depths 8 --time-per-run 50ms --json";
    let errors = |target: &str| {
        let outcome = place.nandle(&format!("sweep {target} {options}"));
        let sweep = outcome.json();
        let cell = &sweep["cells"][0];
        let (failed, done) = (cell["errors"].as_u64().unwrap(), cell["requests"].as_u64().unwrap());
        assert_eq!(outcome.code, Some(i32::from(failed > 0)), "{outcome:?}");
        (failed, done)
    };
    let (failed, done) = errors("model:x25-m-g2:faults=faults.toml");
    // A request has eight blocks of 512 bytes that fail independently.
    let expected = (failed + done) as f64 * (1.0 - 0.98_f64.powi(8));
    assert!((failed as f64 - expected).abs() < 0.2 * expected, "{failed} of {done}");
    assert_eq!((failed, done), errors("model:x25-m-g2:faults=faults.toml"));
    assert_eq!(errors("model:x25-m-g2").0, 0);
    for (wrong, said) in [
        ("[[fault]]\nkind = \"failed-reed\"\nper_million = 1\n", "failed-read"),
        ("[[fault]]\nkind = \"failed-read\"\n", "per_million"),
        ("[[fault]]\nkind = \"lost-write\"\nper_million = 1\nlasts = \"once\"\n", "lasts"),
        ("sead = 1\n", "seed"),
    ] {
        fs::write(place.path("wrong.toml"), wrong).unwrap();
        place.nandle("probe model:x25-m-g2:faults=wrong.toml").refused(2, &["wrong.toml", said]);
    }
}
