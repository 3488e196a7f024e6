use nandle_io::{Nanos, Operation};
use rand_distr::{Distribution, StandardNormal};

use super::Timing;
use crate::pattern::{Generator, below, generator};

/// A made-up drive: commands that are served side by side, then one controller that takes a time for each request,
/// then one bus that takes a time for each byte. So it is bound by latency, by the rate of requests, or by
/// bandwidth.
#[derive(Debug, Clone)]
pub(crate) struct Drive {
    /// Commands served side by side.
    pub(crate) commands: usize,
    /// Service time of a request of no length.
    pub(crate) request_us: f64,
    /// Service time of each byte.
    pub(crate) ns_per_byte: f64,
    /// Service times differ by up to this share from one request to the next, to either side.
    pub(crate) jitter: f64,
    /// Requests per second that the controller takes.
    pub(crate) iops_max: f64,
    /// Bytes per second of the bus.
    pub(crate) bandwidth_max: f64,
    /// From this size on requests take half as long again: they are split (C4).
    pub(crate) split_bytes: u64,
    /// How much longer groups of blocks take, while fewer than 32 requests are outstanding (C8, C9).
    pub(crate) group_factor: f64,
    /// How long requests of a sequential stream take, relative to random ones.
    pub(crate) sequential_factor: f64,
    /// From so many bytes outstanding on everything takes 40 % longer: something on the way has no more room.
    pub(crate) crowded_bytes: u64,
    /// Standard deviation of the logarithm of how fast each block size at each depth is beyond all this, for reasons
    /// of its own.
    pub(crate) quirks: f64,
    pub(crate) weather: Weather,
}

/// How a drive's speed changes with time, for no reason that the cells know.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weather {
    /// Standard deviation of the logarithm of its speed, drawn anew every 50 ms.
    pub(crate) noise: f64,
    /// Its speed goes up and down by this share, once a minute.
    pub(crate) drift: f64,
    pub(crate) seed: u64,
}

const GUST: u64 = 50_000_000;

impl Weather {
    /// How fast the drive is at a time; 1 on average.
    fn speed(self, now: Nanos) -> f64 {
        let mut drawn = generator(self.seed, 1000 + now.0 / GUST);
        let deviation: f64 = StandardNormal.sample(&mut drawn);
        let phase = (self.seed % 16) as f64 / 16.0 + now.as_secs_f64() / 60.0;
        (1.0 + self.drift * (phase * std::f64::consts::TAU).sin()) * (deviation * self.noise).exp()
    }
}

impl Drive {
    /// What the smallest request takes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of the test")]
    pub(crate) fn service_ns_min(&self) -> u64 {
        (self.request_us * 1e3) as u64
    }

    /// How much longer everything takes in a cell than by the rules.
    fn quirk(&self, bytes: u64, outstanding: u64) -> f64 {
        let crowded = if bytes * outstanding >= self.crowded_bytes { 1.4 } else { 1.0 };
        let cell = u64::from(bytes.ilog2() << 8 | outstanding.ilog2());
        let deviation: f64 = StandardNormal.sample(&mut generator(cell, 5));
        crowded * (self.quirks * deviation).exp()
    }

    pub(crate) fn timing(&self) -> impl Timing + use<> {
        Running {
            command_free_at: vec![0.0; self.commands],
            controller_free_at: 0.0,
            bus_free_at: 0.0,
            end_bytes: 0,
            run_requests: 0,
            in_groups: false,
            generator: generator(self.weather.seed, 3),
            gust: u64::MAX,
            speed: 1.0,
            drive: self.clone(),
        }
    }
}

/// Times in nanoseconds.
struct Running {
    drive: Drive,
    command_free_at: Vec<f64>,
    controller_free_at: f64,
    bus_free_at: f64,
    /// Where the last request ended, and how many before it followed one another.
    end_bytes: u64,
    run_requests: u32,
    in_groups: bool,
    generator: Generator,
    gust: u64,
    speed: f64,
}

impl Running {
    /// Follows the addresses: runs of up to 32 requests are groups, longer ones sequential.
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

impl Timing for Running {
    fn done_at(&mut self, now: Nanos, operation: &Operation, outstanding: usize) -> Nanos {
        if self.gust != now.0 / GUST {
            self.gust = now.0 / GUST;
            self.speed = self.drive.weather.speed(now);
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
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time of the test")]
        Nanos(self.bus_free_at as u64)
    }
}
