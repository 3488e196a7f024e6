//! Limits on time, queries and memory.

use std::io::{BufReader, Read as _, Write as _};
use std::time::{Duration, Instant};

use super::server::{PATIENCE, Server, answer, ask, is_skipped, prepare, read_message};
use crate::place::Place;

const ENDLESS: &str = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1";
/// 25 million rows of 1 kB.
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
        // Its own time may run out while it waits.
        if answer(&mut other) == Ok(1) {
            break;
        }
        assert!(begun.elapsed() < PATIENCE);
    }
}

#[test]
fn clients_that_read_by_cursors_do_not_wait_for_one_another() {
    let place = Place::new();
    let server = Server::start(&place, &["--queries", "2", "--time-limit", "30s"]);
    let mut clients = [server.connect(), server.connect()];
    for client in &mut clients {
        ask(client, "BEGIN; DECLARE c CURSOR FOR SELECT id FROM numbers; FETCH 3 FROM c");
        assert_eq!(answer(client), Ok(3));
    }
    for client in &mut clients {
        ask(client, "SELECT count(*) FROM numbers");
        assert_eq!(answer(client), Ok(1), "within its own place");
    }
    let [client, _] = &mut clients;
    for number in 1..16 {
        ask(client, &format!("DECLARE c{number} CURSOR FOR SELECT id FROM numbers"));
        assert_eq!(answer(client), Ok(0), "{number}");
    }
    ask(client, "DECLARE d CURSOR FOR SELECT id FROM numbers");
    assert_eq!(answer(client), Err("54000".to_owned()));
}

#[test]
fn texts_and_prepared_statements_are_bounded() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut client = server.connect();
    let long = format!("SELECT {}1", "1,".repeat(1 << 20));
    ask(&mut client, &long);
    assert_eq!(answer(&mut client), Err("54000".to_owned()));
    prepare(&mut client, "", &long);
    assert_eq!(answer(&mut client), Err("54000".to_owned()));
    let bytes = server.resident_bytes();
    assert!(bytes < 400 << 20, "{bytes}");
    for number in 0..1024 {
        prepare(&mut client, &format!("s{number}"), "SELECT 1");
        assert_eq!(answer(&mut client), Ok(0));
    }
    prepare(&mut client, "another", "SELECT 1");
    assert_eq!(answer(&mut client), Err("54000".to_owned()));
    for statement in ["DEALLOCATE s7", "DEALLOCATE ALL", "DISCARD ALL"] {
        ask(&mut client, statement);
        assert_eq!(answer(&mut client), Ok(0));
        prepare(&mut client, "another", "SELECT 1");
        assert_eq!(answer(&mut client), Ok(0), "{statement}");
    }
}

#[test]
fn a_message_that_is_too_long_is_not_waited_for() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut client = server.connect();
    client.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let length = (1_u32 << 29).to_be_bytes();
    client.write_all(&[b"Q", &length[..], b"SELECT 1"].concat()).unwrap();
    let (letter, body) = read_message(&mut client).unwrap();
    assert!(letter == b'E' && String::from_utf8_lossy(&body).contains("54000"), "{body:?}");
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).unwrap();
}

#[test]
fn a_list_as_long_as_a_text_may_be_takes_bounded_memory() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let mut client = server.connect();
    ask(&mut client, &format!("SELECT {}1", "1,".repeat((1 << 19) - 8)));
    assert!(answer(&mut client).is_err());
    let bytes = server.resident_bytes();
    assert!(bytes < 512 << 20, "{bytes}");
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
    // Unbounded buffering would reach gigabytes by now.
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
