//! End of queries and of the server.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::server::{PATIENCE, Server, ask, is_skipped, kill, read_message};
use crate::place::Place;

/// A query that ends only by the means tested here.
const ENDLESS: &str = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.id + b.id + c.id = 1";
const ONE_AT_A_TIME: [&str; 4] = ["--queries", "1", "--time-limit", "600s"];

/// Waits until a query uses the processor.
fn wait_until_busy(server: &Server) {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        fields.split(' ').nth(12).unwrap().parse::<u64>().unwrap()
    };
    let (before, begun) = (ticks(), Instant::now());
    // A tick is 10 ms.
    while ticks() < before + 30 && begun.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interruption_in_psql_cancels_the_query() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &ONE_AT_A_TIME);
    let mut psql = server.psql(&["-c", ENDLESS]);
    let child = psql.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_busy(&server);
    kill("INT", child.id());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("canceling statement due to user request"), "{said}");
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000", "its place is free");
}

#[test]
fn a_client_that_goes_away_ends_its_query() {
    if is_skipped() {
        return;
    }
    let place = Place::new();
    let server = Server::start(&place, &ONE_AT_A_TIME);
    let mut child =
        server.psql(&["-c", ENDLESS]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until_busy(&server);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(server.rows("SELECT count(*) FROM numbers"), "5000");
}

#[test]
fn signals_end_the_server_while_queries_run() {
    for signal in ["INT", "TERM"] {
        let place = Place::new();
        let server = Server::start(&place, &[]);
        let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
        for client in &mut clients {
            ask(client, ENDLESS);
        }
        wait_until_busy(&server);
        let (code, _took) = server.end(signal);
        assert_eq!(code, Some(0));
        for client in &mut clients {
            let mut rest = Vec::new();
            // Ends with a last message or a reset.
            let _ = client.read_to_end(&mut rest);
        }
        let left = std::fs::read_dir(place.root()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("nandle-sql-")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let address = format!("127.0.0.1:{}", server.port);
    let output = place.command_of("serve", &["--pg", &address]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains(&address) && said.contains("--pg 127.0.0.1:0"), "{said}");
}

#[test]
fn other_machines_are_not_served() {
    let place = Place::new();
    let output = place.command_of("serve", &["--pg", "0.0.0.0:0"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("ssh -L"), "{said}");
}

#[test]
fn what_is_no_client_does_no_harm() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    for bytes in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0xff; 64], &[0; 64], &[0, 0, 0, 8, 4, 210, 22, 47]] {
        use std::io::Write as _;
        let mut socket = std::net::TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        let _ = socket.write_all(bytes);
    }
    let mut client = server.connect();
    ask(&mut client, "SELECT 1");
    assert_eq!(read_message(&mut client).unwrap().0, b'T');
    let help = Command::new(env!("CARGO_BIN_EXE_nandle-sql")).args(["serve", "--help"]).output().unwrap();
    assert!(help.status.success());
}
