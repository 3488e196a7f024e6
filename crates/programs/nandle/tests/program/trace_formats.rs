use std::path::PathBuf;

use crate::common::Place;

/// Test input of the trace crate.
fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../prove/trace/tests/fixtures");
    folder.join(name).display().to_string()
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn zoned_requests_keep_their_kinds_in_csv_and_become_plain_ones_for_fio() {
    let place = Place::new();
    let trace = fixture("blkparse-zoned.txt");
    place.nandle(&format!("trace convert {trace} zoned.csv")).done();
    let csv = String::from_utf8(place.read("zoned.csv")).unwrap();
    assert_eq!(
        csv.lines().skip(1).collect::<Vec<_>>(),
        [
            "0,append,268435456,4096",
            "1,append,268435456,4096",
            "2,zone-reset,268435456,268435456",
            "3,zone-finish,536870912,268435456",
            "4,write,32768,4096",
        ]
    );
    let told = place.nandle("trace stat zoned.csv").done().fits_80_columns().stdout;
    assert!(told.contains("zones     append 2, reset 1, finish 1"), "{told}");
    let json = place.nandle("trace stat zoned.csv --json").done().json();
    assert_eq!((&json["writes"], &json["zones"]["appends"]), (&3.into(), &2.into()));
    let converted =
        place.nandle("trace convert zoned.csv zoned.iolog --to fio-iolog --file /dev/null").done();
    assert!(
        words(&converted.stderr).contains("fio's iolog has no zones: 4 zoned requests"),
        "{}",
        converted.stderr
    );
    let log = String::from_utf8(place.read("zoned.iolog")).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("write") || line.contains("trim")).collect();
    assert_eq!(
        lines,
        [
            "0 /dev/null write 268435456 4096",
            "1 /dev/null write 268439552 4096",
            "2 /dev/null trim 268435456 268435456",
            "4 /dev/null write 32768 4096",
        ]
    );
    place.nandle("replay zoned.csv --on model:nvme-tlc --policies direct").done();
    place.nandle("trace play zoned.csv --on model:nvme-tlc --addresses compact").done();
}

#[test]
fn times_that_go_back_are_remarked_on() {
    let place = Place::new();
    let trace = fixture("blkparse-times-go-back.txt");
    let converted = place.nandle(&format!("trace convert {trace} back.iolog --to fio-iolog")).done();
    let remark = "1 event is earlier than one before, by up to 600ms, the first in line 3";
    assert!(words(&converted.stderr).contains(remark), "{}", converted.stderr);
    let told = place.nandle(&format!("trace stat {trace}")).done().stdout;
    assert!(words(&told).contains(remark) && told.contains("1.1"), "{told}");
    let json = place.nandle(&format!("trace stat {trace} --json")).done().json();
    assert!(json["remarks"][0].as_str().unwrap().starts_with(remark), "{json}");
    let replayed =
        place.nandle(&format!("replay {trace} --on model:nvme-tlc --policies direct --json")).done();
    assert!(replayed.stdout.contains(remark), "{}", replayed.stdout);
}

#[test]
fn a_format_that_was_guessed_is_said_and_two_that_fit_are_asked_about() {
    let place = Place::new();
    let told = place.nandle(&format!("trace stat {}", fixture("trace-spc.csv"))).done().stdout;
    assert!(words(&told).contains("Read as an SPC trace, whose columns it fits."), "{told}");
    let named = place.nandle(&format!("trace stat {} --format spc", fixture("trace-spc.csv"))).done().stdout;
    assert!(!named.contains("Read as"), "{named}");
    let both = fixture("mqsim.txt");
    place.nandle(&format!("trace stat {both}")).refused(2, &["disksim-ascii", "mqsim", "--format"]);
    place.nandle(&format!("trace stat {both} --format mqsim")).done();
    let volumes = fixture("trace-alibaba.csv");
    place.nandle(&format!("trace stat {volumes}")).refused(2, &["device 725", "419", "--device"]);
    let one = place.nandle(&format!("trace stat {volumes} --device 419 --json")).done().json();
    assert_eq!((&one["writes"], &one["format"]), (&1.into(), &"alibaba".into()));
}

#[test]
fn columns_are_named_on_the_command_line() {
    let place = Place::new();
    place.write("mine.csv", "7,x,write,8,4096\n9,x,read,16,512\n");
    let columns = "--columns time=1:us,offset=4:sectors,bytes=5,op=3";
    let told = place.nandle(&format!("trace stat mine.csv {columns}")).done().stdout;
    assert!(told.contains("mine.csv (columns), 2us"), "{told}");
    assert!(told.contains(&format!("nandle replay mine.csv {columns} --on")), "{told}");
    place.nandle("trace stat mine.csv").refused(1, &["no known trace format", "--columns"]);
    place.nandle("trace stat mine.csv --columns time=1,op=3").refused(2, &["s, ms, us, 100ns or ns"]);
    place.nandle(&format!("trace stat mine.csv --format csv {columns}")).refused(2, &["cannot be used with"]);
}

#[test]
fn text_before_the_first_event_and_compression_are_seen_through() {
    let place = Place::new();
    place.nandle(&format!("trace convert {} perf.csv", fixture("perf-first-event-other.txt"))).done();
    let csv = String::from_utf8(place.read("perf.csv")).unwrap();
    assert_eq!(csv, "time_us,op,address,length\n0,write,188055875584,4096\n");
    let json = place.nandle(&format!("trace stat {} --json", fixture("msr.csv.gz"))).done().json();
    assert_eq!((&json["format"], &json["writes"], &json["reads"]), (&"msr".into(), &2.into(), &1.into()));
    let gzip = std::fs::read(fixture("msr.csv.gz")).unwrap();
    place.write("cut.csv.gz", &gzip[..gzip.len() - 12]);
    place.nandle("trace stat cut.csv.gz").refused(1, &["truncated", "gzip -dcq"]);
    place.write("other.csv.xz", b"\xfd7zXZ\0\0\x04");
    place.nandle("trace stat other.csv.xz").refused(2, &["only zstd and gzip", "xz -dc"]);
}
