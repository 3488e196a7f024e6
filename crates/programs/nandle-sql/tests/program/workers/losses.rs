//! Workers killed or stopped while they compute: the query fails with an error that names them or
//! returns its full result, never a part.

use std::process::Stdio;
use std::time::Duration;

use crate::place::Place;

use super::data::place;
use super::fleet::{Worker, start, urls};

/// Takes seconds: it examines pairs of orders.
const LONG: &str =
    "SELECT count(*), sum(a.o_id) FROM orders a, orders b WHERE a.o_day < 200 AND (a.o_id * b.o_id) % 7 = 1";

/// Takes many times as long. It is finite, since a worker goes on with its part after the query has
/// failed.
const LONGER: &str = "SELECT count(*) FROM orders a, orders b, orders c WHERE c.o_id <= 20 AND (a.o_id * b.o_id + c.o_id) % 7 = 1";

fn query<'a>(workers: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    query_of(LONG, workers, more)
}

fn query_of<'a>(text: &'a str, workers: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let query = ["orders", "-c", text, "--format", "csv", "--workers", workers, "--distribute-above", "0ms"];
    [&query[..], more].concat()
}

/// Output and messages of a query during which `happens` runs after a delay.
fn run(place: &Place, arguments: &[&str], after: Duration, happens: impl FnOnce()) -> (bool, String, String) {
    let command = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(after);
    happens();
    let output = command.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_killed_worker_is_named_and_no_part_of_a_result_is_printed() {
    let place = place();
    let alone = place.done(&["orders", "-c", LONG, "--format", "csv"]);
    let rest = start(&place, &["orders"], 1);
    // Chosen to hit connecting, planning, computing and the end. The test passes on any machine,
    // whatever they hit.
    for after_ms in [30, 180, 420, 700, 1100, 1900] {
        let mut killed = Worker::start(&place, &["orders", "--threads", "1"]);
        let url = killed.url.clone();
        let workers = format!("{url},{}", urls(&rest));
        let happens = || killed.kill();
        let (done, rows, said) = run(&place, &query(&workers, &[]), Duration::from_millis(after_ms), happens);
        if done {
            assert_eq!(rows, alone, "after {after_ms} ms");
        } else {
            // After its last row, before its end, a query has all rows.
            assert!(rows.lines().count() <= 1 || rows == alone, "after {after_ms} ms: {rows}");
            assert!(said.contains(&url), "after {after_ms} ms: {said}");
        }
    }
}

#[test]
fn a_query_runs_again_on_those_that_are_left() {
    let place = place();
    let alone = place.done(&["orders", "-c", LONG, "--format", "csv"]);
    let mut workers = start(&place, &["orders"], 3);
    let urls = urls(&workers);
    let mut killed = workers.remove(1);
    let happens = || killed.kill();
    let (done, rows, said) = run(&place, &query(&urls, &["--retry"]), Duration::from_millis(900), happens);
    assert!(done && rows == alone, "{rows}{said}");
    let (_, rows, said) = run(&place, &query(&urls, &["--retry"]), Duration::ZERO, || ());
    assert!(rows == alone && said.contains(&killed.url), "who was gone before is named: {rows}{said}");
}

#[test]
fn a_worker_that_stands_still_is_named() {
    let place = place();
    let workers = start(&place, &["orders"], 2);
    let urls = urls(&workers);
    let happens = || workers[0].signal("STOP");
    let (done, rows, said) = run(&place, &query_of(LONGER, &urls, &[]), Duration::from_millis(900), happens);
    assert!(!done && rows.lines().count() <= 1, "{rows}");
    assert!(said.contains(&workers[0].url) && said.contains("no answer"), "{said}");
    let (done, rows, said) = run(&place, &query(&urls, &["--retry"]), Duration::ZERO, || ());
    assert!(done && said.contains(&workers[0].url), "{rows}{said}");
}

#[test]
fn a_worker_that_runs_out_of_memory_is_named() {
    let place = place();
    let small = ["orders", "--memory", "16MiB", "--spill-limit", "1KiB"];
    let workers = [Worker::start(&place, &small), Worker::start(&place, &small)];
    let wide = "SELECT count(*) FROM (SELECT DISTINCT a.o_id AS one, b.o_id AS two FROM orders a, orders b WHERE a.o_id < 400)";
    let urls = urls(&workers);
    let arguments = ["orders", "-c", wide, "--workers", &urls, "--distribute-above", "0ms"];
    let said = place.refused(1, &arguments);
    assert!(workers.iter().any(|worker| said.contains(&worker.url)), "{said}");
}
