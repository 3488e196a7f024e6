//! Python's psycopg, over files written by pyarrow.

use super::server::{Server, python};
use crate::place::Place;

#[track_caller]
fn run(server: &Server, name: &str) {
    let port = server.port.to_string();
    if let Some(output) = python(&[name, &port]) {
        assert!(output.status.success(), "{name}: {output:?}");
    }
}

#[test]
fn values_of_all_types_come_as_they_are_and_statements_are_prepared() {
    let place = Place::new();
    let file = place.path("types.parquet");
    let Some(written) = python(&["write", file.to_str().unwrap()]) else { return };
    assert!(written.status.success(), "{written:?}");
    let server = Server::start(&place, &["types.parquet"]);
    for part in ["types", "prepared", "cursors", "transactions", "errors", "cancel", "together"] {
        run(&server, part);
    }
}

#[test]
fn a_queue_that_is_full_says_so() {
    let place = Place::new();
    let server = Server::start(&place, &["--queries", "1", "--time-limit", "10m"]);
    run(&server, "queue");
}
