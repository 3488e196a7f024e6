//! Time from the end of a cancelled query to the completion of its last request, for queries
//! cancelled at different times.
//!
//! `cargo run --release -p nandle-engine --example cancel -- FILE.parquet QUERY` prints a JSON
//! object for each; the table is called `data`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is a program")]

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nandle_engine::{Engine, EngineOptions, Source, WorldLayer};
use nandle_io::{Completion, Io, Nanos, Wait};
use nandle_reads::{Estimate, Pricing, ReadCosts, RequestCost};

/// Times at which queries are cancelled, in milliseconds.
const ENDED_AFTER_MS: [u64; 6] = [1, 5, 20, 50, 100, 300];

/// Time of the last completed request, and number of requests.
#[derive(Debug)]
struct Seen {
    last: Mutex<Instant>,
    requests: AtomicU64,
}

struct Watched {
    io: Box<dyn Io>,
    seen: Arc<Seen>,
}

impl Io for Watched {
    nandle_io::forward_io!(io: devices submit in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.io.reap(wait, into);
        if into.len() > before {
            *self.seen.last.lock().unwrap() = Instant::now();
            self.seen.requests.fetch_add((into.len() - before) as u64, Ordering::Relaxed);
        }
    }
}

/// Costs of a drive that reads 1 GB/s, up to 16 requests at once.
fn costs() -> ReadCosts {
    let cost = |request_bytes: u64, depth: u32| {
        let seconds = (100e-6 / f64::from(depth)).max(request_bytes as f64 / 1e9);
        RequestCost { request_bytes, depth, seconds: Estimate::exact(seconds) }
    };
    ReadCosts {
        logical_block_bytes: 512,
        largest_request_bytes: 256 << 10,
        random: (12..=18).flat_map(|power| [1, 16].map(|depth| cost(1 << power, depth))).collect(),
        sequential: Vec::new(),
        batches: Vec::new(),
        sequences: Vec::new(),
        price_error: 0.0,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (file, query) = (arguments.next().unwrap(), arguments.next().unwrap());
    let seen = Arc::new(Seen { last: Mutex::new(Instant::now()), requests: AtomicU64::new(0) });
    let watched = Arc::clone(&seen);
    let layer = WorldLayer(Arc::new(move |io| Box::new(Watched { io, seen: Arc::clone(&watched) })));
    let engine = Engine::new(&EngineOptions {
        memory_bytes: 1 << 30,
        spill_directory: std::env::temp_dir(),
        spill_limit_bytes: 1 << 30,
        threads: NonZeroUsize::new(2).unwrap(),
        thread_clock: || Nanos::ZERO,
        world_layer: Some(layer),
        queries: NonZeroUsize::MIN,
    })
    .unwrap();
    engine
        .add_table(&Source::find(&format!("data={file}")).unwrap(), &Pricing::new(costs()).unwrap())
        .unwrap();
    let statement = engine.parse(&query).unwrap().remove(0).unwrap();
    for ended_after_ms in ENDED_AFTER_MS {
        let mut rows = engine.run(&statement).unwrap();
        let began = Instant::now();
        let is_over = || began.elapsed() >= Duration::from_millis(ended_after_ms);
        while let Ok(Some(_)) = rows.next_batch(&is_over) {
            if is_over() {
                break;
            }
        }
        drop(rows);
        let (ended, before) = (Instant::now(), seen.requests.load(Ordering::Relaxed));
        // Requests in flight complete within a second, or never.
        std::thread::sleep(Duration::from_secs(1));
        let after = seen.requests.load(Ordering::Relaxed) - before;
        let last = seen.last.lock().unwrap().saturating_duration_since(ended);
        let (late_ms, stopped_ms) =
            ((ended - began).as_secs_f64() * 1e3 - ended_after_ms as f64, last.as_secs_f64() * 1e3);
        println!(
            r#"{{"ended_after_ms":{ended_after_ms},"returned_late_ms":{late_ms:.1},"requests_completed_after":{after},"last_completed_after_ms":{stopped_ms:.1}}}"#
        );
    }
}
