//! Playing of traces: on modelled disks, compared with real measurements, and on files and
//! directories.

use std::fmt::Write as _;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{MIB, Place};

/// Trace of a disk with measured response times, the disk's model, and the demerit of the best
/// published simulator.
const DISKS: [(&str, f64); 3] = [("cheetah-9lp", 0.107e6), ("barracuda", 0.349e6), ("atlas-iii", 0.378e6)];

fn measured(disk: &str) -> String {
    format!("{}/../../device/model/tests/traces/{disk}.trace.zst", env!("CARGO_MANIFEST_DIR"))
}

/// Reads, writes and syncs in 8 MiB, 200 µs apart, with recorded latencies.
fn mixture(requests: u64) -> String {
    let mut text = String::from("time_us,op,address,length,latency_ns\n");
    for number in 0..requests {
        let (operation, length) =
            [("read", 4096), ("write", 4096), ("read", 8192), ("sync", 0)][(number % 4) as usize];
        let address = if length == 0 { 0 } else { number * 7919 % 1023 * 8192 };
        let _ =
            writeln!(text, "{},{operation},{address},{length},{}", number * 200, 100_000 + number % 7 * 1000);
    }
    text
}

fn kind<'a>(json: &'a Value, operation: &str) -> &'a Value {
    let kinds = json["operations"].as_array().unwrap();
    kinds.iter().find(|kind| kind["operation"] == operation).unwrap()
}

#[test]
fn anybody_can_validate_a_disk() {
    let place = Place::new();
    for (disk, published_ns) in DISKS {
        let trace = measured(disk);
        let command = format!("trace play {trace} --on model:{disk} --timing think --compare");
        let json = place.nandle(&format!("{command} --json")).done().json();
        let all = &json["comparison"][0];
        assert_eq!((&json["format"], &all["requests"]), (&"disksim".into(), &10_000.into()));
        assert!(all["demerit_ns"].as_f64().unwrap() <= published_ns, "{disk}: {all}");
        assert!((all["mean_ratio"].as_f64().unwrap() - 1.0).abs() < 0.05, "{disk}: {all}");
        let again = place.nandle(&format!("{command} --json")).done().json();
        assert_eq!(json, again, "the same to the nanosecond");
    }
}

/// Requests are due 200 us apart, and a disk takes milliseconds for each.
#[test]
fn a_target_that_cannot_follow_the_times_is_warned_of() {
    let place = Place::new();
    place.write("a.csv", mixture(4000));
    let command = "trace play a.csv --on model:barracuda --addresses compact --compare";
    let told = place.nandle(&format!("{command} --report page.html")).done().fits_80_columns().stdout;
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "! The target can't keep up with these times",
        "--timing closed:16",
        "--timing rate:",
        "of a backlog",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let page = String::from_utf8(place.read("page.html")).unwrap();
    assert!(page.contains("keep up with these times"));
    let json = place.nandle(&format!("{command} --json")).done().json();
    let behind = &json["fell_behind"];
    assert!(behind["by_target"] == true && behind["behind_ns"].as_u64().unwrap() > 1_000_000_000, "{behind}");
    let says = behind["says"].as_str().unwrap();
    let rate = says.split("rate:").nth(1).and_then(|text| text.split(')').next()).unwrap();
    let slower = place.nandle(&format!("{command} --timing rate:{rate} --json")).done().json();
    assert_eq!(slower["fell_behind"], Value::Null, "at the rate that it names: {}", slower["fell_behind"]);
    let closed = place.nandle(&format!("{command} --timing closed:16 --json")).done().json();
    assert_eq!(closed["fell_behind"], Value::Null);
}

