//! Limits of time, of queries and of memory.

use std::io::BufReader;
use std::time::{Duration, Instant};

use super::server::{PATIENCE, Server, ask, is_skipped, read_message};
use crate::place::Place;

const ENDLESS: &str = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1";
/// 25 million rows of a kilobyte.
const MANY: &str = "SELECT a.id, repeat(b.note, 100) FROM numbers a, numbers b";

#[test]
fn a_query_has_its_time_and_no_more() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &["--queries", "1", "--time-limit", "500ms"]);
    let (code, said) = server.refused(ENDLESS);
    assert_eq!(code, "57014", "{said}");
    assert!(said.contains("--time-limit"), "{said}");
    let server = Server::start(&place, &[]);
    let (code, said) = server.refused(&format!("SET statement_timeout = '300ms'; {ENDLESS}"));
    assert_eq!(code, "57014", "{said}");
}

#[test]
fn a_client_that_reads_nothing_holds_its_query_no_longer_than_its_time() {
    let place = Place::new();
    let server = Server::start(&place, &["--queries", "1", "--time-limit", "1s"]);
    let mut silent = server.connect();
    ask(&mut silent, MANY);
    std::thread::sleep(Duration::from_millis(200));
    let mut other = server.connect();
    let begun = Instant::now();
    loop {
        ask(&mut other, "SELECT count(*) FROM numbers");
        // Its own time may be over while it waits.
        if answered(&mut other) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE);
    }
}

/// Whether a statement has rows, and not an error.
fn answered(socket: &mut std::net::TcpStream) -> bool {
    let mut has_rows = false;
    loop {
        match read_message(socket).unwrap().0 {
            b'D' => has_rows = true,
            b'Z' => return has_rows,
            _ => {}
        }
    }
}

#[test]
fn rows_stream_in_bounded_memory() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut silent = server.connect();
    ask(&mut silent, MANY);
    let mut reader = server.connect();
    ask(&mut reader, "SELECT a.id, b.note FROM numbers a, numbers b WHERE b.id <= 200");
    let (begun, mut reader) = (Instant::now(), BufReader::new(reader));
    let mut rows = 0;
    loop {
        match read_message(&mut reader).unwrap() {
            (b'D', _) => rows += 1,
            (b'C', tag) => {
                assert_eq!(tag, b"SELECT 1000000\0");
                break;
            }
            (b'T', _) => {}
            (letter, body) => panic!("{} {}", char::from(letter), String::from_utf8_lossy(&body)),
        }
    }
    assert_eq!(rows, 1_000_000);
    // What isn't read would fill gigabytes by now.
    std::thread::sleep(Duration::from_secs(5).saturating_sub(begun.elapsed()));
    let bytes = server.resident_bytes();
    assert!(bytes < 400 << 20, "{bytes}");
}

#[test]
fn memory_that_is_used_up_is_told_and_others_go_on() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &["--memory", "16MiB", "--queries", "2"]);
    let greedy = "SELECT cardinality(array_agg(b.note)) FROM numbers a, numbers b";
    let (code, said) = server.refused(greedy);
    assert_eq!(code, "53200", "{said}");
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000");
}
