//! Limits, and clients that disconnect, send slowly, or read nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::site::{IAH, Response, Site};

/// Sends a request without waiting for the response.
fn begin(site: &Site, path: &str) -> TcpStream {
    let mut socket = site.connect();
    let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    socket
}

#[test]
fn a_full_queue_says_when_to_come_again() {
    let site = Site::start(&["--queries", "1", "--time-limit", "10m"]);
    // One request per month, so that none shares a result.
    let paths = (0..140).map(|month| format!("{}-{:02}", 2000 + month / 12, month % 12 + 1));
    let sockets: Vec<TcpStream> =
        paths.map(|month| begin(&site, &format!("/api/v1/airports?from={month}&to={month}"))).collect();
    let responses: Vec<Response> = sockets.into_iter().map(Response::read).collect();
    let full: Vec<&Response> = responses.iter().filter(|response| response.status == 503).collect();
    assert!(!full.is_empty(), "of 140 questions at once, 65 have a place at most");
    for response in &full {
        assert_eq!(response.header("retry-after"), Some("2"));
        assert_eq!(response.json()["type"], "urn:nandle:problem:full");
    }
    assert!(responses.iter().filter(|response| response.status == 200).count() >= 65);
}

#[test]
fn a_question_has_its_time_and_no_more() {
    let site = Site::start(&["--time-limit", "1us"]);
    let response = site.get(&format!("/api/v1/airlines?{IAH}"));
    assert_eq!(
        (response.status, response.json()["type"].as_str()),
        (503, Some("urn:nandle:problem:time-limit"))
    );
}

#[test]
fn equal_questions_at_the_same_time_are_one_query() {
    let site = Site::start(&["--queries", "1"]);
    // Device figures are part of the response.
    site.measured();
    let path = format!("/api/v1/airlines?{IAH}");
    let sockets: Vec<TcpStream> = (0..80).map(|_| begin(&site, &path)).collect();
    let bodies: Vec<String> = sockets.into_iter().map(|socket| Response::read(socket).text()).collect();
    assert!(bodies[0].contains("\"queries\""), "{}", bodies[0]);
    // Includes the cost, which a second query wouldn't match to the nanosecond.
    assert!(bodies.iter().all(|body| *body == bodies[0]));
}

#[test]
fn clients_that_send_slowly_or_not_at_all_do_no_harm() {
    let site = Site::start(&[]);
    let begun = Instant::now();
    let mut slow = site.connect();
    slow.write_all(b"GET / HT").unwrap();
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest);
    let took = begun.elapsed();
    assert!(took < Duration::from_mins(1), "it was closed");
    for bytes in
        [&b""[..], b"\r\n\r\n", &[0xff; 64], &[0; 64], b"GET / HTTP/9.9\r\n\r\n", &vec![b'a'; 100_000]]
    {
        let mut socket = site.connect();
        let _ = socket.write_all(bytes);
    }
    let many = format!("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n", "X: y\r\n".repeat(10_000));
    assert!([400, 431].contains(&site.send(many.as_bytes()).status));
    let silent: Vec<TcpStream> =
        (0..50).map(|_| begin(&site, &format!("/api/v1/ranking?{IAH}&among=all"))).collect();
    assert_eq!(site.ask("overview")["flights"], 150_000);
    drop(silent);
}