#[test]
fn the_terminal_has_both_distributions_and_what_they_differ_by() {
    let place = Place::new();
    let trace = place.path("disk.trace");
    std::fs::copy(measured("barracuda"), trace).unwrap();
    let command = "trace play disk.trace --on model:barracuda --timing think --compare --report disk.html";
    let told = place.nandle(command).done().says(&["report: disk.html"]).fits_80_columns().stdout;
    for part in
        ["all, in the trace", "all, played", "Demerit of all: ", "Demerit of reads: ", "10 000 requests"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let page = String::from_utf8(place.read("disk.html")).unwrap();
    for part in ["Trace, played", "model:barracuda", "recorded in the trace", "The distributions differ by"] {
        assert!(page.contains(part), "{part}");
    }
    let hint = place.nandle("trace play disk.trace --on model:barracuda --requests 100").done().stdout;
    assert!(hint.contains("--timing think plays it"), "{hint}");
}

#[test]
fn each_timing_is_kept_on_a_real_directory() {
    let place = Place::new();
    place.write("a.csv", mixture(400));
    for timing in ["asis", "think", "closed:4", "rate:5000"] {
        let command = format!("trace play a.csv --on . --timing {timing} --compare --json");
        let outcome = place.nandle(&command).done().says(&["the trace writes", "a test file of 8MiB"]);
        let json = outcome.json();
        assert_eq!(
            (&kind(&json, "read")["requests"], &kind(&json, "sync")["requests"]),
            (&200.into(), &100.into())
        );
        assert_eq!(json["operations"][0]["failed_requests"], 0, "{timing}");
        assert_eq!(json["comparison"][0]["recorded_ns"]["max"], 106_000);
        let has_schedule = !json["schedule"].is_null();
        assert_eq!(has_schedule, !timing.starts_with("closed"), "{timing}");
        if timing == "asis" {
            assert!(json["elapsed_ns"].as_u64().unwrap() >= 399 * 200_000, "not before its time: {json}");
        }
    }
    assert_eq!(place.names(), ["a.csv"], "the test file is gone");
    place.nandle("trace play a.csv --on . --io threads --buffered").done().fits_80_columns();
}

#[test]
fn what_is_not_the_programs_own_is_read_and_never_written() {
    let place = Place::new();
    place.write("a.csv", mixture(400));
    let data = place.write_noise("data", 9 * MIB);
    place.nandle("trace play a.csv --on data").refused(2, &["data", "--overwrite"]);
    let json = place.nandle("trace play a.csv --on data --reads-only --timing closed:2 --json").done().json();
    assert_eq!((json["operations"].as_array().unwrap().len(), &json["reads_only"]), (2, &true.into()));
    assert_eq!(kind(&json, "read")["requests"], 200);
    assert_eq!(place.read("data"), data);
    place.nandle("trace play a.csv --on data --overwrite --timing closed:2").done();
    assert_ne!(place.read("data"), data);
}

#[test]
fn addresses_beyond_the_target_are_refused_compacted_or_folded() {
    let place = Place::new();
    let far = "time_us,op,address,length\n0,write,0,4096\n100,read,3298534883328,4096\n200,write,1099511627776,8192\n";
    place.write("far.csv", far);
    place.write_noise("data", 8 * MIB);
    let command = "trace play far.csv --on data --overwrite";
    place.nandle(command).refused(2, &["3.0TiB", "8MiB", "--addresses compact", "needs 3MiB", "--wrap"]);
    let json = place.nandle(&format!("{command} --addresses compact --json")).done().json();
    assert_eq!((&json["addresses"]["area_count"], &json["folded_requests"]), (&3.into(), &0.into()));
    let json = place.nandle(&format!("{command} --wrap --json")).done().json();
    assert_eq!((&json["folded_requests"], &json["operations"][0]["requests"]), (&2.into(), &3.into()));
    assert!(json["remarks"].to_string().contains("folded back"), "{}", json["remarks"]);
    let small = place.nandle("trace play far.csv --on . --wrap --file-size 2MiB --json").done().json();
    assert_eq!(small["folded_requests"], 2);
    let grown = "time_us,op,address,length\n0,read,25769803776,4096\n";
    place.write("grown.csv", grown);
    let json = place.nandle("trace play grown.csv --on model:mtron-16 --json").done().json();
    assert!(json["enlarged_to_bytes"].as_u64().unwrap() >= 25_769_807_872, "{json}");
}

#[test]
fn requests_of_odd_places_and_lengths_are_widened_and_cut() {
    let place = Place::new();
    let odd = "time_us,op,address,length\n0,write,100,200\n1,read,1000,9000000\n2,discard,5000,400\n3,discard,0,16384\n";
    place.write("odd.csv", odd);
    let json = place.nandle("trace play odd.csv --on model:nvme-tlc --json").done().json();
    assert_eq!((&json["widened_requests"], &json["cut_requests"]), (&2.into(), &1.into()));
    assert_eq!((&json["passed_over_requests"], &json["operations"][0]["requests"]), (&1.into(), &3.into()));
}

#[test]
fn requests_that_fail_are_counted_and_said_and_the_program_fails() {
    let place = Place::new();
    place.write("a.csv", mixture(400));
    place.write("bad.toml", "seed = 7\n[[fault]]\nkind = \"failed-read\"\nper_million = 20000\n");
    let outcome = place.nandle("trace play a.csv --on model:nvme-tlc:faults=bad.toml --json");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let json = outcome.json();
    let failed = json["operations"][0]["failed_requests"].as_u64().unwrap();
    assert!((10..190).contains(&failed), "{failed}");
    assert_eq!(json["operations"][0]["requests"].as_u64().unwrap() + failed, 400);
    outcome.says(&[&format!("{failed} of 400 requests failed"), "read of"]);
    place.write("worst.toml", "[[fault]]\nkind = \"failed-read\"\nper_million = 1000000\n");
    place
        .nandle("trace play a.csv --on model:nvme-tlc:faults=worst.toml --reads-only")
        .refused(1, &["every request failed (200)"]);
}

#[test]
fn an_interruption_ends_a_pause_and_leaves_nothing() {
    let place = Place::new();
    place.write("a.csv", "time_us,op,address,length\n0,write,0,4096\n3600000000,read,0,4096\n");
    for io in ["auto", "threads"] {
        let running = place.start(&format!("trace play a.csv --on . --file-size 8MiB --io {io}"));
        running.wait_until_written(8 * MIB);
        std::thread::sleep(std::time::Duration::from_millis(500));
        running.end_after(Signal::INT).refused(130, &["interrupted", "no partial results"]);
        assert_eq!(place.names(), ["a.csv"], "{io}");
    }
}

#[test]
fn what_can_not_be_played_is_refused_with_what_to_do() {
    let place = Place::new();
    let refused = |arguments: &str, code, parts: &[&str]| {
        place.nandle(&format!("trace play {arguments}")).refused(code, parts);
    };
    place.write("plain.csv", "time_us,op,address,length\n5,write,0,4096\n9,sync,0,0\n");
    place.write("empty.csv", "time_us,op,address,length\n");
    place.write("bad.trace", "R Hit 1 1 1.0 1.0\nR Hit x 1 1.0 1.0\n");
    place.write(
        "end.csv",
        "time_us,op,address,length\n18446744073709551615,read,9223372036854767616,4096\n0,read,0,4096\n",
    );
    let on = "--on model:nvme-tlc";
    refused(&format!("- {on}"), 2, &["standard input", "convert"]);
    refused(&format!("empty.csv {on}"), 2, &["nothing to play"]);
    refused(&format!("plain.csv {on} --reads-only"), 2, &["nothing to play"]);
    refused(&format!("plain.csv {on} --timing think"), 2, &["0 for 2 requests", "closed:N"]);
    refused(&format!("plain.csv {on} --compare"), 2, &["--compare", "latency_ns"]);
    refused(&format!("plain.csv {on} --timing closed:0"), 2, &["closed:N"]);
    refused(&format!("plain.csv {on} --timing rate:-1"), 2, &["rate:R"]);
    refused(&format!("plain.csv {on} --requests 0"), 2, &["at least 1"]);
    refused("plain.csv --on nowhere", 2, &["nowhere"]);
    refused(&format!("none.csv {on}"), 1, &["none.csv"]);
    refused(&format!("bad.trace {on}"), 1, &["line 2", "the first sector", "--skip-bad"]);
    refused(&format!("end.csv {on}"), 2, &["--wrap"]);
    place.nandle(&format!("trace play end.csv {on} --wrap --timing closed:1")).done();
    let json = place.nandle(&format!("trace play bad.trace {on} --skip-bad --json")).done().json();
    assert_eq!(json["bad_lines"], 1);
}
