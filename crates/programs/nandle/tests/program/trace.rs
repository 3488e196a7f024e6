use std::fs::File;
use std::process::Command;

use serde_json::Value;

use crate::common::Place;

const OURS: &str = "time_us,op,address,length\n1,write,0,8192\n2,write,8192,4096\n3,sync,0,0\n4,write,0,4096\n5,read,0,512\n";

#[test]
fn a_trace_is_described_on_a_terminal_and_for_machines() {
    let place = Place::new();
    place.write("a.csv", OURS);
    let told = place.nandle("trace stat a.csv").done().fits_80_columns().stdout;
    assert!(told.contains("4 writes of 4KiB to 3 pages"), "{told}");
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("It reads and writes (25 % are reads). About 3 writes share a sync."), "{words}");
    assert!(words.contains("nandle replay a.csv --on model:nvme-tlc"), "{words}");
    assert!(words.contains("nandle trace play a.csv --on model:nvme-tlc --addresses compact"), "{words}");
    let narrow = place.command("trace stat a.csv").env("COLUMNS", "40").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(narrow.contains("a buffer of 64 pages:") || narrow.contains("a buffer of"), "{narrow}");
    let tables = narrow.lines().filter(|line| !line.starts_with("  nandle"));
    assert!(tables.clone().all(|line| line.chars().count() <= 60), "{narrow}");
    let json = place.nandle("trace stat a.csv --json").done().json();
    assert_eq!((&json["writes"], &json["reads"], &json["syncs"]), (&3.into(), &1.into(), &1.into()));
    assert_eq!((&json["format"], &json["page_bytes"]), (&"csv".into(), &4096.into()));
    assert_eq!(json["runs"][0]["rewritten"], 0.25);
    let limited = place.nandle("trace stat a.csv --limit 1 --page 8K --json").done().json();
    assert_eq!((&limited["pages_written"], &limited["syncs"]), (&1.into(), &0.into()));
}

#[test]
fn how_long_requests_took_is_said_where_the_trace_tells() {
    let place = Place::new();
    let lines = (1..=2000).map(|n| format!("{n},write,{},4096,{}\n", n * 4096, n * 1000));
    let trace =
        format!("time_us,op,address,length,latency_ns\n{}2001,read,0,4096,7000\n", lines.collect::<String>());
    place.write("a.csv", trace);
    let told = place.nandle("trace stat a.csv").done().fits_80_columns().stdout;
    for part in [
        "writes: mean 1.00 ms, p50 1.00 ms, p99 1.98 ms, longest 2.00 ms",
        "reads: mean 7.00 us, longest 7.00 us",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = place.nandle("trace stat a.csv --json").done().json();
    assert_eq!(
        (&json["write_latency"]["requests"], &json["read_latency"]["p50_ns"]),
        (&2000.into(), &Value::Null)
    );
    assert_eq!(json["sync_latency"], Value::Null);
}

#[test]
fn a_kernel_trace_goes_through_a_pipe_into_a_compressed_file_and_on_to_fio() {
    let place = Place::new();
    let line = |second: u32, sector: u32| {
        format!("  dd 9 [000] {second}.5: block:block_rq_issue: 8,0 WS 4096 () {sector} + 8 0x2,0,4 [dd]\n")
    };
    let input = place.write("perf.txt", [line(7, 16), line(8, 800)].concat());
    let mut command = place.command("trace convert - a.csv.zst --json");
    command.stdin(File::open(input).unwrap());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    place.nandle("trace convert a.csv.zst a.iolog --to fio-iolog --file /dev/null").done();
    let log = String::from_utf8(place.read("a.iolog")).unwrap();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("write")).collect();
    assert_eq!(lines, ["0 /dev/null write 8192 4096", "1000000 /dev/null write 409600 4096"]);
}

/// Either program reads the other's traces.
#[test]
fn fio_and_we_understand_each_other() {
    let place = Place::new();
    let fio = |arguments: &str| place_fio(&place, arguments);
    let data = place.path("data").display().to_string();
    let Some(()) = fio(&format!(
        "--name=a --filename={data} --size=1m --rw=randwrite --bs=4k --number_ios=9 --fsync=3 --write_iolog=fio.log"
    )) else {
        return crate::common::skip("fio is not installed");
    };
    let told = place.nandle("trace stat fio.log --json").done().json();
    assert_eq!((&told["writes"], &told["format"]), (&9.into(), &"fio-iolog".into()));
    assert!(told["syncs"].as_u64().unwrap() >= 2, "{told}");
    place.nandle(&format!("trace convert fio.log ours.log --to fio-iolog --file {data}")).done();
    fio("--name=a --read_iolog=ours.log --replay_no_stall=1").unwrap();
}

