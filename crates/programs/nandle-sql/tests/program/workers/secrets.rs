//! Authentication of workers.

use super::data::place;
use super::fleet::{Worker, urls};

const SUM: &str = "SELECT sum(l_price) FROM lines";

#[test]
fn a_secret_is_asked_for_and_not_shown() {
    let place = place();
    std::fs::write(place.path("secret"), "0123456789abcdef\n").unwrap();
    std::fs::write(place.path("wrong"), "fedcba9876543210\n").unwrap();
    let start = || Worker::start(&place, &["lines", "--secret-file", "secret"]);
    let workers = [start(), start()];
    let urls = urls(&workers);
    let query = ["lines", "-c", SUM, "--format", "csv", "--workers", &urls, "--distribute-above", "0ms"];
    let alone = place.done(&["lines", "-c", SUM, "--format", "csv"]);
    assert_eq!(place.done(&[&query[..], &["--secret-file", "secret"]].concat()), alone);
    for more in [&[][..], &["--secret-file", "wrong"]] {
        let said = place.refused(1, &[&query[..], more].concat());
        assert!(said.contains(&workers[0].url) && said.contains("--secret-file"), "{said}");
        assert!(!said.contains("0123456789abcdef"), "{said}");
    }
    std::fs::write(place.path("short"), "short").unwrap();
    let short = place.refused(2, &[&query[..], &["--secret-file", "short"]].concat());
    assert!(short.contains("at least 16"), "{short}");
}

#[test]
fn other_machines_are_served_with_a_secret_and_tls_alone() {
    let place = place();
    let said = |arguments: &[&str]| {
        let output = place.command_of("worker", arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let open = said(&["lines", "--listen", "0.0.0.0:0"]);
    assert!(open.contains("--secret-file") && open.contains("--tls-cert"), "{open}");
    assert!(said(&[]).contains("name tables"), "a worker without tables has nothing to do");
    assert!(said(&["lines", "--listen", "localhost"]).contains("127.0.0.1:8651"));
    std::fs::write(place.path("secret"), "0123456789abcdef\n").unwrap();
    let arguments = ["lines", "-c", SUM, "--workers", "http://192.0.2.1:1", "--secret-file", "secret"];
    let plain = place.refused(2, &arguments);
    assert!(plain.contains("https"), "a secret doesn't leave the machine as it is: {plain}");
}

#[test]
fn rows_are_encrypted_where_there_is_a_certificate() {
    let place = place();
    let file = |name: &str| format!("{}/tests/program/workers/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (authority, certificate, key) = (file("ca.pem"), file("worker.pem"), file("worker.key"));
    std::fs::write(place.path("secret"), "0123456789abcdef\n").unwrap();
    let keys = [
        "lines",
        "--secret-file",
        "secret",
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
        "--tls-ca",
        &authority,
    ];
    let workers = [Worker::start(&place, &keys), Worker::start(&place, &keys)];
    let urls = urls(&workers);
    assert!(workers.iter().all(|worker| worker.url.starts_with("https://127.0.0.1:")), "{urls}");
    // A shuffle, so that workers connect to each other.
    let groups = "SELECT l_order, count(*) FROM lines GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 9";
    let query = ["lines", "-c", groups, "--format", "csv"];
    let with = |urls: &str, more: &[&str]| {
        let own = ["--workers", urls, "--distribute-above", "0ms", "--secret-file", "secret"];
        place.run(&[&query[..], &own, more].concat())
    };
    let together = with(&urls, &["--tls-ca", &authority]);
    assert!(together.status.success(), "{together:?}");
    assert_eq!(String::from_utf8(together.stdout).unwrap(), place.done(&query));
    let open = workers[0].url.replace("https", "http");
    for (urls, more, part) in [
        (&*urls, &[][..], "--tls-ca"),
        (&*urls, &["--tls-ca", &certificate], &*workers[0].url),
        (&*open, &[], &*open),
        (&*open, &["--tls-ca", &authority], "write https"),
    ] {
        let refused = with(urls, more);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && said.contains(part), "{part:?} is missing in {said}");
    }
}
