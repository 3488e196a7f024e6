//! Refusals by workers, and refusals of workers.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use nandle_columns::{Clustering, Layout, Table, TableOptions};
use nandle_distributed::{WorkerOptions, WorkerServer};
use nandle_engine::{Engine, EngineOptions};
use nandle_io::Nanos;
use nandle_reads::{Estimate, ReadCosts, RequestCost};

use super::data::{copy, place, write_lines};
use super::fleet::{self, Worker, urls};

const SUM: &str = "SELECT sum(l_price) FROM lines";

#[test]
fn files_of_other_sizes_are_refused_by_name() {
    let place = place();
    copy(&place.path("lines"), &place.path("copy/lines"));
    let workers = [Worker::start(&place, &["copy/lines"]), Worker::start(&place, &["lines"])];
    let urls = urls(&workers);
    let query = ["lines", "-c", SUM, "--format", "csv", "--workers", &urls, "--distribute-above", "0ms"];
    let alone = place.done(&["lines", "-c", SUM, "--format", "csv"]);
    assert_eq!(place.done(&query), alone, "a copy is the same data");
    write_lines(&place, 1, 1000, "copy/lines/4.parquet");
    let other = place.refused(1, &query);
    let bytes = |directory: &str| {
        let files = std::fs::read_dir(place.path(directory)).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>().to_string()
    };
    for part in [&*workers[0].url, "`lines`", "5 files of", &bytes("lines"), &bytes("copy/lines")] {
        assert!(other.contains(part), "{part:?} is missing in {other}");
    }
    std::fs::copy(place.path("lines/4.parquet"), place.path("copy/lines/4.parquet")).unwrap();
    assert_eq!(place.done(&query), alone, "it is the same again");
}

#[test]
fn files_of_equal_sizes_under_other_names_are_refused() {
    let place = place();
    for directory in ["numbers", "copy/numbers"] {
        std::fs::create_dir_all(place.path(directory)).unwrap();
    }
    for (first, name, swapped) in [(1, "a", "b"), (1001, "b", "a")] {
        let rows = format!("SELECT value AS id FROM generate_series({first}, {})", first + 999);
        let written = place.run(&["-c", &rows, "--format", "parquet"]).stdout;
        std::fs::write(place.path(&format!("numbers/{name}.parquet")), &written).unwrap();
        std::fs::write(place.path(&format!("copy/numbers/{swapped}.parquet")), written).unwrap();
    }
    let length = |name: &str| std::fs::metadata(place.path(name)).unwrap().len();
    assert_eq!(length("numbers/a.parquet"), length("numbers/b.parquet"));
    let workers = [Worker::start(&place, &["copy/numbers"]), Worker::start(&place, &["numbers"])];
    let urls = urls(&workers);
    let sum = "SELECT sum(id), count(id) FROM numbers WHERE id > 0";
    let query = ["numbers", "-c", sum, "--format", "csv", "--workers", &urls, "--distribute-above", "0ms"];
    let other = place.refused(1, &query);
    for part in [&*workers[0].url, "`numbers`", "2 files of", "footers"] {
        assert!(other.contains(part), "{part:?} is missing in {other}");
    }
    let own = ["--workers", &workers[1].url, "--distribute-above", "0ms"];
    assert!(place.done(&[&query[..5], &own].concat()).ends_with("\n2001000,2000\n"));
}

fn load(table: &Table, first: i64) {
    let ids: ArrayRef = Arc::new((first..first + 4000).collect::<Int64Array>());
    let rows = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut writer = table.load().unwrap();
    writer.write(&rows).unwrap();
    writer.commit().unwrap();
}

