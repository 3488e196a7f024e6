//! Plays on modelled drives, in virtual time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's way to fail")]

use nandle_io::{Device, Io, Nanos};
use nandle_model::library::Model;
use nandle_model::media::faults::Lasts;
use nandle_model::media::{Fault, FaultPlan, MediaWorld, When};
use nandle_model::world::{Host, ModelWorld};
use nandle_replay::play::{
    AddressMap, CompletedRequest, PlayAddresses, PlayError, PlayOptions, PlaySummary, PlayWatcher, Survey,
    play,
};
use nandle_trace::{Operation, Record};

/// Reads, writes and syncs all over 64 MiB, at a constant interval.
fn records(count: u64, distance_us: u64) -> Vec<Record> {
    let record = |number: u64| {
        let (operation, length_bytes) = match number % 10 {
            9 => (Operation::Sync, 0),
            number if number % 2 == 0 => (Operation::Read, 4096),
            _ => (Operation::Write, 8192),
        };
        let address = number.wrapping_mul(7919) % 8192 * 8192;
        Record {
            time_us: 500 + number * distance_us,
            operation,
            address,
            length_bytes,
            latency_ns: Some(90_000),
        }
    };
    (0..count).map(record).collect()
}

fn drive(name: &str, host: Host) -> (Box<dyn Io>, Device) {
    let mut world = ModelWorld::new(host);
    let device = world.add(Model::named(name).unwrap().device().unwrap());
    (Box::new(world), device)
}

/// Collects the completed requests, in order of completion.
#[derive(Default)]
struct CompletionLog {
    requests: Vec<CompletedRequest>,
    cancels_after: Option<usize>,
}

impl PlayWatcher for CompletionLog {
    fn progress(&mut self, requests: u64) {
        assert!(requests > 0);
    }

    fn is_cancelled(&self) -> bool {
        self.cancels_after.is_some_and(|most| self.requests.len() >= most)
    }

    fn completed(&mut self, request: &CompletedRequest) {
        self.requests.push(request.clone());
    }
}

fn play_in(
    (mut io, device): (Box<dyn Io>, Device),
    records: &[Record],
    timing: &str,
    queue_depth: u32,
    watcher: &mut CompletionLog,
) -> Result<PlaySummary, PlayError> {
    let survey = Survey::read(records.iter().copied().map(Ok))?;
    let size = (device.shape.capacity_bytes, device.shape.logical_block_bytes);
    let options = PlayOptions {
        timing: timing.parse().unwrap(),
        queue_depth,
        places: AddressMap::new(&survey, PlayAddresses::Keep, size, false)?,
        patience: Nanos::from_secs(30),
        read_bytes: 16 << 20,
    };
    play(io.as_mut(), &device, records.iter().copied().map(Ok), &options, watcher)
}

fn play_on(name: &str, records: &[Record], timing: &str) -> (PlaySummary, Vec<CompletedRequest>) {
    let mut watcher = CompletionLog::default();
    let played = play_in(drive(name, Host::with_slots(64)), records, timing, 64, &mut watcher).unwrap();
    (played, watcher.requests)
}

#[test]
fn play_is_reproducible_to_the_nanosecond() {
    let records = records(2000, 100);
    for timing in ["asis", "think", "closed:8", "rate:20000"] {
        let [(first, requests), (second, again)] = [(); 2].map(|()| play_on("nvme-tlc", &records, timing));
        assert_eq!((requests.len(), first.failed()), (2000, 0), "{timing}");
        assert_eq!((first.elapsed, requests), (second.elapsed, again), "{timing}");
        assert_eq!(first.operations(), second.operations(), "{timing}");
    }
}

#[test]
fn asis_keeps_the_times_of_the_trace() {
    let (played, requests) = play_on("nvme-tlc", &records(500, 10_000), "asis");
    let last = Nanos::from_micros(499 * 10_000);
    assert!(played.elapsed > last && played.elapsed < last + Nanos::from_millis(10), "{}", played.elapsed);
    assert!(requests.iter().all(|request| request.response == request.service), "nothing waits");
    let schedule = played.schedule();
    assert_eq!((schedule.late_requests, schedule.held_requests, schedule.lag_ns.max), (0, 0, Some(0)));
    let [all, reads, writes, syncs] = &played.operations()[..] else { unreachable!("three kinds") };
    assert_eq!((all.requests, reads.requests, writes.requests, syncs.requests), (500, 250, 200, 50));
    assert_eq!((reads.bytes, writes.bytes, syncs.bytes), (250 * 4096, 200 * 8192, 0));
    assert_eq!(all.bytes, reads.bytes + writes.bytes);
}

