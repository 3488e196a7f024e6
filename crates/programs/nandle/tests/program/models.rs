use std::fs;

use crate::common::Place;

const NO_WORLD: &str = "--time-per-run 200ms --block-sizes 32KiB --queue-depths 1";

/// Mean latency of each pattern, in cell order.
fn means(place: &Place, target: &str, options: &str) -> Vec<(String, f64)> {
    let outcome = place.nandle(&format!("sweep {target} {options} --json")).done();
    let json = outcome.json();
    assert_eq!((&json["backend"]["io"], &json["complete"]), (&"model".into(), &true.into()));
    let cell = |cell: &serde_json::Value| {
        (cell["pattern"].as_str().unwrap().to_owned(), cell["latency_ns"]["mean"].as_f64().unwrap())
    };
    json["cells"].as_array().unwrap().iter().map(cell).collect()
}

#[test]
fn a_probe_finds_the_drive_that_the_papers_describe() {
    let place = Place::new();
    let outcome = place.nandle("probe model:x25-m-g2 --budget 40s").done();
    let profile = place.json("profile.json");
    assert_eq!(profile["identity"]["model"], "modelled x25-m-g2");
    assert_eq!(profile["backend"]["io"], "model");
    assert_eq!(profile["conditions"]["contents_checked"], false);
    assert_eq!(profile["partial"].as_array().unwrap().len(), 0, "{}", profile["partial"]);
    assert_eq!(profile["system"]["queue"]["rotational"], false);
    // DIAT, random reads of 32 KB: 250 to 270 MB/s from depth 4; less than half at depth 1.
    let cell = |block: u64, depth: u64| {
        let cells = profile["cells"].as_array().unwrap();
        let is = |cell: &&serde_json::Value| {
            cell["pattern"] == "random"
                && cell["group_blocks"] == 1
                && cell["block_bytes"] == block
                && cell["queue_depth"] == depth
        };
        cells.iter().find(is).map(|cell| cell["bandwidth_bytes_per_s"].as_f64().unwrap() / 1e6)
    };
    let (alone, deep) = (cell(32 << 10, 1).unwrap(), cell(32 << 10, 32).unwrap());
    assert!((100.0..125.0).contains(&alone) && (250.0..272.0).contains(&deep), "{alone} {deep}");
    assert!(outcome.stdout.contains("modelled drive"), "{}", outcome.stdout);
    assert_eq!(place.names(), ["profile.json", "report.html"]);
}

