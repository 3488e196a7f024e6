//! Queries over files that the program itself has written.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nandle_reads::recording::Recording;

use crate::place::Place;

#[test]
fn files_are_tables_and_rows_are_written_in_every_format() {
    let place = Place::new();
    let query = "SELECT id, note FROM numbers WHERE id IN (7, 4999) ORDER BY id";
    let of = |format: &str| place.done(&["Numbers.parquet", "-c", query, "--format", format]);
    assert_eq!(of("csv"), "id,note\n7,note 7\n4999,note 4999\n");
    assert_eq!(of("json"), "{\"id\":7,\"note\":\"note 7\"}\n{\"id\":4999,\"note\":\"note 4999\"}\n");
    assert!(of("table").contains("| 4999 | note 4999 |"), "{}", of("table"));
    for format in ["arrow", "parquet"] {
        let written = place.run(&["Numbers.parquet", "-c", query, "--format", format]);
        assert!(written.status.success() && written.stdout.len() > 100, "{written:?}");
        std::fs::write(place.path("few.parquet"), written.stdout).unwrap();
    }
    let sum = "SELECT sum(id) AS sum FROM few; SELECT count(*) AS n FROM x";
    std::fs::write(place.path("both.sql"), sum).unwrap();
    let rows = place.done(&["few.parquet", "x=*umbers.parquet", "-f", "both.sql", "--format", "csv"]);
    assert_eq!(rows, "sum\n5006\nn\n5000\n");
    for format in ["arrow", "parquet"] {
        let said = place.refused(2, &["few.parquet", "-c", "SELECT 1; SELECT 2", "--format", format]);
        assert!(said.contains("2 queries"), "{said}");
    }
    let none =
        place.done(&["Numbers.parquet", "-c", "SELECT note FROM numbers WHERE id < 0", "--format", "csv"]);
    assert_eq!(none, "note\n");
}

#[test]
fn what_a_format_has_no_form_for_is_said_before_anything_is_written() {
    let place = Place::new();
    for (query, column) in [
        ("SELECT id, INTERVAL '1 day' AS delay FROM numbers", "`delay`"),
        ("SELECT named_struct('id', id, 'delay', INTERVAL '1 day') AS late FROM numbers", "`late`"),
    ] {
        let refused = place.run(&["Numbers.parquet", "-c", query, "--format", "parquet"]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && refused.stdout.is_empty(), "{query}: {said}");
        assert!(said.contains(column) && said.contains("Interval") && said.contains("CAST"), "{said}");
    }
    let keys = "SELECT map(make_array(7), make_array(make_array(id))) AS m FROM numbers WHERE id = 9";
    assert_eq!(place.done(&["Numbers.parquet", "-c", keys, "--format", "json"]), "{\"m\":{\"7\":[9]}}\n");
}

#[test]
fn statements_come_from_standard_input() {
    let place = Place::new();
    let mut command = place.command(&["Numbers.parquet", "--format", "csv"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"SELECT max(id) AS most\nFROM numbers; SELECT 2 AS two").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "most\n5000\ntwo\n2\n");
}

#[test]
fn what_it_takes_is_said() {
    let place = Place::new();
    let query =
        "SET nandle.reads = 'whole-group'; EXPLAIN ANALYZE SELECT max(note) FROM numbers WHERE id > 0";
    let output = place.run(&["Numbers.parquet", "-c", query]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("The query took ").count(), 1, "{said}");
    let explained = String::from_utf8(output.stdout).unwrap();
    for part in ["reads=whole-group", "row_groups=1 of 1", "unplanned=0", "device="] {
        assert!(explained.contains(part), "{part:?} is missing in {explained}");
    }
    assert!(explained.starts_with("Plan with Metrics\n") && !explained.contains('|'), "{explained}");
}

#[test]
fn what_can_not_be_is_refused() {
    let place = Place::new();
    assert!(place.refused(2, &["nowhere.parquet", "-c", "SELECT 1"]).contains("nowhere.parquet"));
    let twice = ["Numbers.parquet", "numbers=Numbers.parquet", "-c", "SELECT 1"];
    assert!(place.refused(2, &twice).contains("OTHER=Numbers.parquet"));
    assert!(place.refused(1, &["-c", "SELECT 1; SELEC 2"]).contains("SELEC"));
    assert!(place.refused(1, &["Numbers.parquet", "-c", "SELECT nothing FROM numbers"]).contains("nothing"));
    let table = place.refused(1, &["Numbers.parquet", "-c", "SELECT id\n FROM number"]);
    assert!(table.contains("did you mean `numbers`?") && table.contains("(line 2, column 7)"), "{table}");
    assert!(place.refused(2, &["-c", "COPY (SELECT 1) TO 'x.parquet'"]).contains("COPY"));
    std::fs::write(place.path("text.parquet"), "no Parquet").unwrap();
    assert!(place.refused(1, &["text.parquet", "-c", "SELECT 1"]).contains("text.parquet"));
}

