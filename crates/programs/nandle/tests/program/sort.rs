//! Compares with the system's `sort`, and covers refusals.

use std::fs::File;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::common::{Outcome, Place};

/// Lines of four fields: words, numbers in several notations, non-UTF-8 bytes. The last line has no
/// end.
fn lines(count: u32) -> Vec<u8> {
    const WORDS: [&[u8]; 13] = [
        b"apple", b"Pear", b"a b", b"", b"zoo\xFF", b"\0nul", b"10", b"9", b"-3.5", b"007", b"1e3", b" 12",
        b"x y  z",
    ];
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = Vec::new();
    for _ in 0..count {
        for field in 0..4 {
            text.extend_from_slice(if field > 0 { b"\t" } else { b"" });
            text.extend_from_slice(WORDS[usize::try_from(next(13)).unwrap()]);
            text.extend_from_slice(format!("{}.{}", next(100).cast_signed() - 50, next(30)).as_bytes());
        }
        text.push(b'\n');
    }
    text.pop();
    text
}

fn system_sort(place: &Place, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("sort");
    command.args(arguments).env("LC_ALL", "C").current_dir(place.path("."));
    command.output().unwrap().stdout
}

#[test]
fn lines_come_out_as_the_systems_own_sort_has_them() {
    let place = Place::new();
    place.write("in", lines(30_000));
    let tab = "-t\t";
    let cases: [(&str, &[&str]); 15] = [
        ("", &[]),
        ("--reverse", &["-r"]),
        ("--unique", &["-u"]),
        ("--reverse --unique", &["-r", "-u"]),
        ("--delimiter \\t --key 2", &[tab, "-k2,2"]),
        ("--delimiter \\t --key 2n,1r", &[tab, "-k2,2n", "-k1,1r"]),
        ("--delimiter \\t --key 3nr", &[tab, "-k3,3nr"]),
        ("--delimiter \\t --key 1n,2 -r", &[tab, "-k1,1n", "-k2,2", "-r"]),
        ("--key 2,1", &["-k2,2", "-k1,1"]),
        ("--key 2n", &["-k2,2n"]),
        ("--stable --delimiter \\t --key 2n", &["-s", tab, "-k2,2n"]),
        ("--stable -r --delimiter \\t --key 1", &["-s", "-r", tab, "-k1,1"]),
        ("--unique --delimiter \\t --key 1", &["-u", tab, "-k1,1"]),
        ("--unique --delimiter \\t --key 1n", &["-u", tab, "-k1,1n"]),
        ("--delimiter \\t --key 9,2", &[tab, "-k9,9", "-k2,2"]),
    ];
    for (ours, theirs) in cases {
        let expected = system_sort(&place, &[theirs, &["in"]].concat());
        for memory in ["1MiB", "64MiB", "2MiB --threads 3"] {
            place.nandle(&format!("sort in -o out --memory {memory} {ours}")).done();
            assert!(place.read("out") == expected, "sort {ours} --memory {memory}");
        }
        place.write("same", lines(30_000));
        place.nandle(&format!("sort same -o same --memory 2MiB --threads 2 {ours}")).done();
        assert!(place.read("same") == expected, "sort {ours} in its place");
        std::fs::remove_file(place.path("same")).unwrap();
        let piped = place.command(&format!("sort in --memory 2MiB --threads 2 {ours}")).output().unwrap();
        assert!(piped.stdout == expected, "sort {ours} to standard output");
    }
    assert_eq!(place.names(), ["in", "out"], "temporary data have no name");
}

