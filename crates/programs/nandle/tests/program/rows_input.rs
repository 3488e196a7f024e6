use crate::common::Place;

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_record() {
    let place = Place::new();
    place.write("marked.csv", "\u{feff}10,a\n2,b\n5,c\n");
    let sorted = place.nandle("sort --csv --no-header -k 1n marked.csv").done().stdout;
    assert_eq!(sorted, "2,b\n5,c\n10,a\n");
    place.write("right.csv", "10,x\n");
    let joined = place.nandle("join marked.csv right.csv --csv --no-header --on 1").done().stdout;
    assert_eq!(joined, "10,a,x\n");
}

#[test]
fn the_last_line_ends_as_the_others_do() {
    let place = Place::new();
    place.write("crlf.csv", "id,v\r\n2,b\r\n10,a\r\n1,c");
    let sorted = place.nandle("sort --csv -k 1n crlf.csv").done().stdout;
    assert_eq!(sorted, "id,v\r\n1,c\r\n2,b\r\n10,a\r\n");
}

#[test]
fn records_with_too_few_or_too_many_fields_are_refused_with_their_line() {
    let place = Place::new();
    place.write("left.csv", "k,a\nx,1\ny\nz,3\n");
    place.write("right.csv", "k,b\nx,A\ny,B\nz,C\n");
    let said = ["left.csv, line 3", "has 1 fields", "have 2"];
    place.nandle("join left.csv right.csv --csv --on 1").refused(1, &said);
    place.nandle("join right.csv left.csv --csv --on 1").refused(1, &said);
    place.write("long.csv", "k,a\n\"x\ny\",1\ny,2,3\n");
    place.nandle("join long.csv right.csv --csv --on 1").refused(1, &["long.csv, line 4", "has 3 fields"]);
}

#[test]
fn a_dash_is_standard_output() {
    let place = Place::new();
    place.write("rows", "b\na\n");
    assert_eq!(place.nandle("sort rows -o -").done().stdout, "a\nb\n");
    assert_eq!(place.nandle("join rows rows --on 1 -o -").done().stdout.lines().count(), 2);
    assert_eq!(place.names(), ["rows"]);
}

#[test]
fn a_limit_on_file_sizes_is_an_error() {
    let place = Place::new();
    place.write("rows", "some words in a line\n".repeat(20_000));
    let program = env!("CARGO_BIN_EXE_nandle");
    for threads in [1, 2] {
        let line =
            format!("ulimit -f 64; exec '{program}' sort rows -o sorted --threads {threads} --no-progress");
        let mut shell = std::process::Command::new("bash");
        let output = shell.current_dir(place.path(".")).args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("File too large"), "{said}");
    }
    assert_eq!(place.names(), ["rows"]);
}