fn place_fio(place: &Place, arguments: &str) -> Option<()> {
    let mut fio: Command = place.command_of(&["fio".to_owned()], arguments);
    let output = fio.output().ok()?;
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    Some(())
}

#[test]
fn bad_traces_are_refused_and_leave_nothing_behind() {
    let place = Place::new();
    place.write("bad.csv", format!("{OURS}6,write,nowhere,1\n"));
    place.write("cat.png", b"\x89PNG\r\n");
    place.nandle("trace stat bad.csv").refused(1, &["bad.csv, line 7", "nowhere", "--skip-bad"]);
    place.nandle("trace convert bad.csv out.csv").refused(1, &["line 7"]);
    assert_eq!(place.names(), ["bad.csv", "cat.png"]);
    let told = place.nandle("trace stat bad.csv --skip-bad --json").done().json();
    assert_eq!((&told["bad_lines"], &told["writes"]), (&1.into(), &3.into()));
    place.nandle("trace stat cat.png").refused(1, &["no known trace format", "--format"]);
    place.write_noise("noise", 1 << 16);
    let refused = place.nandle("trace stat noise").refused(1, &["no known trace format", "…"]);
    assert!(refused.stderr.chars().count() < 500, "{}", refused.stderr);
    place.nandle("trace stat none.csv").refused(1, &["none.csv"]);
    place.nandle("trace stat bad.csv --page 5000").refused(2, &["power of two"]);
    place.nandle("trace stat bad.csv --page x").refused(2, &["512B to 1MiB"]);
    place.nandle("trace stat bad.csv --limit 0").refused(2, &["--limit", "at least 1"]);
    place.nandle("trace convert bad.csv out.csv --to msr").refused(2, &["csv, fio-iolog]"]);
    place.nandle("trace convert bad.csv cat.png").refused(2, &["cat.png", "there already", "remove it"]);
    place.nandle("trace convert bad.csv none/out.csv").refused(2, &["none/out.csv", "no directory"]);
    assert_eq!(place.names(), ["bad.csv", "cat.png", "noise"]);
}

#[test]
fn a_trace_is_described_on_a_page() {
    let place = Place::new();
    place.write("a.csv", OURS);
    place.nandle("trace stat a.csv --report page.html").done();
    let page = String::from_utf8(place.read("page.html")).unwrap();
    for part in ["<!DOCTYPE html>", "a.csv", "rewritten"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_format_or_device_that_is_not_there_is_refused_by_every_command() {
    let place = Place::new();
    place.write("a.csv", OURS);
    place.write("hm.csv", "128166372003061629,hm,0,Write,0,4096,1\n");
    for command in ["trace stat TRACE", "trace convert TRACE b.csv", "replay TRACE --on model:x25-e-64"] {
        let refused = |trace: &str, options: &str, parts: &[&str]| {
            let command = command.replace("TRACE", trace);
            place.nandle(&format!("{command} {options}")).refused(2, parts);
        };
        refused("a.csv", "--format blkparse", &["a.csv looks like a CSV", "--format"]);
        refused("a.csv", "--device 8,0", &["names no devices", "--device"]);
        refused("hm.csv", "--device hm.1", &["no event of device hm.1", "it has hm.0"]);
    }
    assert_eq!(place.names(), ["a.csv", "hm.csv"]);
}

#[test]
fn a_page_that_the_writes_do_not_fit_is_said() {
    let place = Place::new();
    place.write("a.csv", "time_us,op,address,length\n1,write,0,8192\n2,write,8192,8192\n");
    let told = place.nandle("trace stat a.csv").done().fits_80_columns().stdout;
    assert!(told.contains("Most writes are of 8KiB") && told.contains("--page 8KiB"), "{told}");
    let told = place.nandle("trace stat a.csv --page 16K").done().stdout;
    assert!(told.contains("All 2 writes begin or end"), "{told}");
    let told = place.nandle("trace stat a.csv --page 8K").done().stdout;
    assert!(!told.contains('!') && told.contains("No page is written twice."), "{told}");
    assert_eq!(place.nandle("trace stat a.csv --json").done().json()["usual_write_bytes"], 8192);
}
