//! New snapshots appear by themselves.

use std::io::{BufRead as _, BufReader, Write as _};

use super::site::{Site, flights, load};

#[test]
fn a_new_snapshot_is_told_and_shown() {
    let site = Site::start(&[]);
    let mut socket = site.connect();
    socket.set_read_timeout(Some(std::time::Duration::from_mins(2))).unwrap();
    socket.write_all(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let mut lines = BufReader::new(socket).lines();
    let mut version =
        || lines.find_map(|line| line.unwrap().strip_prefix("data: ").map(str::to_owned)).unwrap();
    let first = version();
    let before = site.get("/api/v1/overview");
    let etag = before.header("etag").unwrap();
    assert_eq!((before.json()["version"].as_str(), &*first), (Some(&*first), "snapshot-2"));
    load(&site.table, &flights()[..1]);
    assert_eq!(version(), "snapshot-3");
    let after = site.get_with("/api/v1/overview", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!((after.status, after.json()["figures"]["flights"].as_u64()), (200, Some(150_000 + (1 << 16))));
}