#[test]
fn many_files_standard_input_and_pipes() {
    let place = Place::new();
    let input = place.write("in", lines(2000));
    let twice = system_sort(&place, &["in", "in"]);
    let mut command = place.command("sort in -");
    let output = command.stdin(File::open(input).unwrap()).output().unwrap();
    assert!(output.status.success() && output.stdout == twice);
    place.nandle("sort in in -o out --limit 300").done();
    let first: Vec<&[u8]> = twice.split_inclusive(|byte| *byte == b'\n').take(300).collect();
    assert!(place.read("out") == first.concat());
    let mut running = place.command("sort in").stdout(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    assert!(running.wait().unwrap().success(), "a reader that has gone away is no error");
}

#[test]
fn csv_keeps_its_header_and_line_ends_between_quotes() {
    let place = Place::new();
    place.write("a.csv", "name,size\n\"b,\n1\",30\nc,4\n\"a\"\"x\",200\n");
    let told = place.nandle("sort a.csv --csv --key 2n").done().stdout;
    assert_eq!(told, "name,size\nc,4\n\"b,\n1\",30\n\"a\"\"x\",200\n");
    let told = place.nandle("sort a.csv a.csv --csv --key 1 --unique").done().stdout;
    assert_eq!(told, "name,size\n\"a\"\"x\",200\n\"b,\n1\",30\nc,4\n");
    place.write("b.csv", "name,weight\nx,1\n");
    place.nandle("sort a.csv b.csv --csv").refused(1, &["b.csv", "header", "--no-header"]);
    let mut records: Vec<String> =
        (0..60_000_u32).map(|n| format!("{},\"x\n{n}\"", n * 7919 % 60_000)).collect();
    place.write("d.csv", format!("key,text\n{}", records.join("\n")));
    records.sort_by_key(|record| record.split(',').next().map(|key| key.parse::<u32>().unwrap()));
    place.nandle("sort d.csv --csv --key 1n --memory 2MiB --threads 3 -o out").done();
    assert!(place.read("out") == format!("key,text\n{}\n", records.join("\n")).into_bytes());
    place.write("c.csv", "a\n\"b\n");
    place.nandle("sort c.csv --csv").refused(1, &["c.csv", "quote"]);
}

#[test]
fn records_of_one_length() {
    let place = Place::new();
    let mut records = lines(40_000);
    records.truncate(records.len() / 20 * 20);
    place.write("in", &records);
    let mut expected: Vec<&[u8]> = records.chunks(20).collect();
    expected.sort_by_key(|record| record[..3].to_vec());
    for memory in ["1MiB", "2MiB --threads 2"] {
        place.nandle(&format!("sort in -o out --record 20 --key-bytes 3 --stable --memory {memory}")).done();
        assert!(place.read("out") == expected.concat(), "{memory}");
    }
    place.nandle("sort in --record 21").refused(1, &["in", "middle of a record"]);
    place.nandle("sort in --record 20 --key-bytes 30").refused(2, &["--key-bytes"]);
}

#[test]
fn an_output_is_replaced_when_all_is_sorted_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let path = place.write("in", "b\na\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    place.nandle("sort in -o in").done();
    assert_eq!(place.read("in"), b"a\nb\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    place.nandle("sort in nothing -o in").refused(1, &["nothing", "No such file"]);
    assert_eq!(place.read("in"), b"a\nb\n");
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn what_cannot_be_is_said() {
    let place = Place::new();
    place.write("in", lines(30_000));
    place.write("long", vec![b'x'; 3 << 20]);
    place.nandle("sort in --memory 64KiB").refused(2, &["--memory", "1MiB"]);
    place.nandle("sort in --key 2,2n").refused(2, &["field 2 twice", "sort -k"]);
    place.nandle("sort in --threads 0").refused(2, &["--threads", "1 to 256"]);
    place.nandle("sort in --memory 1MiB --threads 200").refused(1, &["threads", "--memory"]);
    place.nandle("sort in --key 0").refused(2, &["--key", "from 1 on"]);
    place.nandle("sort long --memory 1MiB").refused(1, &["long", "too long for this memory", "--memory"]);
    place.nandle("sort /dev/zero --memory 1MiB").refused(1, &["/dev/zero", "--memory"]);
    place.nandle("sort in -o nowhere/out").refused(1, &["nowhere/out", "directory"]);
    place.nandle("sort in --memory 1MiB --space 256KiB").refused(1, &["full", "--space"]);
    place.nandle("sort in --memory 1MiB --cluster 1000").refused(2, &["cluster", "logical block"]);
    place.nandle("sort in --memory 1MiB --cluster 40").refused(2, &["cluster", "512"]);
    place.nandle("sort in --memory 1MiB --cluster 1TiB").refused(2, &["cluster", "512"]);
    place.nandle("sort in --temporary in").refused(2, &["in"]);
    assert_eq!(place.names(), ["in", "long"]);
}

#[test]
fn memory_in_the_place_of_a_disk_is_said_without_being_asked() {
    let Some(place) = Place::in_memory() else {
        return crate::common::skip("there is no /dev/shm to write to");
    };
    place.write("in", "b 1\na 2\n");
    let said = ["page cache", "tmpfs"];
    place.nandle("sort in").done().says(&said);
    place.nandle("join in in --on 1 --delimiter ,").done().says(&said);
}

/// `/proc` accepts no files, not even from root.
#[test]
fn a_small_input_needs_no_place_for_temporary_data() {
    let place = Place::new();
    place.write("small", "b 1\na 2\n");
    place.write("large", lines(60_000));
    let beside_nothing = |arguments: &str| -> Outcome {
        place.command(arguments).current_dir("/proc").output().unwrap().into()
    };
    let (small, large) = (place.path("small"), place.path("large"));
    let (small, large) = (small.display(), large.display());
    let sorted = beside_nothing(&format!("sort {small}")).done();
    assert_eq!((sorted.stdout.as_str(), sorted.stderr.as_str()), ("a 2\nb 1\n", ""));
    beside_nothing(&format!("join {small} {small} --on 1 --delimiter ,")).done();
    let why = ["doesn't fit in memory", "/proc", "--temporary names another place"];
    beside_nothing(&format!("sort {large} --memory 1MiB")).refused(1, &why);
    beside_nothing(&format!("join {large} {large} --on 1 --memory 1MiB")).refused(1, &why);
    beside_nothing(&format!("sort {large} --memory 1MiB --key 0")).refused(2, &["--key"]);
}

#[test]
fn a_modelled_drive_takes_temporary_data_and_the_result_is_the_same() {
    let place = Place::new();
    place.write("in", lines(30_000));
    let expected = system_sort(&place, &["in"]);
    let outcome =
        place.nandle("sort in -o out --memory 1MiB --temporary model:barracuda-7200.10 --json").done();
    assert!(place.read("out") == expected);
    let json = outcome.json();
    assert_eq!((&json["records"], &json["is_modelled"]), (&30_000.into(), &true.into()));
    assert!(json["written_bytes"].as_u64().unwrap() > 900_000, "{json}");
    assert!(json["sorted_ns"].as_u64().unwrap() > 10_000_000, "a disk takes longer: {json}");
    let told = place.nandle("sort in -o out --memory 1MiB --explain").done().stderr;
    assert!(told.contains("Predicted") && told.contains("Runs: "), "{told}");
}

#[test]
fn interrupted_it_leaves_nothing() {
    let place = Place::new();
    let mut running = place.command("sort - -o out --memory 1MiB").stdin(Stdio::piped()).spawn().unwrap();
    let mut input = running.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, &lines(60_000)).unwrap();
    let id = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(id, Signal::INT).unwrap();
    // More input wakes it.
    _ = std::io::Write::write_all(&mut input, &lines(60_000));
    drop(input);
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn killed_while_it_writes_the_result_it_leaves_nothing() {
    let place = Place::new();
    place.write("in", lines(30_000));
    for threads in [1, 3] {
        std::fs::create_dir(place.path("to")).unwrap();
        place.nandle("sort in -o to/out").done();
        let old = place.read("to/out");
        let arguments =
            format!("sort in in in in in in -o to/out --memory 2MiB --threads {threads} --temporary .");
        // At any stage, most often while it writes.
        for after_ms in (0..160).step_by(20) {
            let mut running = place.command(&arguments).spawn().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(after_ms));
            running.kill().unwrap();
            running.wait().unwrap();
            assert_eq!(std::fs::read_dir(place.path("to")).unwrap().count(), 1, "after {after_ms} ms");
        }
        assert!(place.read("to/out").len() >= old.len());
        std::fs::remove_dir_all(place.path("to")).unwrap();
    }
}

#[test]
fn it_is_interrupted_while_no_input_comes() {
    let place = Place::new();
    let mut running = place.command("sort - -o out").stdin(Stdio::piped()).spawn().unwrap();
    let input = running.stdin.take().unwrap();
    let id = rustix::process::Pid::from_child(&running);
    while running.try_wait().unwrap().is_none() {
        // The first signals may come before a handler is installed, and then end it directly.
        rustix::process::kill_process(id, Signal::INT).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    drop(input);
    assert_eq!(place.names(), [""; 0]);
}