#[test]
fn time_held_is_part_of_the_response_time() {
    let records = records(3000, 1);
    let mut watcher = CompletionLog::default();
    let played =
        play_in(drive("barracuda", Host::with_slots(64)), &records[..300], "asis", 4, &mut watcher).unwrap();
    let schedule = played.schedule();
    assert!(schedule.held_requests > 290, "{schedule:?}");
    let all = &played.operations()[0];
    let [response, service] = [&all.response_ns, &all.service_ns].map(|summary| summary.mean.unwrap());
    assert!(response > 10.0 * service, "{response} {service}");
    let held = schedule.held_ns.mean.unwrap() * schedule.held_requests as f64;
    let difference = (response - service) * all.requests as f64;
    assert!((held / difference - 1.0).abs() < 0.01, "held {held}, response less service {difference}");
    let rate = play_on("nvme-tlc", &records, "rate:1e9").0.schedule();
    assert!(rate.held_requests > 2500, "far beyond what the drive can do: {rate:?}");
}

#[test]
fn closed_keeps_a_fixed_number_in_flight() {
    let records = records(3000, 0);
    let [one, eight] = ["closed:1", "closed:8"].map(|timing| play_on("nvme-tlc", &records, timing));
    assert!(eight.0.elapsed.0 * 2 < one.0.elapsed.0, "{} {}", one.0.elapsed, eight.0.elapsed);
    for (played, requests) in [one, eight] {
        assert!(requests.iter().all(|request| request.response == request.service));
        assert_eq!(played.schedule().held_requests, 0);
    }
}

#[test]
fn think_keeps_the_pauses_of_the_trace() {
    let records = records(400, 1000);
    let (played, requests) = play_on("barracuda", &records, "think");
    let took: u64 = requests.iter().map(|request| request.response.0).sum();
    assert_eq!(played.elapsed.0, took + 399 * (1_000_000 - 90_000), "each pause is 1 ms less 90 us");
}

#[test]
fn late_sends_of_a_busy_host_are_counted() {
    let host = Host { slots: 256, request_cpu: Nanos::from_millis(1) };
    let played =
        play_in(drive("nvme-tlc", host), &records(200, 100), "asis", 256, &mut CompletionLog::default())
            .unwrap();
    let schedule = played.schedule();
    assert!(schedule.late_requests > 190 && schedule.lag_ns.max > Some(100_000_000), "{schedule:?}");
}

#[test]
fn split_request_counts_once() {
    let long =
        |operation| Record { time_us: 0, operation, address: 4096, length_bytes: 10 << 20, latency_ns: None };
    let records = [long(Operation::Write), long(Operation::Read), long(Operation::Discard)];
    let (played, requests) = play_on("nvme-tlc", &records, "closed:1");
    assert_eq!((played.cut, played.requests(), requests.len()), (2, 3, 3));
    assert_eq!(played.operations()[0].bytes, 20 << 20);
    let mut narrow = CompletionLog::default();
    let played = play_in(drive("nvme-tlc", Host::with_slots(2)), &records, "asis", 2, &mut narrow).unwrap();
    assert_eq!(played.requests(), 3, "pieces wait for slots");
}

#[test]
fn failed_requests_are_counted_and_the_others_continue() {
    let mut world = MediaWorld::modelled(Host::with_slots(64));
    let device = Model::named("nvme-tlc").unwrap().device().unwrap();
    let plan = FaultPlan::seeded(7).and(Fault::FailedRead(Lasts::Once), When::PerMillion(20_000));
    let media = device.media().with_faults(plan);
    let (device, _) = world.add(device, media);
    let mut watcher = CompletionLog::default();
    let played = play_in((Box::new(world), device), &records(1000, 100), "asis", 64, &mut watcher).unwrap();
    let failed = watcher.requests.iter().filter(|request| request.has_failed).count() as u64;
    assert!(failed > 20 && played.failed() == failed, "{failed}");
    assert_eq!(played.requests() + failed, 1000);
    let reads = &played.operations()[1];
    assert_eq!((reads.failed_requests, reads.requests), (failed, 500 - failed));
    assert!(played.first_error.unwrap().contains("read of 4096 bytes"));
}

#[test]
fn cancellation_waits_for_requests_in_flight() {
    let mut watcher = CompletionLog { cancels_after: Some(100), ..CompletionLog::default() };
    let drive = drive("nvme-tlc", Host::with_slots(64));
    let error = play_in(drive, &records(1000, 100), "closed:8", 64, &mut watcher).unwrap_err();
    assert!(matches!(error, PlayError::Cancelled), "{error}");
    assert!((100..120).contains(&watcher.requests.len()), "{}", watcher.requests.len());
}

#[test]
fn recorded_times_are_compared_with_played_times() {
    let mut records = records(1000, 1000);
    for record in records.iter_mut().skip(500) {
        record.latency_ns = None;
    }
    let (played, requests) = play_on("nvme-tlc", &records, "asis");
    let compared = played.comparison();
    assert_eq!((compared[0].requests, compared.len()), (500, 4), "all, reads, writes and syncs");
    assert_eq!(compared[0].recorded_ns.mean, Some(90_000.0));
    let with_time = requests.iter().filter(|request| request.record.latency_ns.is_some());
    let mean_ns = with_time.map(|request| request.response.0 as f64).sum::<f64>() / 500.0;
    assert!((compared[0].played_ns.mean.unwrap() / mean_ns - 1.0).abs() < 1e-9);
    assert!(
        compared[0].demerit_ns >= (mean_ns - 90_000.0).abs() * 0.999,
        "no less than the means' difference"
    );
}
