use nandle_io::{Nanos, Operation};
use rand_distr::{Distribution, StandardNormal};

use super::Timing;
use crate::pattern::{Generator, below, generator};

/// Drive model for tests: parallel command slots, then one controller with a time per request, then
/// one bus with a time per byte. So throughput is limited by latency, by request rate, or by
/// bandwidth.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    /// Commands served in parallel.
    pub(crate) commands: usize,
    /// Service time of a request of zero bytes.
    pub(crate) request_us: f64,
    /// Service time of each byte.
    pub(crate) ns_per_byte: f64,
    /// Largest relative deviation of a service time, in either direction.
    pub(crate) jitter: f64,
    /// Requests per second of the controller.
    pub(crate) iops_max: f64,
    /// Bytes per second of the bus.
    pub(crate) bandwidth_max: f64,
    /// Requests of at least this size take 50 % longer, because they are split (C4).
    pub(crate) split_bytes: u64,
    /// Slowdown of groups of blocks while fewer than 32 requests are outstanding (C8, C9).
    pub(crate) group_factor: f64,
    /// Service time of sequential requests relative to random ones.
    pub(crate) sequential_factor: f64,
    /// Bytes outstanding from which everything takes 40 % longer, as if a buffer were full.
    pub(crate) crowded_bytes: u64,
    /// Standard deviation of the logarithm of a cell's own speed factor, which no other parameter
    /// explains.
    pub(crate) quirks: f64,
    pub(crate) variation: SpeedVariation,
}

/// Variation of a drive's speed over time, independent of the cell.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SpeedVariation {
    /// Standard deviation of the logarithm of the speed, drawn anew every 50 ms.
    pub(crate) noise: f64,
    /// Relative amplitude of a speed oscillation with a period of one minute.
    pub(crate) drift: f64,
    pub(crate) seed: u64,
}

const NOISE_INTERVAL_NS: u64 = 50_000_000;

impl SpeedVariation {
    /// Speed factor at time `now`; 1 on average.
    fn speed(self, now: Nanos) -> f64 {
        let mut drawn = generator(self.seed, 1000 + now.0 / NOISE_INTERVAL_NS);
        let deviation: f64 = StandardNormal.sample(&mut drawn);
        let phase = (self.seed % 16) as f64 / 16.0 + now.as_secs_f64() / 60.0;
        (1.0 + self.drift * (phase * std::f64::consts::TAU).sin()) * (deviation * self.noise).exp()
    }
}

impl Drive {
    /// Service time of the smallest request.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small time of a test")]
    pub(crate) fn service_ns_min(&self) -> u64 {
        (self.request_us * 1e3) as u64
    }

    /// Slowdown of a cell that the other rules don't explain.
    fn quirk(&self, bytes: u64, outstanding: u64) -> f64 {
        let crowded = if bytes * outstanding >= self.crowded_bytes { 1.4 } else { 1.0 };
        let cell = u64::from(bytes.ilog2() << 8 | outstanding.ilog2());
        let deviation: f64 = StandardNormal.sample(&mut generator(cell, 5));
        crowded * (self.quirks * deviation).exp()
    }

    pub(crate) fn timing(&self) -> impl Timing + use<> {
        DriveState {
            command_free_at: vec![0.0; self.commands],
            controller_free_at: 0.0,
            bus_free_at: 0.0,
            end_bytes: 0,
            run_requests: 0,
            in_groups: false,
            generator: generator(self.variation.seed, 3),
            noise_interval: u64::MAX,
            speed: 1.0,
            drive: self.clone(),
        }
    }
}

/// State of a drive under load. All times are in nanoseconds.
struct DriveState {
    drive: Drive,
    command_free_at: Vec<f64>,
    controller_free_at: f64,
    bus_free_at: f64,
    /// End of the last request. `run_requests` counts the sequential requests up to it.
    end_bytes: u64,
    run_requests: u32,
    in_groups: bool,
    generator: Generator,
    noise_interval: u64,
    speed: f64,
}

impl DriveState {
    /// Classifies the address stream: runs of up to 32 requests are groups, longer runs are
    /// sequential.
    fn follow(&mut self, operation: &Operation) {
        if operation.offset_bytes() == self.end_bytes {
            self.run_requests += 1;
            self.in_groups &= self.run_requests <= 32;
        } else {
            self.in_groups = (2..=32).contains(&self.run_requests);
            self.run_requests = 1;
        }
        self.end_bytes = operation.offset_bytes() + operation.length_bytes();
    }

    fn service_ns(&self, bytes: f64, outstanding: usize) -> f64 {
        let drive = &self.drive;
        let split = if bytes >= drive.split_bytes as f64 { 1.5 } else { 1.0 };
        let order = match (self.in_groups, self.run_requests) {
            (true, _) if outstanding < 31 => drive.group_factor,
            (false, 3..) => drive.sequential_factor,
            _ => 1.0,
        };
        (drive.request_us * 1e3 + bytes * drive.ns_per_byte) * split * order
    }
}

impl Timing for DriveState {
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos {
        if self.noise_interval != now.0 / NOISE_INTERVAL_NS {
            self.noise_interval = now.0 / NOISE_INTERVAL_NS;
            self.speed = self.drive.variation.speed(now);
        }
        self.follow(operation);
        let pace = self.speed / self.drive.quirk(operation.length_bytes(), outstanding as u64 + 1);
        let bytes = operation.length_bytes() as f64;
        let jitter = (below(&mut self.generator, 2001) as f64 / 1000.0 - 1.0) * self.drive.jitter;
        let service = self.service_ns(bytes, outstanding) * (1.0 + jitter) / pace;
        let command = self.command_free_at.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        *command = command.max(now.0 as f64) + service;
        let controller = 1e9 / self.drive.iops_max / pace;
        self.controller_free_at = self.controller_free_at.max(*command) + controller;
        let bus = bytes / self.drive.bandwidth_max * 1e9 / pace;
        self.bus_free_at = self.bus_free_at.max(self.controller_free_at) + bus;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small time of a test")]
        Nanos(self.bus_free_at as u64)
    }
}
