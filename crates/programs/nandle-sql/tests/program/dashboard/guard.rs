//! Access control.

use std::io::Write as _;
use std::time::Duration;

use super::site::{Response, Site};
use crate::place::Place;

fn with_host(site: &Site, host: &str, more: &str) -> Response {
    let request = format!("GET /api/v1/overview HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
    site.send(request.as_bytes())
}

#[test]
fn pages_of_other_sites_are_refused() {
    let site = Site::start(&[]);
    let own = format!("127.0.0.1:{}", site.port);
    assert_eq!(
        with_host(&site, &own, &format!("Origin: http://{own}\r\nSec-Fetch-Site: same-origin\r\n")).status,
        200
    );
    assert_eq!(with_host(&site, "localhost:9999", "").status, 200, "by a port that was forwarded");
    for host in ["example.org", "127.0.0.1.example.org", "", "evil\t"] {
        assert!([400, 403].contains(&with_host(&site, host, "").status), "{host}");
    }
    for more in [
        "Origin: http://example.org\r\n",
        "Origin: null\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
        "Sec-Fetch-Site: same-site\r\n",
        "Host: example.org\r\n",
    ] {
        let refused = with_host(&site, &own, more);
        assert!([400, 403].contains(&refused.status), "{more}: {}", refused.status);
    }
    let request = format!(
        "GET / HTTP/1.1\r\nHost: {own}\r\nConnection: close\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n"
    );
    assert_eq!(site.send(request.as_bytes()).status, 200, "a link to the page");
}

#[test]
fn the_page_may_load_and_send_nothing_elsewhere() {
    let site = Site::start(&[]);
    for path in ["/", "/assets/js/main.js", "/api/v1/overview", "/nothing"] {
        let response = site.get(path);
        let policy = response.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
    let page = site.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.text().contains("<main"));
    let etag = page.header("etag").unwrap();
    assert_eq!(site.get_with("/", &format!("If-None-Match: {etag}\r\n")).status, 304);
}

#[test]
fn a_token_is_asked_for() {
    let token = "a-token-of-27-plain-letters";
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), format!("{token}\n")).unwrap();
    let site = Site::start(&["--token-file", file.path().to_str().unwrap()]);
    let refused = site.get("/api/v1/overview");
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(
        site.get_with("/api/v1/overview", "Authorization: Bearer another-token-of-plain-letters\r\n").status,
        401
    );
    assert_eq!(site.get_with("/api/v1/overview", &format!("Authorization: Bearer {token}\r\n")).status, 200);
    let page = site.get("/?airport=IAH&from=2008-01");
    assert_eq!(page.status, 401);
    assert!(page.text().contains("action=\"/session?airport=IAH&amp;from=2008-01\""), "{}", page.text());
    let hostile = site.get("/?%22%3E%3Cscript%3E=%3c&x=\"><script>");
    assert!(!hostile.text().contains("<script>"), "{}", hostile.text());
    let post = |body: &str| {
        let request = format!(
            "POST /session?airport=IAH HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        site.send(request.as_bytes())
    };
    for wrong in
        ["", "token=", "token=wrong-wrong-wrong-wrong", &format!("token={token}&more=1"), &"x".repeat(5000)]
    {
        assert_eq!(post(wrong).status, 403, "{wrong:.40}");
    }
    let signed_in = post(&format!("token={token}"));
    assert_eq!((signed_in.status, signed_in.header("location")), (303, Some("/?airport=IAH")));
    let cookie = signed_in.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let (cookie, _) = cookie.split_once(';').unwrap();
    assert_eq!(site.get_with("/api/v1/overview", &format!("Cookie: other=1; {cookie}\r\n")).status, 200);
}

#[test]
fn a_form_that_does_not_come_is_not_waited_for() {
    let status = |site: &Site| {
        let mut socket = site.connect();
        socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let request = "POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 30\r\n\r\ntoken=";
        socket.write_all(request.as_bytes()).unwrap();
        Response::read(socket).status
    };
    let open = Site::start(&[]);
    assert_eq!(status(&open), 404, "there is no token");
    let wrong = open.get("/session");
    assert!(wrong.status == 405 && wrong.text().contains("only POST"), "{}", wrong.text());
    std::fs::write(open.place.path("token"), "a-token-of-27-plain-letters\n").unwrap();
    assert_eq!(status(&open.beside(&["--token-file", "token"])), 408);
}

#[test]
fn other_machines_need_a_token_and_the_table_needs_flights() {
    let place = Place::new();
    let refused = |arguments: &[&str], code: i32, part: &str| {
        let output = place.command_of("serve", arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(part), "{said}");
    };
    refused(&["Numbers.parquet", "--listen", "0.0.0.0:0"], 2, "--token-file");
    refused(
        &["Numbers.parquet", "--listen", "127.0.0.1:0", "--on", "model:wd2003fyys"],
        2,
        "numbers has no Year, Month",
    );
    refused(&["Numbers.parquet", "--listen", "127.0.0.1"], 2, "127.0.0.1:8642");
    refused(&["Numbers.parquet", "--pg", "127.0.0.1:0", "--airports", "x.csv"], 1, "x.csv");
    refused(&["Numbers.parquet", "--listen", "127.0.0.1:0", "--on", "/tmp"], 2, "/tmp is no model");
    std::fs::write(place.path("token"), "short\n").unwrap();
    refused(&["Numbers.parquet", "--listen", "0.0.0.0:0", "--token-file", "token"], 2, "16 to 256");
    std::fs::write(place.path("facts.csv"), "airport,passengers\nIAH,many\n").unwrap();
    refused(
        &["Numbers.parquet", "--listen", "127.0.0.1:0", "--airports", "facts.csv"],
        1,
        "line 2, column passengers",
    );
}
