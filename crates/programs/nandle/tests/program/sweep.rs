use serde_json::Value;

use crate::common::{MIB, ONE_CELL, Place};

const COLUMNS: &str = "target,backend,direct,file_bytes,load,pattern,operation,block_bytes,group_blocks,queue_depth,requests,\
                       bytes,elapsed_ns,bandwidth_bytes_per_s,iops,latency_mean_ns,latency_p50_ns,latency_p90_ns,\
                       latency_p99_ns,latency_p999_ns,latency_max_ns,cpu_ns_per_request,mean_outstanding,errors,\
                       schedule_lag_p99_ns,unsent";

#[test]
fn csv_has_one_cell_a_row_in_the_order_of_the_plan() {
    let place = Place::new();
    let sweep = "sweep . --file-size 8MiB --block-sizes 4KiB,64KiB --group-sizes 1,4 --queue-depths 1,4 \
                 --patterns random,sequential --bytes-per-run 256KiB";
    let outcome = place.nandle(sweep).done();
    assert_eq!(outcome.stdout.lines().next().unwrap(), COLUMNS);
    let cells: Vec<_> =
        outcome.rows().iter().map(|row| row.iter().skip(5).take(5).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        cells,
        [
            "random read 4096 1 1",
            "random read 4096 1 4",
            "random read 4096 4 1",
            "random read 4096 4 4",
            "random read 65536 1 1",
            "random read 65536 1 4",
            "random read 65536 4 1",
            "random read 65536 4 4",
            "sequential read 4096 1 1",
            "sequential read 4096 1 4",
            "sequential read 65536 1 1",
            "sequential read 65536 1 4",
        ]
    );
    for row in outcome.rows() {
        assert_eq!(
            (&row[0], &row[3], &row[11], &row[23]),
            (place.name().as_str(), "8388608", "262144", "0"),
            "{row:?}"
        );
    }
    assert_eq!(outcome.stderr, "", "nothing to say beside the result");
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn json_is_as_specified() {
    let place = Place::new();
    let file = place.nandle(&format!("sweep . {ONE_CELL} --json")).done().json();
    assert_eq!(file["schema_version"], 1);
    assert_eq!(
        (&file["target"], &file["complete"], &file["file_bytes"]),
        (&place.name().into(), &true.into(), &(4 * MIB).into())
    );
    assert!(["io_uring", "threads"].contains(&file["backend"]["io"].as_str().unwrap()));
    let cell = &file["cells"][0];
    assert_eq!((&cell["pattern"], &cell["operation"]), (&"random".into(), &"read".into()));
    assert_eq!((&cell["requests"], &cell["bytes"]), (&64.into(), &(256 << 10).into()));
    let number = |key: &str| cell[key].as_f64().unwrap_or_else(|| panic!("{key} in {cell}"));
    let seconds = number("elapsed_ns") / 1e9;
    assert!((number("bandwidth_bytes_per_s") * seconds - 262_144.0).abs() < 1.0);
    assert!((number("iops") * seconds - 64.0).abs() < 0.01);
    assert!(number("cpu_ns_per_request") > 0.0);
    let latency = &cell["latency_ns"];
    for figure in ["mean", "p50", "p90", "p99", "p999", "max"] {
        assert!(latency.get(figure).is_some(), "{figure} in {latency}");
    }
    assert_eq!(latency["p99"], Value::Null, "64 requests don't tell the 99th percentile");
    assert!(latency["p50"].as_f64() <= latency["max"].as_f64());
}

#[test]
fn every_pattern_runs_and_reads_what_was_written() {
    let place = Place::new();
    let patterns = "random,sequential,focused:1MiB,partitioned:8,ordered:2,ordered:-1,ordered:0,zipf:0.8";
    let sweep =
        format!("sweep . --file-size 8MiB --patterns {patterns} --block-sizes 16KiB --queue-depths 4");
    let outcome = place.nandle(&format!("{sweep} --bytes-per-run 512KiB --format table")).done();
    let (heading, cells) = outcome.stdout.split_once("CPU/req").unwrap();
    assert!(heading.contains("read, ") && heading.contains("8MiB"), "{heading}");
    for (pattern, line) in patterns.split(',').zip(cells.lines().skip(1)) {
        assert!(line.trim_start().starts_with(pattern), "{pattern}: {line}");
        assert!(!line.contains("error"), "{line}");
    }
    outcome.fits_80_columns();
}

#[test]
fn every_operation_runs() {
    let place = Place::new();
    for operation in ["read", "write", "mixed:70", "mixed:0", "mixed:100"] {
        let file = place.nandle(&format!("sweep . {ONE_CELL} --operation {operation} --json")).done().json();
        assert_eq!(file["cells"][0]["operation"], operation);
        assert_eq!(file["cells"][0]["bytes"], 256 << 10);
    }
}

#[test]
fn cells_with_too_much_outstanding_are_skipped_with_the_reason() {
    let place = Place::new();
    let sweep = "sweep . --file-size 8MiB --patterns random --block-sizes 4KiB,1MiB --queue-depths 1,8 \
                 --bytes-per-run 1MiB --outstanding-max 2MiB";
    let file = place.nandle(&format!("{sweep} --json")).done().json();
    assert_eq!((file["cells"].as_array().unwrap().len(), file["skipped"].as_array().unwrap().len()), (3, 1));
    let skipped = &file["skipped"][0];
    assert_eq!((&skipped["block_bytes"], &skipped["queue_depth"]), (&MIB.into(), &8.into()));
    let reason = skipped["reason"].as_str().unwrap();
    assert!(
        reason.contains("8MiB") && reason.contains("2MiB") && reason.contains("--outstanding-max"),
        "{reason}"
    );
    let outcome = place.nandle(sweep).done().says(&["skipped random 1MiB", "depth 8", "--outstanding-max"]);
    assert_eq!(outcome.rows().len(), 3);
}

#[test]
fn a_queue_deeper_than_the_world_is_skipped_and_the_rest_is_run() {
    let place = Place::new();
    let sweep = "sweep . --file-size 2MiB --patterns random --block-sizes 512 --queue-depths 100000,1 \
                 --bytes-per-run 64KiB --io io_uring --json";
    let outcome = place.nandle(sweep);
    if outcome.code == Some(1) && outcome.stderr.contains("io_uring is refused") {
        return crate::common::skip("io_uring is refused here");
    }
    let file = outcome.done().json();
    assert_eq!((file["cells"].as_array().unwrap().len(), file["skipped"].as_array().unwrap().len()), (1, 1));
    assert!(file["skipped"][0]["reason"].as_str().unwrap().contains("request slots"), "{file}");
}

#[test]
fn how_requests_went_is_as_asked() {
    let place = Place::new();
    for (asked, called) in [("threads", "threads"), ("io_uring", "io_uring"), ("uring", "io_uring")] {
        let outcome = place.nandle(&format!("sweep . {ONE_CELL} --json --io {asked}"));
        if outcome.stderr.contains("io_uring is refused") {
            outcome.refused(1, &["io_uring", "leave out --io"]);
            continue;
        }
        assert_eq!(outcome.done().json()["backend"]["io"], called);
    }
    place.nandle(&format!("sweep . {ONE_CELL} --io aio")).refused(2, &["aio", "io_uring", "threads"]);
}

#[test]
fn buffered_is_said_with_the_reason() {
    let place = Place::new();
    let sweep = format!("sweep . {ONE_CELL} --buffered");
    let outcome = place.nandle(&sweep).done().says(&["no direct I/O: buffered I/O was asked for"]);
    assert_eq!(&outcome.rows()[0][2], "false");
    let file = place.nandle(&format!("{sweep} --json")).done().json();
    assert_eq!(file["backend"]["direct"], false);
    assert!(file["backend"]["stepped_down"].to_string().contains("was asked for"), "{file}");
    place.nandle("probe . --buffered --budget 1s --file-size 4MiB").done();
    assert_eq!(place.json("profile.json")["backend"]["direct"], false);
}

#[test]
fn memory_is_no_disk_and_says_so() {
    let Some(place) = Place::in_memory() else {
        return crate::common::skip("there is no /dev/shm to write to");
    };
    let outcome = place.nandle(&format!("sweep . {ONE_CELL}")).done();
    outcome.says(&["no direct I/O", "tmpfs holds its files in memory"]);
    let outcome = place.nandle("probe . --budget 1s --file-size 4MiB").done();
    assert!(
        outcome.stdout.contains("BUFFERED I/O") && outcome.stdout.contains("tmpfs"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn an_array_of_directories_is_swept_like_one() {
    let place = Place::new();
    for array in ["raid0:64KiB:.,.", "raid10:64KiB:.*4"] {
        for operation in ["read", "write"] {
            let sweep = format!("sweep {array} {ONE_CELL} --operation {operation} --json");
            let file = place.nandle(&sweep).done().json();
            assert_eq!((&file["target"], &file["cells"][0]["bytes"]), (&array.into(), &(256 << 10).into()));
            assert_eq!(file["cells"][0]["errors"], 0);
        }
    }
    assert_eq!(place.names(), [""; 0]);
}

#[test]
fn a_sweep_that_measured_nothing_has_failed() {
    let place = Place::new();
    let outcome =
        place.nandle("sweep model:x25-m-g2 --block-sizes 1M --queue-depths 64,32 --outstanding-max 1M");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    outcome.says(&["no cell was measured", "all 4 were skipped", "--outstanding-max"]);
}

#[test]
fn a_value_that_is_given_twice_is_run_once() {
    let place = Place::new();
    let sweep = "sweep model:x25-m-g2 --block-sizes 4K,4KiB,8K --queue-depths 1,1 --group-sizes 2,2 \
                 --patterns random,random --bytes-per-run 1MiB --json";
    let cells = place.nandle(sweep).done().json();
    assert_eq!(cells["cells"].as_array().unwrap().len(), 2);
}

#[test]
fn a_schedule_has_no_refill() {
    let place = Place::new();
    place.nandle("sweep model:x25-m-g2 --rate 100 --refill batched").refused(2, &["--refill", "--rate"]);
}