#[test]
fn another_snapshot_is_refused_and_both_are_named() {
    let place = place();
    let layout = Layout { page_bytes: 2048, row_group_rows: 1000, file_rows: 2500, ..Layout::default() };
    let schema = Arc::new(Schema::new(vec![Field::new("id", DataType::Int64, false)]));
    let options = TableOptions { layout, clustering: Clustering::None, ..TableOptions::new(schema, 0xabc) };
    let table = Table::create(&place.path("numbers"), &options).unwrap();
    load(&table, 0);
    copy(&place.path("numbers"), &place.path("copy/numbers"));
    let workers = [Worker::start(&place, &["copy/numbers"]), Worker::start(&place, &["numbers"])];
    let urls = urls(&workers);
    let sum = "SELECT sum(id), count(id) FROM numbers WHERE id > 0";
    let query = ["numbers", "-c", sum, "--format", "csv", "--workers", &urls, "--distribute-above", "0ms"];
    assert!(place.done(&query).contains("\n7998000,3999\n"));
    load(&table, 4000);
    let other = place.refused(1, &query);
    for part in [&*workers[0].url, "snapshot 3", "snapshot 2", "0000000000000abc"] {
        assert!(other.contains(part), "{part:?} is missing in {other}");
    }
    let own = ["--workers", &workers[1].url, "--distribute-above", "0ms"];
    let newer = place.done(&[&query[..5], &own].concat());
    assert!(newer.contains("\n31996000,7999\n"), "the worker whose table it is opens it again: {newer}");
}

#[test]
fn what_is_no_worker_is_named() {
    let place = place();
    let workers = fleet::start(&place, &["orders"], 2);
    let (these, above) = (urls(&workers), ["--distribute-above", "0ms"]);
    let other = place.refused(1, &[&["lines", "-c", SUM, "--workers", &these], &above[..]].concat());
    assert!(other.contains("`lines`") || other.contains("lines: no such table"), "{other}");
    assert!(other.contains("orders"), "{other}");
    let with_absent = format!("{},http://127.0.0.1:1", workers[0].url);
    let absent = place.refused(1, &["orders", "-c", "SELECT 1", "--workers", &with_absent]);
    assert!(absent.contains("http://127.0.0.1:1") && absent.contains("refused"), "{absent}");
    let query = ["orders", "-c", "SELECT sum(o_id) FROM orders", "--format", "csv"];
    let goes_on = place.done(&[&query[..], &["--workers", &with_absent, "--retry"], &above].concat());
    assert_eq!(goes_on, place.done(&query));
    assert!(
        place
            .refused(2, &["orders", "-c", "SELECT 1", "--workers", "127.0.0.1:99"])
            .contains("http://HOST:PORT")
    );
    assert!(place.refused(2, &["orders", "-c", "SELECT 1", "--retry"]).contains("--workers"));
}

fn costs() -> ReadCosts {
    let request = RequestCost { request_bytes: 4096, depth: 1, seconds: Estimate::exact(1e-4) };
    ReadCosts {
        logical_block_bytes: 512,
        largest_request_bytes: 4096,
        random: vec![request],
        sequential: Vec::new(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    }
}

#[test]
fn another_version_is_refused_and_both_are_named() {
    let place = place();
    let options = WorkerOptions {
        listen: "127.0.0.1:0".parse().unwrap(),
        version: "0.0.9".to_owned(),
        secret: None,
        keys: None,
        authorities: None,
    };
    let server = WorkerServer::listen(options).unwrap();
    let url = server.url();
    let options = EngineOptions {
        memory_bytes: 16 << 20,
        spill_directory: place.root().to_owned(),
        spill_limit_bytes: 0,
        threads: NonZeroUsize::MIN,
        thread_clock: || Nanos::ZERO,
        queries: NonZeroUsize::MIN,
        world_layer: None,
    };
    let host = Engine::new(&options).unwrap().into_host();
    let is_over = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_over);
    let serving = std::thread::spawn(move || server.serve(host, &costs(), &|| asked.load(Ordering::Relaxed)));
    let said = place.refused(1, &["lines", "-c", SUM, "--workers", &url]);
    is_over.store(true, Ordering::Relaxed);
    serving.join().unwrap().unwrap();
    for part in [&*url, "version 0.0.9", &format!("version {}", env!("CARGO_PKG_VERSION"))] {
        assert!(said.contains(part), "{part:?} is missing in {said}");
    }
}
