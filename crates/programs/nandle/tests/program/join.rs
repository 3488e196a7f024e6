//! Compares with the system's `join`, and covers refusals.

use std::process::{Command, Stdio};

use crate::common::Place;

/// Lines with a partly shared key and other fields.
fn lines(count: u64, keys: u64, name: &str) -> Vec<u8> {
    let mut state = count;
    let mut text = Vec::new();
    for number in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = (state >> 33) % keys;
        text.extend_from_slice(
            format!("k{key} {name}{number} {}\n", "x".repeat((state >> 40) as usize % 60)).as_bytes(),
        );
    }
    text
}

fn sorted(text: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.sort();
    lines
}

/// Output of the system's `join` on sorted files.
fn system_join(place: &Place, options: &str) -> Vec<u8> {
    let script = format!(
        "LC_ALL=C; export LC_ALL; sort -k1,1 a > a.s; sort -k1,1 b > b.s; join {options} a.s b.s; rm a.s b.s"
    );
    Command::new("sh").args(["-c", &script]).current_dir(place.path(".")).output().unwrap().stdout
}

#[test]
fn the_result_is_that_of_the_systems_own_join() {
    let place = Place::new();
    place.write("a", lines(20_000, 9000, "left"));
    place.write("b", lines(30_000, 12_000, "right"));
    for memory in ["1MiB", "64MiB", "4MiB --threads 3"] {
        for (kind, theirs) in [("inner", ""), ("left", "-a 1"), ("anti", "-v 1")] {
            place.nandle(&format!("join a b -o out --kind {kind} --memory {memory}")).done();
            let expected = system_join(&place, theirs);
            let squeezed = |text: Vec<u8>| {
                let text = String::from_utf8(text).unwrap();
                let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
                sorted(lines.collect::<Vec<_>>().join("\n").as_bytes())
            };
            assert!(squeezed(place.read("out")) == squeezed(expected), "{kind}, {memory}");
        }
        place.nandle(&format!("join a b -o semi --kind semi --memory {memory}")).done();
        place.nandle(&format!("join a b -o anti --kind anti --memory {memory}")).done();
        let both = [place.read("semi"), place.read("anti")].concat();
        assert!(sorted(&both) == sorted(&place.read("a")), "each line of the first is in one of them");
    }
}

#[test]
fn csv_has_the_headers_of_both_and_as_many_fields_in_each_record() {
    let place = Place::new();
    place.write("orders.csv", "order,customer\n1,\"b,x\"\n2,c\n3,d\n");
    place.write("customers.csv", "name,city,\"old name\"\n\"b,x\",\"Bonn, am Rhein\",\nc,Celle,\"k\"\"k\"\n");
    let told = place.nandle("join orders.csv customers.csv --csv --on 2=1 --kind left").done().stdout;
    let mut records: Vec<&str> = told.lines().collect();
    assert_eq!(records.remove(0), "order,customer,city,old name");
    records.sort_unstable();
    assert_eq!(records, ["1,\"b,x\",\"Bonn, am Rhein\",", "2,c,Celle,\"k\"\"k\"", "3,d,,"]);
    let told = place.nandle("join orders.csv customers.csv --csv --on 2=1 --kind anti").done().stdout;
    assert_eq!(told, "order,customer\n3,d\n");
}

#[test]
fn modelled_drives_and_machines() {
    let place = Place::new();
    place.write("a", lines(20_000, 9000, "left"));
    place.write("b", lines(60_000, 12_000, "right"));
    let json =
        place.nandle("join a b -o out --memory 1MiB --temporary model:samsung-mcaqe32 --json").done().json();
    assert_eq!((&json["left_records"], &json["right_records"]), (&20_000.into(), &60_000.into()));
    assert!(
        json["spilled_partitions"].as_u64().unwrap() > 0 && json["joined_ns"].as_u64().unwrap() > 10_000_000
    );
    let first = place.read("out");
    place.nandle("join a b -o out").done();
    assert!(sorted(&first) == sorted(&place.read("out")));
}

#[test]
fn what_cannot_be_is_said() {
    let place = Place::new();
    place.write("a", lines(20_000, 9000, "left"));
    place.nandle("join a nothing").refused(1, &["nothing", "No such file"]);
    place.nandle("join - -").refused(2, &["standard input"]);
    place.nandle("join a a --on 9").refused(1, &["a", "first record", "field 9"]);
    place.nandle("join a a --on 0").refused(2, &["--on", "from 1 on"]);
    place.nandle("join a a -o out --memory 1MiB --space 64KiB").refused(1, &["full", "--space"]);
    let mut running = place.command("join a a").stdout(Stdio::piped()).spawn().unwrap();
    drop(running.stdout.take());
    assert!(running.wait().unwrap().success(), "a reader that has gone away is no error");
    place.nandle("join a a -o out --memory 2MiB --threads 4 --space 512KiB").refused(1, &["full", "--space"]);
    place
        .nandle("join a a -o /dev/full --memory 4MiB --threads 4")
        .refused(1, &["/dev/full", "No space left"]);
    assert_eq!(place.names(), ["a"]);
}

#[test]
fn line_ends_of_two_bytes_empty_fields_and_files_of_one_field() {
    let place = Place::new();
    place.write("l.csv", "1,a\r\n2,b\r\n");
    place.write("r.csv", "1,x\r\n");
    let told = place.nandle("join l.csv r.csv --csv --no-header").done().stdout;
    assert_eq!(told, "1,a,x\r\n");
    place.write("l", "1,a\n");
    for (right, joined) in [("1,\n", "1,a,\n"), ("1\n", "1,a\n"), ("1,,y\n", "1,a,,y\n")] {
        place.write("r", right);
        assert_eq!(place.nandle("join l r --delimiter ,").done().stdout, joined);
        assert_eq!(place.nandle("join l r --csv --no-header").done().stdout, joined);
    }
    place.write("quoted.csv", "1,5\" pipe\n2,6\" pipe\n");
    place.nandle("join quoted.csv l --csv --no-header").refused(1, &["quoted.csv", "quote", "RFC 4180"]);
    place.nandle("sort quoted.csv --csv --no-header --key 2").refused(1, &["quoted.csv", "RFC 4180"]);
}
