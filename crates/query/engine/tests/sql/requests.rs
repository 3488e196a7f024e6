//! Failed requests, and requests that are no longer sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nandle_engine::{Engine, EngineOptions, WorldLayer};
use nandle_io::{Cause, Completion, Io, IoError, Wait};

use crate::support::{Place, answer, figures, plan, set_reads, sorted, with_pages};

/// Counts read requests, and fails one of them.
#[derive(Debug, Default)]
struct Faults {
    completed: AtomicU64,
    fails: AtomicU64,
}

impl Faults {
    /// Fails the request with this number, counted from now; 0 for none.
    fn fail(&self, number: u64) {
        self.completed.store(0, Ordering::SeqCst);
        self.fails.store(number, Ordering::SeqCst);
    }

    fn layer(self: &Arc<Self>) -> WorldLayer {
        let faults = Arc::clone(self);
        WorldLayer(Arc::new(move |io| Box::new(Faulty { io, faults: Arc::clone(&faults) })))
    }
}

struct Faulty {
    io: Box<dyn Io>,
    faults: Arc<Faults>,
}

impl Io for Faulty {
    nandle_io::forward_io!(io: devices submit in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.io.reap(wait, into);
        for completion in &mut into[before..] {
            let number = self.faults.completed.fetch_add(1, Ordering::SeqCst) + 1;
            if number == self.faults.fails.load(Ordering::SeqCst) {
                completion.result = Err(IoError::new(&completion.operation, Cause::System(5)));
            }
        }
    }
}

fn faulty(place: &Place, faults: &Arc<Faults>) -> Engine {
    let options = EngineOptions { world_layer: Some(faults.layer()), ..place.options(64 << 20) };
    Engine::new(&options).unwrap()
}

#[test]
fn a_request_that_fails_is_named_whichever_it_is() {
    let place = Place::with_files();
    place.add_table("loaded");
    let faults = Arc::new(Faults::default());
    let engine = faulty(&place, &faults);
    for name in ["rows", "loaded"] {
        place.add(&engine, name).unwrap();
    }
    for query in [
        "SELECT airport, count(*), sum(amount), max(note) FROM rows GROUP BY airport",
        "SELECT a.id, b.note FROM rows a JOIN loaded b ON a.id = b.id WHERE a.amount > 20 ORDER BY b.note, a.id LIMIT 50",
    ] {
        faults.fail(0);
        let expected = sorted(&engine, query);
        let requests = faults.completed.load(Ordering::SeqCst);
        assert!(requests > 10, "{query}: {requests}");
        for number in 1..=requests {
            faults.fail(number);
            match answer(&engine, query) {
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("parquet") && text.contains("offset"), "{number}: {text}");
                }
                // A query may end before all its requests complete.
                Ok(mut rows) => {
                    rows.sort();
                    assert!(rows == expected, "{number}: {query}");
                }
            }
        }
        faults.fail(0);
        assert!(sorted(&engine, query) == expected, "an error leaves nothing behind");
    }
}

#[test]
fn a_footer_that_can_not_be_read_is_named() {
    let place = Place::new();
    place.write("rows.parquet", 0, 3000, &with_pages());
    let faults = Arc::new(Faults::default());
    faults.fail(1);
    let error = place.add(&faulty(&place, &faults), "rows.parquet").unwrap_err().to_string();
    assert!(error.contains("rows.parquet"), "{error}");
}

#[test]
fn what_a_join_rules_out_is_not_read() {
    let place = Place::new();
    place.write("many.parquet", 0, 40_000, &with_pages());
    place.write("few.parquet", 20_500, 20, &with_pages());
    let engine = place.engine(&["many.parquet", "few.parquet"]);
    let query = "SELECT count(*) AS n, sum(m.amount) AS s FROM few f JOIN many m ON f.id = m.id";
    let explained = plan(&engine, &format!("EXPLAIN ANALYZE {query}"));
    let requests = figures(&explained, "requests");
    let requests: Vec<u64> = requests.iter().map(|count| count.parse().unwrap()).collect();
    let (predicted, sent) = (requests.iter().step_by(2), requests.iter().skip(1).step_by(2));
    let (predicted, sent) = (predicted.max().unwrap(), sent.max().unwrap());
    assert!(sent * 4 < *predicted, "{sent} of {predicted}: {explained}");
    assert!(figures(&explained, "unplanned").iter().all(|count| *count == "0"), "{explained}");
    let planned = sorted(&engine, query);
    set_reads(&engine, "engine");
    assert_eq!(planned, sorted(&engine, query));
}

/// Runs a callback after a number of completed requests.
struct Happening {
    io: Box<dyn Io>,
    completed: Arc<AtomicU64>,
    happens: Arc<dyn Fn() + Send + Sync>,
}

const HAPPENS_AFTER: u64 = 4;

impl Io for Happening {
    nandle_io::forward_io!(io: devices submit in_flight slots now cpu_time charge_cpu timer_slack waker register backend counters);

    fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) {
        let before = into.len();
        self.io.reap(wait, into);
        for _ in before..into.len() {
            if self.completed.fetch_add(1, Ordering::SeqCst) + 1 == HAPPENS_AFTER {
                (self.happens)();
            }
        }
    }
}

#[test]
fn a_file_that_changes_while_it_is_read_is_an_error() {
    let place = Place::new();
    place.write("rows.parquet", 0, 40_000, &with_pages());
    let path = place.path("rows.parquet");
    let happens: Arc<dyn Fn() + Send + Sync> = Arc::new(move || {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    });
    let completed = Arc::new(AtomicU64::new(HAPPENS_AFTER));
    let layer = {
        let completed = Arc::clone(&completed);
        move |io| -> Box<dyn Io> {
            let (completed, happens) = (Arc::clone(&completed), Arc::clone(&happens));
            Box::new(Happening { io, completed, happens })
        }
    };
    let options = EngineOptions { world_layer: Some(WorldLayer(Arc::new(layer))), ..place.options(64 << 20) };
    let engine = Engine::new(&options).unwrap();
    place.add(&engine, "rows.parquet").unwrap();
    let query = "SELECT count(note) AS n, sum(amount) AS s FROM rows";
    let expected = answer(&engine, query).unwrap();
    completed.store(0, Ordering::SeqCst);
    let error = answer(&engine, query).unwrap_err().to_string();
    assert!(error.contains("rows.parquet") && error.contains("has changed"), "{error}");
    assert_eq!(answer(&engine, query).unwrap(), expected, "the next query opens it again");
}
