//! Request traces of three real disks, played on their models like `nandle trace play --timing
//! think --compare`, which defines the demerit.

use std::path::Path;

use nandle_io::Nanos;
use nandle_model::disk::{DiskParameters, MagneticDisk};
use nandle_model::library;
use nandle_model::world::{Host, ModelWorld, ModelledDevice};
use nandle_replay::play::{
    AddressMap, CompletedRequest, PlayAddresses, PlayOptions, PlayWatcher, RecordedComparison, Survey,
    Timing, play,
};
use nandle_trace::{Operation, ReadOptions, Reader, Record};

pub(crate) const SECTOR_BYTES: u64 = 512;

/// A drive of the library with its trace, and the demerit of the best published simulator.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) published_demerit_ms: f64,
}

pub(crate) const CASES: [Case; 3] = [
    Case { name: "cheetah-9lp", published_demerit_ms: 0.107 },
    Case { name: "barracuda", published_demerit_ms: 0.349 },
    Case { name: "atlas-iii", published_demerit_ms: 0.378 },
];

impl Case {
    pub(crate) fn parameters(&self) -> DiskParameters {
        library::disk(self.name).unwrap()
    }

    pub(crate) fn trace(&self) -> Vec<Record> {
        let path = format!("{}/tests/traces/{}.trace.zst", env!("CARGO_MANIFEST_DIR"), self.name);
        let reader = Reader::open(Path::new(&path), &ReadOptions::default()).unwrap();
        reader.collect::<Result<_, _>>().unwrap()
    }
}

/// The model's result for a trace.
pub(crate) struct Modelled {
    /// Response time of each request in milliseconds.
    pub(crate) response_ms: Vec<f64>,
    /// Comparison with the measured disk.
    pub(crate) compared: RecordedComparison,
}

impl Modelled {
    pub(crate) fn demerit_ms(&self) -> f64 {
        self.compared.demerit_ns / 1e6
    }
}

/// Plays a trace on a disk without host cost: one request at a time, with the trace's pauses.
pub(crate) fn play_on(parameters: &DiskParameters, trace: &[Record]) -> Modelled {
    let disk = MagneticDisk::new(parameters).unwrap();
    let (capacity_bytes, block_bytes) = (disk.capacity_bytes(), parameters.sector_bytes);
    let mut world = ModelWorld::new(Host { slots: 1, request_cpu: Nanos::ZERO });
    let device = world.add(ModelledDevice::new(Box::new(disk), capacity_bytes, block_bytes));
    let records = || trace.iter().copied().map(Ok);
    let survey = Survey::read(records()).unwrap();
    let options = PlayOptions {
        timing: Timing::Think,
        queue_depth: 1,
        places: AddressMap::new(&survey, PlayAddresses::Keep, (capacity_bytes, block_bytes), false).unwrap(),
        patience: Nanos::MAX,
        read_bytes: 0,
    };
    let mut noting = Noting(Vec::new());
    let played = play(&mut world, &device, records(), &options, &mut noting).unwrap();
    assert_eq!((played.failed(), played.requests()), (0, trace.len() as u64));
    Modelled { response_ms: noting.0, compared: played.comparison().swap_remove(0) }
}

/// Records the response time of each request.
struct Noting(Vec<f64>);

impl PlayWatcher for Noting {
    fn progress(&mut self, _requests: u64) {}

    fn is_cancelled(&self) -> bool {
        false
    }

    fn completed(&mut self, request: &CompletedRequest) {
        self.0.push(request.response.0 as f64 / 1e6);
    }
}

pub(crate) fn measured_ms(record: &Record) -> f64 {
    record.latency_ns.unwrap() as f64 / 1e6
}

pub(crate) fn is_read(record: &Record) -> bool {
    record.operation == Operation::Read
}

pub(crate) fn first_sector(record: &Record) -> u64 {
    record.address / SECTOR_BYTES
}

pub(crate) fn sectors(record: &Record) -> u64 {
    record.length_bytes / SECTOR_BYTES
}
