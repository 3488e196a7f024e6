//! New snapshots appear by themselves, and cached answers of old data aren't used.

use std::io::{BufRead as _, BufReader, Write as _};

use super::site::{Site, flights, load};

/// Versions that a server announces, in order.
fn versions(site: &Site) -> impl Iterator<Item = String> {
    let mut socket = site.connect();
    socket.set_read_timeout(Some(std::time::Duration::from_mins(2))).unwrap();
    socket.write_all(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").unwrap();
    let (lines, mut is_version) = (BufReader::new(socket).lines(), false);
    lines.filter_map(move |line| {
        let line = line.unwrap();
        is_version = line.strip_prefix("event: ").map_or(is_version, |event| event == "version");
        line.strip_prefix("data: ").filter(|_| is_version).map(str::to_owned)
    })
}

#[test]
fn a_new_snapshot_is_told_and_shown() {
    let site = Site::start(&[]);
    let mut versions = versions(&site);
    let first = versions.next().unwrap();
    let before = site.get("/api/v1/overview");
    let etag = before.header("etag").unwrap();
    assert_eq!(before.json()["version"].as_str(), Some(&*first));
    assert!(first.starts_with("snapshot-2-"), "{first}");
    load(&site.table, &flights()[..1]);
    assert_eq!(versions.next(), Some(first.replace("snapshot-2-", "snapshot-3-")));
    let after = site.get_with("/api/v1/overview", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!((after.status, after.json()["figures"]["flights"].as_u64()), (200, Some(150_000 + (1 << 16))));
}

#[test]
fn a_table_that_was_made_anew_is_told_and_shown() {
    let site = Site::start(&[]);
    let mut versions = versions(&site);
    let first = versions.next().unwrap();
    let etag = site.get("/api/v1/overview").header("etag").unwrap().to_owned();
    let anew = nandle_columns::Table::create(
        &site.place.path("anew"),
        &nandle_columns::TableOptions::new(nandle_flights::flight_schema(), 1),
    );
    load(&anew.unwrap(), &flights()[..1]);
    std::fs::rename(site.place.path("flights"), site.place.path("before")).unwrap();
    std::fs::rename(site.place.path("anew"), site.place.path("flights")).unwrap();
    let second = versions.next().unwrap();
    assert!(second.starts_with("snapshot-2-") && second != first, "{first}, {second}");
    let after = site.get_with("/api/v1/overview", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!((after.status, after.json()["figures"]["flights"].as_u64()), (200, Some(1 << 16)));
}

#[test]
fn a_tag_says_of_which_table_and_with_what_beside_it() {
    let site = Site::start(&[]);
    let path = "/api/v1/overview";
    site.measured();
    let etag = format!("If-None-Match: {}\r\n", site.get(path).header("etag").unwrap());
    let again = site.beside(&[]);
    again.measured();
    assert_eq!(again.get_with(path, &etag).status, 304, "the same, begun again");
    std::fs::write(site.place.path("facts.csv"), "airport,passengers\nIAH,1\n").unwrap();
    for arguments in [&["--airports", "facts.csv"][..], &["--on", "model:nvme-tlc"]] {
        assert_eq!(site.beside(arguments).get_with(path, &etag).status, 200, "{arguments:?}");
    }
    assert_eq!(Site::start(&[]).get_with(path, &etag).status, 200, "another table");
}