#[test]
fn an_interruption_ends_the_query_and_leaves_nothing() {
    let place = Place::new();
    let endless = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1";
    let mut command = place.command(&["Numbers.parquet", "-c", endless]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The spill directory exists before the query runs.
    let is_running = || {
        let names = std::fs::read_dir(place.root()).unwrap().map(|entry| entry.unwrap().file_name());
        names.into_iter().any(|name| name.to_string_lossy().starts_with("nandle-sql-"))
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_running() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(!is_running(), "the directory for temporary files is gone");
}

#[test]
fn a_long_table_is_written_as_its_rows_come() {
    let place = Place::new();
    let endless = "SELECT a.id + b.id + c.id AS sum FROM numbers a, numbers b, numbers c";
    let mut command = place.command(&["Numbers.parquet", "-c", endless]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = vec![0; 1 << 16];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let first = String::from_utf8(first).unwrap();
    assert!(first.starts_with("+-") && first.contains("| sum"), "{}", &first[..100]);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(130) && said.contains(" rows were written"), "{said}");
}

#[test]
fn what_a_killed_query_leaves_goes_with_the_next_start() {
    let place = Place::new();
    let endless = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1";
    let mut child = place.command(&["Numbers.parquet", "-c", endless]).stdout(Stdio::null()).spawn().unwrap();
    let left = || {
        let paths = std::fs::read_dir(place.root()).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.join("LOCK").exists()).count()
    };
    let deadline = Instant::now() + Duration::from_mins(1);
    while left() == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(left(), 1);
    place.done(&["-c", "SELECT 1"]);
    assert_eq!(left(), 0);
}

#[test]
fn what_statements_need_is_recorded() {
    let place = Place::new();
    let text = "SET nandle.reads = 'fixed-block'; SELECT count(*), sum(id) FROM numbers; SELECT max(id) FROM numbers; \
                SELECT a.id FROM numbers a, numbers b WHERE a.id = b.id AND b.note = 'note 7'";
    let record = ["Numbers.parquet", "-c", text, "--record", "day.needs.zst", "--format", "csv"];
    place.done(&record);
    let recording = Recording::read(&place.path("day.needs.zst")).unwrap();
    let bytes = std::fs::metadata(place.path("Numbers.parquet")).unwrap().len();
    let files: Vec<_> =
        recording.files.iter().map(|file| (file.name.as_deref().unwrap(), file.length_bytes)).collect();
    assert_eq!(files, [("Numbers.parquet", bytes)], "a file is named once");
    let [all, some] = &*recording.queries else { panic!("{:?}", recording.queries) };
    assert_eq!(all.text.as_deref(), Some("SELECT count(*), sum(id) FROM numbers"));
    assert_eq!((all.totals.result_rows, some.totals.result_rows), (1, 1));
    for query in [all, some] {
        assert!(query.cpu_ns() > 0 && query.bytes_wanted() > 0, "{query:?}");
        assert_eq!(query.wants.iter().filter(|want| want.step == 0).count(), 0, "planning needs nothing");
    }
    assert!(some.bytes_wanted() > all.bytes_wanted(), "it reads the file twice, and more columns of it");
    place.done(&[&record[..], &["--anonymous"]].concat());
    let anonymous = Recording::read(&place.path("day.needs.zst")).unwrap();
    assert!(anonymous.files.iter().all(|file| file.name.is_none()));
    assert!(anonymous.queries.iter().all(|query| query.text.is_none()));
    assert!(
        place
            .refused(2, &["Numbers.parquet", "-c", "SELECT 1", "--record", "disk.json"])
            .contains("disk.json")
    );
}

#[test]
fn what_was_done_before_a_failure_is_recorded() {
    let place = Place::new();
    let text = "SELECT sum(id) FROM numbers; SELECT max(id) FROM numbers WHERE note > 'note 5'; SELECT nothing FROM numbers";
    let said = place.refused(1, &["Numbers.parquet", "-c", text, "--record", "day.needs.zst"]);
    assert!(said.contains("nothing") && said.contains("day.needs.zst has the 2 statements"), "{said}");
    assert_eq!(Recording::read(&place.path("day.needs.zst")).unwrap().queries.len(), 2);
    let said = place
        .refused(1, &["Numbers.parquet", "-c", "SELECT nothing FROM numbers", "--record", "none.needs.zst"]);
    assert!(said.contains("No statement was recorded") && !place.path("none.needs.zst").exists(), "{said}");
    let endless = "SELECT sum(id) FROM numbers; SELECT a.id FROM numbers a, numbers b, numbers c";
    let mut command = place.command(&["Numbers.parquet", "-c", endless, "--record", "cut.needs.zst"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The second statement prints rows once the first is done.
    child.stdout.as_mut().unwrap().read_exact(&mut vec![0; 1 << 16]).unwrap();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(130) && said.contains("the one statement"), "{said}");
    assert_eq!(Recording::read(&place.path("cut.needs.zst")).unwrap().queries.len(), 1);
}
