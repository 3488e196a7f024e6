//! Ten-minute probes of a memory card, two solid-state drives and a disk: they reproduce the
//! findings of papers and data sheets, and the advice differs accordingly.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::Place;

/// Report of a model's probe, and settings for two databases: those set, and those only suggested.
struct Story {
    profile: Value,
    report: String,
    settings: BTreeSet<String>,
}

fn story(model: &str) -> Story {
    let place = Place::new();
    place.nandle(&format!("probe model:{model} --budget 10m")).done().fits_80_columns();
    let lines = |product: &str| -> Vec<String> {
        let fragment =
            place.nandle(&format!("advise profile.json --sessions 1 --for {product}")).done().stdout;
        let lines = fragment.lines().map(|line| line.strip_prefix("# ").unwrap_or(line));
        let is_setting =
            |line: &&str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains([' ', ':']));
        lines.filter(is_setting).map(str::to_owned).collect()
    };
    Story {
        profile: place.json("profile.json"),
        report: std::fs::read_to_string(place.path("report.html")).unwrap(),
        settings: [lines("postgresql"), lines("mysql")].concat().into_iter().collect(),
    }
}

impl Story {
    fn derived(&self, pointer: &str) -> f64 {
        let value = self.profile["derived"].pointer(pointer);
        value.and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {}", self.profile["derived"]))
    }

    fn setting(&self, name: &str) -> f64 {
        let line = self.settings.iter().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    fn is_whole(&self) -> bool {
        self.profile["partial"].as_array().unwrap().is_empty()
    }
}

#[test]
fn four_kinds_of_drives_tell_four_stories_and_get_advice_of_their_own() {
    let [card, old, fast, disk] = ["sd-card", "mtron-16", "x25-e-64", "barracuda-7200.10"].map(story);
    assert!([&card, &old, &fast, &disk].iter().all(|story| story.is_whole()), "each question has its answer");
    // uFLIP (table 3): random writes are expensive on mtron-16, and cheap within 8 MB; a card has
    // no such map.
    let random = |story: &Story| story.derived("/write_pattern_cost/random/value");
    assert!(random(&card) > random(&old) && random(&old) > 10.0, "{} {}", random(&card), random(&old));
    assert!((4e6..17e6).contains(&old.derived("/focused_area_bytes/value")));
    // StableBuffer and the data sheet: the X25-E takes random writes well until it cleans.
    assert!(
        fast.report.contains("when garbage collection began")
            && !disk.report.contains("when garbage collection began")
    );
    let steady = |story: &Story| story.derived("/steady_state/random_write_bytes_per_s/value");
    assert!(steady(&fast) > 10.0 * steady(&old) && steady(&old) > 10.0 * steady(&card));
    // At 7200 rpm half a turn takes 4.2 ms, preceded by a seek.
    assert!(disk.derived("/random_read_latency_ns") > 8e6 && fast.derived("/random_read_latency_ns") < 2e5);
    // Even a well-sorted queue gives hardly two reads per turn; the X25-E is specified for 35 000.
    let reads = |story: &Story| story.derived("/random_read_iops_max/value");
    assert!(
        reads(&disk) < 240.0 && (30e3..40e3).contains(&reads(&fast)),
        "{} {}",
        reads(&disk),
        reads(&fast)
    );
    assert!(disk.setting("random_page_cost") > 10.0 && fast.setting("random_page_cost") < 4.0);
    assert!(fast.setting("innodb_io_capacity_max") > 5.0 * disk.setting("innodb_io_capacity_max"));
    assert!(
        card.derived("/saturating_queue_depth/0/queue_depth/value") < 2.0,
        "a card does one thing at a time"
    );
    let different: BTreeSet<_> = [&card, &old, &fast, &disk].map(|story| story.settings.clone()).into();
    // Random writes on the card and the old drive are so slow that both get a server's minimum.
    assert!(different.len() >= 3, "{different:#?}");
}