#[test]
fn equal_probes_are_equal_in_separate_processes() {
    let place = Place::new();
    let run = |seed: u32| {
        place.nandle(&format!("probe model:mtron-16 --budget 5s --seed {seed}")).done();
        let mut profile = place.json("profile.json");
        profile["made_at_unix_s"] = 0.into();
        profile.to_string()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_sweep_of_writes_shows_what_uflip_found() {
    let place = Place::new();
    let options = format!(
        "{NO_WORLD} --operation write --patterns sequential,random,focused:8MiB,partitioned:8,ordered:2"
    );
    let means = means(&place, "model:mtron-16", &options.replace("200ms", "4s"));
    let [(_, sequential), (_, random), (_, focused), (_, partitioned), (_, ordered)] = means.as_slice()
    else {
        panic!("{means:?}")
    };
    // uFLIP on the MTron: random writes cost more than ten times as much, except within 8 MB or in
    // 8 streams.
    assert!(*random > 10.0 * sequential, "{means:?}");
    assert!(*focused < 3.0 * sequential && *partitioned < 1.5 * sequential, "{means:?}");
    assert!(*ordered > 1.2 * sequential && ordered < random, "{means:?}");
}

#[test]
fn a_sweep_of_writes_tells_what_the_drive_did() {
    let place = Place::new();
    let cells = |target: &str, options: &str| {
        let options = "--time-per-run 4s --queue-depths 8 --patterns sequential,random ".to_owned() + options;
        place.nandle(&format!("sweep {target} {options} --json")).done().json()["cells"].clone()
    };
    let writes = cells("model:mtron-16", "--block-sizes 4KiB --operation write");
    let amplification = |cell: &serde_json::Value| cell["drive"]["write_amplification"].as_f64().unwrap();
    let (sequential, random) = (amplification(&writes[0]), amplification(&writes[1]));
    assert!((1.0..1.5).contains(&sequential) && random > 20.0, "{sequential} {random}");
    for cell in writes.as_array().unwrap() {
        let host_bytes = cell["drive"]["host_written_bytes"].as_u64().unwrap();
        let told = cell["bytes"].as_u64().unwrap();
        // The last requests completed after the run's end.
        assert!((told..told + (1 << 20)).contains(&host_bytes), "{host_bytes} {told}");
    }
    let mirrored = cells("raid10:64KiB:model:mtron-16*2", "--block-sizes 4KiB --operation write");
    let host_bytes = mirrored[0]["drive"]["host_written_bytes"].as_u64().unwrap();
    assert!(host_bytes >= 2 * mirrored[0]["bytes"].as_u64().unwrap(), "both legs count");
    assert!(cells("model:mtron-16", "--block-sizes 4KiB")[0]["drive"].is_null(), "nothing was written");
    let disk = cells("model:wd2003fyys", "--block-sizes 4KiB --operation write");
    assert!(disk[0]["drive"].is_null(), "a disk counts nothing of the kind");
}

#[test]
fn arrays_of_models_are_swept_in_one_world() {
    let place = Place::new();
    let options = "--time-per-run 200ms --block-sizes 256KiB --queue-depths 16 --patterns random";
    let alone = means(&place, "model:x25-m-g2", options);
    let four = means(&place, "raid0:64KiB:model:x25-m-g2*4", options);
    assert!(four[0].1 < alone[0].1 / 3.0, "{alone:?} {four:?}");
}

#[test]
fn the_host_limits_a_fast_drive() {
    let place = Place::new();
    let options = "--time-per-run 20ms --block-sizes 4KiB --queue-depths 256 --patterns random --json";
    let iops = |cpu: &str| {
        let sweep = format!("sweep model:nvme-plp {options} --request-cpu {cpu}");
        place.nandle(&sweep).done().json()["cells"][0]["iops"].as_f64().unwrap()
    };
    let (free, default, slow) = (iops("0us"), iops("2us"), iops("10us"));
    assert!((0.9e6..1.2e6).contains(&free), "a million of the drive's own: {free}");
    assert!((0.45e6..0.55e6).contains(&default) && (0.09e6..0.11e6).contains(&slow), "{default} {slow}");
}

#[test]
fn what_models_have_not_is_refused() {
    let place = Place::new();
    place
        .nandle(&format!("sweep model:x25-m-g2 {NO_WORLD} --threads 2"))
        .refused(2, &["model:x25-m-g2", "--threads 2", "--queue-depths"]);
    place
        .nandle(&format!("sweep . {NO_WORLD} --request-cpu 1us"))
        .refused(2, &[".: ", "--request-cpu", "modelled"]);
    place.nandle("probe model:x25-m-g2 --io threads").refused(2, &["model:x25-m-g2", "--io"]);
    place
        .nandle("probe model:x25-m-g3")
        .refused(2, &["x25-m-g3", "did you mean \"x25-m-g2\"", "nandle models"]);
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn the_list_names_every_model_and_what_it_was_scaled_from() {
    let place = Place::new();
    let text = place.nandle("models").done().fits_80_columns().stdout;
    assert_eq!(text, place.nandle("models list").done().stdout);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let list = place.nandle("models --json").done().json();
    let models = list["models"].as_array().unwrap();
    assert!(models.len() >= 18);
    for model in models {
        let (name, description) = (model["name"].as_str().unwrap(), model["description"].as_str().unwrap());
        assert!(text.contains(name) && text.contains(description), "{name}");
        let scaled = model["scaled_from_bytes"].as_u64();
        assert!(scaled.is_none_or(|_| description.contains("modelled with")), "{description}");
    }
    let array = place.nandle("models show regola-raid10 --json").done().json();
    assert_eq!(array["drives"].as_array().unwrap().len(), 10);
    let shown = place.nandle("models show x25-m-g2").done().stdout;
    assert!(shown.contains("74.53GiB") && shown.contains("models export x25-m-g2"), "{shown}");
    place.nandle("models show x25").refused(2, &["\"x25\"", "did you mean"]);
}

#[test]
fn an_exported_model_is_ones_own() {
    let place = Place::new();
    let text = place.nandle("models export x25-m-g2").done().stdout;
    fs::write(place.path("slow.toml"), text.replace("read_ns = 50_000", "read_ns = 680_000")).unwrap();
    let options = format!("{NO_WORLD} --patterns random");
    let (own, library) =
        (means(&place, "model:slow.toml", &options), means(&place, "model:x25-m-g2", &options));
    assert!(own[0].1 > library[0].1 + 500_000.0, "{own:?} {library:?}");
    let outcome = place.nandle(&format!("sweep model:slow.toml {options} --json")).done();
    let named = outcome.json()["target"].as_str().unwrap().to_owned();
    assert!(named.starts_with("model:/") && named.ends_with("/slow.toml"), "{named}");
    fs::write(place.path("wrong.toml"), text.replace("channels = 10 ", "channels = 1000 ")).unwrap();
    place.nandle("probe model:wrong.toml").refused(
        2,
        &["wrong.toml", "chips.channels is 1000", "between 1 and 256", "nearest right value is 256"],
    );
}

#[test]
fn what_is_wrong_with_ones_own_model_names_its_file_once() {
    let place = Place::new();
    let text = place.nandle("models export x25-m-g2").done().stdout;
    place.write("range.toml", text.replace("channels = 10 ", "channels = 1000 "));
    place.write("syntax.toml", text.replace("channels = 10 ", "channels = ten "));
    place.write("kind.toml", text.replace("kind = \"flash\"", "kind = \"clay\""));
    for name in ["range.toml", "syntax.toml", "kind.toml", "none.toml"] {
        for command in ["probe model:", "models show "] {
            let outcome = place.nandle(&format!("{command}{name}"));
            assert_eq!(outcome.code, Some(2), "{outcome:?}");
            assert_eq!(outcome.stderr.matches(name).count(), 1, "{}", outcome.stderr);
        }
    }
    let members = place.nandle("probe raid0:64KiB:model:range.toml,model:x25-m-g2");
    members.refused(2, &["range.toml: chips.channels is 1000"]);
}
