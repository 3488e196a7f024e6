//! EXPLAIN output of scans before and after they run.

use crate::support::{Place, answer, figures, plan, set_reads};

#[test]
fn what_is_predicted_is_what_is_read() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    for way in ["flexible", "fixed-block", "whole-group", "one-by-one:3"] {
        set_reads(&engine, way);
        let query = "SELECT sum(amount), max(note) FROM rows WHERE id BETWEEN 300 AND 21000";
        let before = plan(&engine, &format!("EXPLAIN FORMAT INDENT {query}"));
        let after = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
        assert_eq!(figures(&before, "reads"), [way], "{before}");
        let requests = figures(&before, "requests");
        assert!(requests[0].parse::<u64>().unwrap() > 3, "{before}");
        assert_eq!(figures(&after, "requests"), [requests[0], requests[0]], "{after}");
        let row_groups = figures(&before, "row_groups");
        // The last file has no statistics, so its two row groups can't be pruned.
        assert_eq!(row_groups, ["9 of 10"], "{before}");
        for figure in ["read", "wanted", "depth", "memory", "device", "processor"] {
            assert_eq!(figures(&before, figure).len(), 1, "{figure}: {before}");
        }
    }
    set_reads(&engine, "engine");
    let before = plan(&engine, "EXPLAIN FORMAT INDENT SELECT sum(amount) FROM rows");
    assert!(before.contains("DataSourceExec") && !before.contains("reads="), "{before}");
}

#[test]
fn a_setting_of_ours_is_shown_by_its_name() {
    let place = Place::new();
    let engine = place.engine(&[]);
    set_reads(&engine, "one-by-one:3");
    assert_eq!(answer(&engine, "SHOW nandle.reads").unwrap(), [r#"{"name":"reads","value":"one-by-one:3"}"#]);
    assert!(answer(&engine, "SHOW nandle.writes").is_err());
}

#[test]
fn trees_say_it_too() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let tree = plan(&engine, "EXPLAIN FORMAT TREE SELECT sum(amount) FROM rows");
    assert!(tree.contains("reads") && tree.contains("flexible") && tree.contains("device"), "{tree}");
}

#[test]
fn pages_that_can_not_match_are_not_read() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let wanted = |filter: &str| {
        let plan = plan(&engine, &format!("EXPLAIN ANALYZE SELECT note FROM rows WHERE {filter}"));
        assert!(figures(&plan, "unplanned").iter().all(|count| *count == "0"), "{plan}");
        figures(&plan, "row_groups")[0].to_owned()
    };
    assert_eq!(wanted("id = 1250"), "3 of 10", "the fourth file has no statistics");
    assert_eq!(wanted("id < 3000"), "5 of 10");
}

/// Returns the summary of all scans after the plan.
fn together(explained: &str) -> &str {
    let (_, said) = explained.split_once("rows: ").unwrap();
    said
}

#[test]
fn a_query_has_a_time_where_only_scans_matter() {
    let place = Place::with_files();
    let engine = place.engine(&["rows"]);
    let explain = |query: &str| plan(&engine, &format!("EXPLAIN FORMAT INDENT {query}"));
    for query in ["SELECT id, note FROM rows WHERE amount > 3", "SELECT max(note), sum(id) FROM rows LIMIT 5"]
    {
        let before = explain(query);
        assert!(together(&before).contains("only scans matter"), "{before}");
    }
    for (query, others) in [
        ("SELECT id FROM rows WHERE note LIKE '%1%'", ": LIKE."),
        ("SELECT id FROM rows WHERE note ~ '1.*[23]$'", ": ~."),
        ("SELECT upper(note), substr(note, 3) FROM rows", ": substr(), upper()."),
    ] {
        let before = explain(query);
        assert!(together(&before).contains(others), "{others} {before}");
    }
    let joined =
        explain("SELECT a.airport, count(*) FROM rows a JOIN rows b ON a.id = b.id GROUP BY 1 ORDER BY 2");
    for part in ["more than scans matters", "HashJoinExec", "AggregateExec", "SortExec", "all scans: "] {
        assert!(together(&joined).contains(part), "{part}: {joined}");
    }
    let after = plan(&engine, "EXPLAIN ANALYZE SELECT max(note) FROM rows");
    let requests = figures(&after, "requests")[0];
    let said = together(&after);
    assert!(said.starts_with(&format!("{requests} requests (predicted {requests})")), "{after}");
    assert!(said.contains("only scans matter") && said.contains(", 0 unplanned"), "{after}");
    for time in ["device_time", "processor_time"] {
        assert!(!["", "1ns"].contains(&figures(&after, time)[0]), "{time}: {after}");
    }
    assert!(!plan(&engine, "EXPLAIN FORMAT INDENT SELECT 1").contains("scans"));
}
