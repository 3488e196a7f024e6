//! Choice of a store's policy: by replay and by prediction from a profile.

use serde_json::Value;

use crate::common::{Place, scattered_writes};

/// Experiments that the prediction needs.
const EXPERIMENTS: &str = "--only reads,flush,write-patterns,smallest-block --budget 4m --no-progress";
/// Bound on the chosen policy's time, relative to the fastest.
const LOSS_MAX: f64 = 1.5;

fn page_ns(replay: &Value, policy: &str) -> f64 {
    let all = replay["policies"].as_array().unwrap();
    let took = all.iter().find(|took| took["policy"] == policy).unwrap();
    took["elapsed_ns"].as_f64().unwrap() / took["writes"].as_f64().unwrap()
}

#[test]
fn what_a_profile_predicts_to_be_quickest_is_nearly_so() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(4000));
    for drive in ["model:mtron-16", "model:nvme-plp"] {
        place.nandle(&format!("probe {drive} {EXPERIMENTS} --profile p.json --json")).done();
        let replay = "--fill 90% --passes 4 --buffer 4MiB --profile p.json --no-verify --json";
        let told = place.nandle(&format!("replay a.csv --on {drive} {replay}")).done().json();
        let decision = &told["decision"];
        let predicted = decision["predicted"].as_array().unwrap();
        assert_eq!(predicted.len(), 6, "{decision}");
        let took = |policy: &Value| page_ns(&told, policy.as_str().unwrap());
        let (chosen, best) = (took(&predicted[0]["policy"]), took(&decision["policy"]));
        assert!(chosen <= LOSS_MAX * best, "{drive}: {chosen} ns and {best} ns, {decision}");
        std::fs::remove_file(place.path("report.html")).unwrap();
    }
}

#[test]
fn the_last_line_of_a_replay_says_which_policy_to_use() {
    let place = Place::new();
    place.write("a.csv", scattered_writes(600));
    let replay = "replay a.csv --on model:mtron-16 --policies direct,stable-ring,out-of-place";
    let told = place.nandle(replay).done().fits_80_columns().stdout;
    let (_, last) = told.rsplit_once("\nUse ").unwrap();
    let last = last.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(last.starts_with("stable-ring: a page of 4KiB takes "), "{last}");
    for part in
        ["times as fast as direct", "0 % of the store", "no syncs", "out-of-place (", "include cleaning"]
    {
        assert!(last.contains(part), "{part}: {last}");
    }
    let full = place.nandle(&format!("{replay} --fill 90% --passes 30 --json")).done().json();
    assert_eq!(full["decision"]["before_cleaning"], Value::Null, "{}", full["decision"]);
    assert_eq!(full["decision"]["policy"], "out-of-place", "{}", full["decision"]);
    let alone = place.nandle("replay a.csv --on model:mtron-16 --policies direct --json").done().json();
    assert_eq!(alone["decision"], Value::Null, "there is nothing to decide");
}

#[test]
fn advice_for_pages_says_what_each_policy_takes() {
    let place = Place::new();
    place.nandle(&format!("probe model:mtron-16 {EXPERIMENTS} --profile p.json --json")).done();
    let told = place.nandle("advise p.json --for pages").done().fits_80_columns().stdout;
    for part in [
        "\nUse out-of-place: it takes",
        "times as fast as direct",
        "90 % of the pages",
        "a random write of 4KiB",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json =
        place.nandle("advise p.json --for pages --fill 50% --batch 64 --page 8KiB --json").done().json();
    assert_eq!((&json["store"]["fill_percent"], &json["store"]["page_bytes"]), (&50.into(), &8192.into()));
    let policies = json["policies"].as_array().unwrap();
    assert_eq!(policies.len(), 6);
    place.nandle("advise p.json --for pages --page 64KiB").done();
    assert!(policies.is_sorted_by_key(|policy| policy["page_ns"].as_f64().unwrap()), "{json}");
    assert_eq!(json["best"], policies[0]["policy"]);
    place.nandle("advise p.json --for postgresql --fill 50%").refused(2, &["--fill", "--for pages"]);
    place.nandle("advise p.json --for pages --memory 1GiB").refused(2, &["--memory", "nandle replay"]);
    place.nandle("advise p.json --for pages --workload olap").refused(2, &["--workload", "nandle replay"]);
    place.nandle("advise p.json --fill 50%").refused(2, &["--for"]);
    place
        .nandle("probe model:mtron-16 --only reads --budget 1m --no-progress --profile reads.json --json")
        .done();
    place
        .nandle("advise reads.json --for pages")
        .refused(1, &["reads.json", "pages of 4KiB", "needs", "nandle probe"]);
    place.write("a.csv", scattered_writes(600));
    let replay = "replay a.csv --on model:mtron-16 --policies direct,stable-ring --profile reads.json --json";
    let json = place.nandle(replay).done().json();
    let remarks = json["remarks"].to_string();
    assert!(remarks.contains("reads.json lacks") && remarks.contains("nothing is predicted"), "{remarks}");
    assert_eq!(json["decision"]["predicted"], Value::Array(Vec::new()));
}
