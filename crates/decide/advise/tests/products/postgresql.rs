use std::fs;

use nandle_advise::Product;
use nandle_advise::settings::Version;

use crate::programs::{as_user, find, run};
use crate::{fragments, with_shown};

const SKIP: &str = "NANDLE_SKIP_POSTGRESQL";

/// The server reads each fragment and prints the resulting settings.
#[test]
fn server_accepts_every_line() {
    let (Some(initdb), Some(postgres)) =
        (find("initdb", "postgresql", SKIP), find("postgres", "postgresql", SKIP))
    else {
        return;
    };
    let home = tempfile::tempdir_in("/tmp").unwrap();
    if rustix::process::geteuid().is_root() {
        run(std::process::Command::new("chown").arg("postgres:").arg(home.path()));
    }
    let data = home.path().join("data");
    run(as_user("postgres", &initdb).arg("--auth=trust").arg("--no-sync").arg("--pgdata").arg(&data));
    let said = run(std::process::Command::new(&postgres).arg("--version"));
    let version: Version = said.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    for fragment in fragments(Product::Postgresql, version) {
        let fragment = with_shown(&fragment);
        fs::write(data.join("postgresql.auto.conf"), &fragment).unwrap();
        let settings = set_lines(&fragment);
        assert!(settings.len() >= 4, "{fragment}");
        for (name, value) in settings {
            let shown = run(as_user("postgres", &postgres).arg("-D").arg(&data).arg("-C").arg(name));
            assert!(equal(&value, shown.trim()), "{name} = {value} became {shown:?}");
        }
    }
}

/// Lines that set a value.
fn set_lines(fragment: &str) -> Vec<(&str, String)> {
    let lines = fragment.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(" = ")).map(|(name, value)| (name, value.into())).collect()
}

/// `-C` prints numbers in the setting's base unit: kB, pages of 8 kB, MB, or seconds.
fn equal(wrote: &str, shown: &str) -> bool {
    let in_kilobytes = |text: &str| match (text.strip_suffix("MB"), text.strip_suffix("kB")) {
        (Some(megabytes), _) => megabytes.parse().ok().map(|megabytes: u64| megabytes * 1024),
        (None, None) => {
            let gigabytes: Option<u64> = text.strip_suffix("GB").and_then(|gigabytes| gigabytes.parse().ok());
            gigabytes.map(|gigabytes| gigabytes << 20)
        }
        (_, Some(kilobytes)) => kilobytes.parse().ok(),
    };
    if let Some(minutes) = wrote.strip_suffix("min").and_then(|minutes| minutes.parse::<u64>().ok()) {
        return shown == (minutes * 60).to_string();
    }
    let (wrote_kb, number) = (in_kilobytes(wrote), shown.parse::<f64>().ok());
    match (wrote_kb.or_else(|| in_kilobytes(shown).and(wrote_kb)), number, wrote.parse::<f64>().ok()) {
        (Some(kilobytes), Some(shown), _) => {
            [kilobytes as f64, kilobytes as f64 / 8.0, kilobytes as f64 / 1024.0]
                .iter()
                .any(|wanted| (wanted - shown).abs() < 0.5)
        }
        (_, Some(shown), Some(wrote)) => (shown - wrote).abs() < 1e-9,
        _ => in_kilobytes(shown).is_some_and(|shown| Some(shown) == wrote_kb) || wrote == shown,
    }
}

/// Versions that aren't installed: each has exactly the settings that its documentation lists.
#[test]
fn each_version_has_the_settings_of_its_documentation() {
    // Includes settings shown as comments.
    let names = |major| {
        let all = fragments(Product::Postgresql, Version::new(major, 0)).swap_remove(2);
        let lines = all.lines().map(|line| line.trim_start_matches("# "));
        let named = lines.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned());
        named
            .filter(|name| name.bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'_'))
            .collect::<Vec<_>>()
    };
    let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
    let (old, middle, new) = (names(15), names(17), names(18));
    assert!(!has(&old, "io_combine_limit") && !has(&old, "io_workers"));
    assert!(has(&middle, "io_combine_limit") && !has(&middle, "io_max_combine_limit"));
    assert!(has(&new, "io_max_combine_limit") && has(&new, "io_workers"));
    assert!(has(&new, "io_max_concurrency") && !has(&middle, "io_max_concurrency"));
    for name in
        ["effective_cache_size", "max_wal_size", "checkpoint_timeout", "wal_compression", "wal_buffers"]
    {
        assert!(has(&new, name) && has(&old, name), "{name}");
    }
    assert_eq!(new.len(), 21, "{new:?}");
    let newest = fragments(Product::Postgresql, Version::new(18, 0)).swap_remove(2);
    assert!(newest.contains("# io_method = worker"), "shown, not set: {newest}");
}
