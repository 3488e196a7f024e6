use serde_json::Value;

use crate::common::Place;

/// The device type follows from the figures alone, not from names or system flags.
#[test]
fn modelled_devices_are_known_by_their_figures() {
    for (model, class) in [
        ("barracuda-7200.10", "spinning_disk"),
        ("x25-m-g2", "sata_flash"),
        ("sd-card", "serial_flash"),
        ("nvme-tlc", "nvme_flash"),
    ] {
        let place = Place::new();
        place.nandle(&format!("probe model:{model}")).done();
        let answer = place.nandle("advise profile.json --json").done().json();
        let verdict = &answer["verdict"];
        assert_eq!(verdict["kind"]["class"], class, "{model}: {verdict}");
        let risks = verdict["risks"].as_array().unwrap();
        assert!(
            risks.iter().any(|risk| risk["title"] == "Sustained writes weren't measured"),
            "{model}: {risks:?}"
        );
        let figures = verdict["figures"].as_array().unwrap();
        assert_eq!(figures.len(), 10);
        let row = |load: &str| figures.iter().find(|row| row["load"] == load).unwrap();
        assert!(row("commit")["alone"]["p50_ns"].as_u64() > Some(0), "{model}: {figures:?}");
        assert!(row("mixed")["most"]["rate_per_s"]["value"].as_f64() > Some(0.0), "{model}: {figures:?}");
    }
}

#[test]
fn the_verdict_comes_first_and_says_what_was_not_measured() {
    let place = Place::new();
    let probed = place.nandle("probe model:x25-e-64 --budget 20s").done().fits_80_columns();
    let parts = [
        "As measured: a SATA-class flash drive.",
        "Strengths\n+ ",
        "Risks\n- ",
        "To change\n> ",
        "Figures (",
        "not measured; --budget 5m measures it\n",
        "\n random reads ",
        "Not measured",
    ];
    let places: Vec<_> =
        parts.map(|part| probed.stdout.find(part).unwrap_or_else(|| panic!("{part}: {probed:?}"))).into();
    assert!(places.is_sorted(), "{places:?} of {}", probed.stdout);
    let told = place.nandle("advise profile.json").done().fits_80_columns();
    let (_, of_probe) = probed.stdout.split_once("As measured").unwrap();
    let (_, of_advice) = told.stdout.split_once("As measured").unwrap();
    assert!(of_probe.starts_with(of_advice.trim_end()), "the same verdict: {of_advice}");
}

#[test]
fn a_narrow_terminal_has_narrow_lines() {
    let place = Place::new();
    place.nandle("probe model:x25-e-64 --budget 20s").done();
    let mut command = place.command("advise profile.json");
    let output = command.env("COLUMNS", "50").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
    let page = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("random reads, 8KiB: p50 "), "rows are paragraphs: {page}");
}

#[test]
fn options_of_settings_need_a_product() {
    let place = Place::new();
    place.nandle("probe model:x25-e-64 --budget 5s").done();
    place.nandle("advise profile.json --memory 1GiB").refused(2, &["--for"]);
    let verdict: Value = place.nandle("advise profile.json --json").done().json();
    assert_eq!(verdict["schema_version"], 1);
}
