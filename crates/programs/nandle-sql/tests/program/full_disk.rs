//! Temporary files on a full disk: a small file system in a private namespace, which needs no
//! privileges where user namespaces are enabled.

use std::ffi::OsString;
use std::process::{Command, Output};

use crate::place::Place;
use crate::serve::Server;

/// Too little for the test's data, as is the disk.
const MEMORY: &str = "24MiB";
const SORTED: &str = "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY repeat(a.note, 9), b.id) AS n FROM numbers a, numbers b WHERE b.id < 90)";
const JOINED: &str = "SELECT count(*) FROM (SELECT note || id % 80 AS k, id FROM numbers a JOIN (SELECT id AS other FROM numbers) b ON other < 70) a \
                      JOIN (SELECT note || id % 80 AS k, id, other FROM numbers a JOIN (SELECT id AS other FROM numbers) b ON other < 70) b ON a.k = b.k AND a.id = b.other";
const GROUPED: &str = "SELECT count(*) FROM (SELECT a.note || b.note AS k, count(*) AS n FROM numbers a, numbers b WHERE b.id < 120 GROUP BY 1)";

/// Mounts 1 MB as `small` and runs its arguments. Exits with 99 if files are left there.
const SCRIPT: &str = r#"mount -t tmpfs -o size=1m,mode=700 small small || exit 98
"$@"
code=$?
[ -z "$(ls -A small)" ] || exit 99
exit $code"#;

/// Runs a script in a private namespace, whatever the user's privileges.
fn unshared(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    command
}

/// Returns true if no such file system can be mounted.
fn is_skipped(place: &Place) -> bool {
    std::fs::create_dir_all(place.path("small")).unwrap();
    let tried = unshared(SCRIPT).arg("true").current_dir(place.root()).output();
    let is_skipped = !tried.as_ref().is_ok_and(|tried| tried.status.success());
    if is_skipped {
        eprintln!("skipped: no file system of one's own (unshare): {tried:?}");
    }
    is_skipped
}

fn with_full_disk(place: &Place, query: &str) -> Output {
    let sql = place.command(&["Numbers.parquet", "-c", query, "--memory", MEMORY, "--threads", "2"]);
    let arguments = small_directory(&sql);
    unshared(SCRIPT).arg(sql.get_program()).args(arguments).current_dir(place.root()).output().unwrap()
}

/// The command's arguments, with temporary files in the small file system.
fn small_directory(command: &Command) -> Vec<OsString> {
    command
        .get_args()
        .map(|argument| if argument == "." { "small".into() } else { argument.into() })
        .collect()
}

#[test]
fn a_disk_that_is_full_is_named_with_what_to_do_and_nothing_is_left() {
    let place = Place::new();
    if is_skipped(&place) {
        return;
    }
    for query in [SORTED, JOINED, GROUPED] {
        let output = with_full_disk(&place, query);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{query}: {said}");
        for part in
            ["nandle-sql: there is no room", "small/", "No space left", "--spill-directory", "--memory"]
        {
            assert!(said.contains(part), "{query}: {part:?} is missing in {said}");
        }
    }
}

#[test]
fn a_server_lives_on_when_its_disk_was_full() {
    let place = Place::new();
    if is_skipped(&place) || crate::serve::is_skipped() {
        return;
    }
    let serve = place.command_of("serve", &Server::arguments(&["--memory", MEMORY, "--threads", "2"]));
    let mut command = unshared("mount -t tmpfs -o size=1m,mode=700 small small && exec \"$@\"");
    command.arg(serve.get_program()).args(small_directory(&serve)).current_dir(place.root());
    let server = Server::of(command);
    let root = format!("/proc/{}/root", server.pid());
    let left = || {
        let small = format!("{root}{}", place.path("small").display());
        let own = std::fs::read_dir(small).unwrap().map(|entry| entry.unwrap().path());
        own.flat_map(|own| std::fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path()))
            .filter(|path| path.is_dir())
            .map(|files| std::fs::read_dir(files).unwrap().count())
            .sum::<usize>()
    };
    for query in [SORTED, JOINED, GROUPED] {
        let (code, said) = server.refused(query);
        assert_eq!(code, "53100", "{query}: {said}");
        assert!(said.contains("--spill-directory"), "{said}");
        assert_eq!(server.rows("SELECT count(*), sum(id) FROM numbers"), "5000|12502500");
    }
    assert_eq!(left(), 0);
}
