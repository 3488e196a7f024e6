//! Server with a table of generated flights, stopped with its test, and a client that sends exact
//! bytes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use nandle_columns::{Table, TableOptions};
use nandle_flights::{Generator, flight_schema};
use serde_json::Value;

use crate::place::{Place, said};

/// Selection used by the tests.
pub(super) const IAH: &str = "airport=IAH&from=2008-01&to=2008-12";

/// Timeout of a step, even with other tests running.
const PATIENCE: Duration = Duration::from_mins(2);

/// Generated flights, the same in every test.
pub(super) fn flights() -> &'static [RecordBatch] {
    static FLIGHTS: OnceLock<Vec<RecordBatch>> = OnceLock::new();
    FLIGHTS.get_or_init(|| {
        let generator = Generator::new(150_000, 7).unwrap();
        (0..generator.chunks()).map(|number| generator.chunk(number).unwrap()).collect()
    })
}

pub(super) fn add_table(directory: &Path) -> Table {
    static IDENTITY: AtomicU64 = AtomicU64::new(1);
    let identity = IDENTITY.fetch_add(1, Ordering::Relaxed);
    let table = Table::create(directory, &TableOptions::new(flight_schema(), identity)).unwrap();
    load(&table, flights());
    table
}

pub(super) fn load(table: &Table, batches: &[RecordBatch]) {
    let mut writer = table.load().unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.commit().unwrap();
}

pub(super) struct Site {
    child: Child,
    pub(super) port: u16,
    pub(super) place: Arc<Place>,
    pub(super) table: Arc<Table>,
}

/// An HTTP response.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    head: String,
    pub(super) body: Vec<u8>,
}

impl Site {
    /// Starts a server over a table.
    pub(super) fn start(arguments: &[&str]) -> Self {
        let place = Place::new();
        let table = add_table(&place.path("flights"));
        Self::of((place.into(), table.into()), "flights", arguments)
    }

    /// Starts another server over the same table.
    pub(super) fn beside(&self, arguments: &[&str]) -> Self {
        Self::of((Arc::clone(&self.place), Arc::clone(&self.table)), "flights", arguments)
    }

    /// Starts a server over a Parquet file with the rows of a query.
    pub(super) fn over(select: &str, arguments: &[&str]) -> Self {
        let place = Place::new();
        let table = add_table(&place.path("flights"));
        let written = place.run(&["flights", "-c", select, "--format", "parquet", "--memory", "256MiB"]);
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        std::fs::write(place.path("other.parquet"), written.stdout).unwrap();
        Self::of((place.into(), table.into()), "other.parquet", arguments)
    }

    fn of((place, table): (Arc<Place>, Arc<Table>), source: &str, arguments: &[&str]) -> Self {
        let all =
            [&[source, "--listen", "127.0.0.1:0", "--json", "--on", "model:wd2003fyys"], arguments].concat();
        let child = place.command_of("serve", &all).stdout(Stdio::piped()).spawn().unwrap();
        let mut site = Self { child, port: 0, place, table };
        let said = said(&mut site.child);
        let stated = all.iter().skip_while(|argument| **argument != "--memory").nth(1).unwrap_or(&"64MiB");
        assert_eq!(said["memory_bytes"], nandle_units::parse_bytes(stated).unwrap());
        let address = said["dashboard"].as_str().unwrap();
        let port = address.strip_prefix("http://127.0.0.1:").unwrap();
        site.port = port.trim_end_matches('/').parse().unwrap();
        site
    }

    pub(super) fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// Sends bytes and reads the response until the server closes the connection.
    pub(super) fn send(&self, request: &[u8]) -> Response {
        let mut socket = self.connect();
        // The server may refuse before it has read everything.
        let _ = socket.write_all(request);
        Response::read(socket)
    }

    pub(super) fn get_with(&self, path: &str, headers: &str) -> Response {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n{headers}\r\n",
            self.port
        );
        self.send(request.as_bytes())
    }

    pub(super) fn get(&self, path: &str) -> Response {
        self.get_with(path, "")
    }

    /// Waits until a condition holds.
    pub(super) fn until(&self, what: &str, mut has_happened: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !has_happened() {
            assert!(begun.elapsed() < PATIENCE, "waited until {what}, on port {}", self.port);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// State of the sums once their build has ended.
    pub(super) fn sums(&self) -> Value {
        let status = || self.get("/api/v1/sums").json();
        self.until("sums are made", || status()["state"] != "making");
        status()
    }

    /// Waits until other devices have figures.
    pub(super) fn measured(&self) {
        let states = || self.get("/api/v1/devices").json()["devices"].as_array().unwrap().clone();
        self.until("devices are measured", || states().iter().all(|device| device["state"] == "done"));
    }

    /// Figures of a response.
    #[track_caller]
    pub(super) fn ask(&self, question: &str) -> Value {
        let response = self.get(&format!("/api/v1/{question}"));
        assert_eq!(response.status, 200, "{question}: {}", response.text());
        response.json()["figures"].clone()
    }
}

impl Response {
    pub(super) fn read(mut socket: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A reset after the response ends it as well.
        let _ = socket.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
        let rest = bytes.get(end + 4..).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") { whole(rest) } else { rest.to_vec() };
        Self { status, head, body }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// Joins the chunks of a body.
fn whole(mut chunks: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = chunks.windows(2).position(|part| part == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&chunks[..end]).unwrap(), 16).unwrap();
        let start = end + 2;
        body.extend(&chunks[start..start + length]);
        chunks = &chunks[(start + length + 2).min(chunks.len())..];
    }
    body
}

impl Drop for Site {
    fn drop(&mut self) {
        // May have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
