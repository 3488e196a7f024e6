//! Prediction of a plan's time, by a simulation of its queue, windows and consumer with the costs.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::costs::Prices;
use crate::plan::WINDOWS;
use crate::{Estimate, FileId, Plan, PlannedRead, PlannedWindow};

/// Processor time of the reading thread. Zero by default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HostCosts {
    /// To send a request and take its completion.
    pub request_seconds: Estimate,
    /// To check and copy a byte.
    pub byte_seconds: Estimate,
}

impl HostCosts {
    /// Processor time of this many requests and bytes.
    pub fn seconds(&self, requests: u64, bytes: u64) -> Estimate {
        self.request_seconds * requests as f64 + self.byte_seconds * bytes as f64
    }
}

/// Predicted run of a plan by a thread of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// Requests.
    pub requests: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes wanted.
    pub wanted_bytes: u64,
    /// Greatest number of outstanding requests.
    pub depth: u32,
    /// Memory for the bytes read.
    pub memory_bytes: u64,
    /// Time for which the device is busy.
    pub device_seconds: Estimate,
    /// Processor time of the reading thread.
    pub host_seconds: Estimate,
    /// Processor time of the consumer.
    pub cpu_seconds: f64,
    /// Time from the first request to the end of the last step. Device, reading thread and consumer
    /// overlap as far as memory and order allow.
    pub seconds: Estimate,
}

impl Plan {
    /// Predicts a run whose consumer works for `step_cpu_seconds` on each step. Each thread has a
    /// processor, and the run has the device, to itself.
    pub fn predict(&self, host: HostCosts, step_cpu_seconds: impl Fn(u32) -> f64) -> Prediction {
        let cpu_seconds = (0..self.steps()).map(&step_cpu_seconds).sum();
        let mut device_seconds = Estimate::default();
        for read in self.reads() {
            device_seconds += request_seconds(&self.prices, read);
        }
        let run = |figure: fn(Estimate) -> f64| Run::new(self, host, figure).play(&step_cpu_seconds);
        let [value, low, high] = [run(|of| of.value), run(|of| of.low), run(|of| of.high)];
        let windows = self.windows().iter().map(|window| window.memory_bytes).max().unwrap_or_default();
        Prediction {
            requests: self.reads().len() as u64,
            read_bytes: self.read_bytes(),
            wanted_bytes: self.wanted_bytes(),
            depth: self.depth_max(),
            memory_bytes: windows * WINDOWS.min(self.windows().len() as u64) + self.options().reserve_bytes(),
            device_seconds,
            host_seconds: host.seconds(self.reads().len() as u64, self.read_bytes()),
            cpu_seconds,
            // Requests overtake each other, so cheaper requests don't always make a shorter run.
            seconds: self.prices.with_price_error(Estimate {
                value,
                low: low.min(value),
                high: high.max(value),
            }),
        }
    }
}

/// If the reading thread takes at least this share of a request's measured time, the measurement
/// was bound by the thread.
const THREAD_BOUND: f64 = 0.9;

fn request_seconds(prices: &Prices, read: &PlannedRead) -> Estimate {
    if read.is_continued {
        prices.continued_seconds(read.length_bytes)
    } else {
        prices.random_seconds(read.length_bytes)
    }
}

/// One simulation, with one of the three figures of each cost.
struct Run<'a> {
    plan: &'a Plan,
    host: HostCosts,
    figure: fn(Estimate) -> f64,
    /// Completion time of each request, after the host's work.
    there_at: Vec<f64>,
    /// Requests in flight; the first to complete is on top.
    in_flight: BinaryHeap<Reverse<InFlight>>,
    queue_share: f64,
    /// Time at which the device finishes the previous request.
    device_free_at: f64,
    /// Completion time of the previous request.
    last_completed_at: f64,
    /// Length of the sequence that ends with the previous request.
    sequence_requests: u64,
    /// End of the previous request.
    last_end: Option<(FileId, u64)>,
    /// Time at which the reading thread finishes the previous request.
    host_free_at: f64,
    /// Completion time of the last window.
    window_there_at: f64,
    /// First request of each extent.
    first_reads: Vec<usize>,
}

/// A request in flight, with its share of a full queue. Ordered by completion time.
#[derive(Clone, Copy)]
struct InFlight {
    completed_at: f64,
    share: f64,
    /// Length of a random request; zero for a request that continues a sequence.
    jumped_bytes: u64,
}

impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.completed_at.total_cmp(&other.completed_at)
    }
}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for InFlight {}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, host: HostCosts, figure: fn(Estimate) -> f64) -> Self {
        let mut first_reads = vec![usize::MAX; plan.extents.len()];
        for (number, read) in plan.reads().iter().enumerate() {
            if let Some(first) = first_reads.get_mut(read.extent as usize) {
                *first = number.min(*first);
            }
        }
        Self {
            plan,
            host,
            figure,
            there_at: Vec::with_capacity(plan.reads().len()),
            in_flight: BinaryHeap::new(),
            queue_share: 0.0,
            device_free_at: 0.0,
            last_completed_at: 0.0,
            sequence_requests: 1,
            last_end: None,
            host_free_at: 0.0,
            window_there_at: 0.0,
            first_reads,
        }
    }

    fn play(mut self, step_cpu_seconds: &impl Fn(u32) -> f64) -> f64 {
        // End of the consumer's work on recent windows. It frees the memory for the window after
        // the next.
        let mut consumed_at: VecDeque<f64> = VecDeque::new();
        let mut now = 0.0_f64;
        let windows = self.plan.windows();
        for (number, window) in windows.iter().enumerate() {
            // Requests that can be sent before the consumer finishes this window.
            let sendable = windows.get(number + 1).unwrap_or(window).reads.end;
            let may_begin_at = if consumed_at.len() as u64 >= WINDOWS {
                consumed_at.pop_front().unwrap_or_default()
            } else {
                0.0
            };
            self.send(window, may_begin_at, sendable);
            for step in window.steps.clone() {
                let is_last = step + 1 == window.steps.end;
                let window_there_at = if is_last { self.window_there_at } else { 0.0 };
                now = now.max(self.step_ready_at(step)).max(window_there_at) + step_cpu_seconds(step);
            }
            consumed_at.push_back(now);
        }
        now
    }

    fn send(&mut self, window: &PlannedWindow, may_begin_at: f64, sendable: usize) {
        let prices = &self.plan.prices;
        let mut last_sent_at = may_begin_at;
        let reads = self.plan.reads().get(window.reads.clone()).unwrap_or_default();
        for (number, read) in window.reads.clone().zip(reads) {
            let share = 1.0 / f64::from(prices.depth(read.length_bytes));
            let mut sent_at = may_begin_at;
            while self.in_flight.peek().is_some_and(|Reverse(first)| first.completed_at <= sent_at)
                && let Some(Reverse(done)) = self.in_flight.pop()
            {
                self.queue_share -= done.share;
            }
            while self.queue_share > 1e-9 && self.queue_share + share > 1.0 + 1e-6 {
                let Some(Reverse(first)) = self.in_flight.pop() else { break };
                self.queue_share -= first.share;
                sent_at = sent_at.max(first.completed_at);
            }
            last_sent_at = last_sent_at.max(sent_at);
            let left = u32::try_from(sendable - number).unwrap_or(u32::MAX);
            let follows = read.is_continued || self.is_read_ahead(read);
            let busy = if read.is_continued {
                prices.continued_seconds(read.length_bytes)
            } else if follows {
                let beyond =
                    prices.bytes_seconds(read.offset_bytes - self.last_end.map_or(0, |(_, end)| end));
                prices.continued_seconds(read.length_bytes) + Estimate::exact(beyond)
            } else {
                prices.service_seconds(read.length_bytes, left)
            };
            let busy = (self.figure)(self.of_device(read.length_bytes, busy));
            let busy = (busy + self.read_ahead_seconds(read, follows)).max(0.0);
            // The device works on several requests at once: each takes its latency, and the device
            // its share. Beyond the busy depth, the wait for earlier requests is counted already.
            let outstanding = u32::try_from(self.in_flight.len() + 1).unwrap_or(u32::MAX);
            let outstanding = outstanding.min(prices.depth(read.length_bytes));
            let latency = if follows {
                // Sent with the first, the second of a sequence takes the full latency: undetected.
                let is_second = self.last_completed_at > sent_at && self.sequence_requests == 1;
                let alone = (self.figure)(prices.latency_seconds(read.length_bytes, 1));
                if is_second { alone } else { busy }
            } else {
                (self.figure)(self.latency(read.length_bytes, outstanding))
            };
            let completed_at = (self.device_free_at.max(sent_at) + busy).max(sent_at + latency);
            self.device_free_at = self.device_free_at.max(sent_at) + busy;
            self.last_completed_at = completed_at;
            // The device detects a sequence at its third request.
            let is_known_sequence = follows && self.sequence_requests > 1;
            let jumped_bytes = if is_known_sequence { 0 } else { read.length_bytes };
            self.sequence_requests = if follows { self.sequence_requests + 1 } else { 1 };
            self.last_end = Some((read.file, read.offset_bytes + read.length_bytes));
            self.in_flight.push(Reverse(InFlight { completed_at, share, jumped_bytes }));
            self.queue_share += share;
            let handling = (self.figure)(self.host.seconds(1, read.length_bytes));
            self.host_free_at = self.host_free_at.max(completed_at) + handling;
            self.there_at.push(self.host_free_at);
        }
        let next = sendable.saturating_sub(window.reads.end);
        self.window_there_at = last_sent_at + self.drain_seconds(last_sent_at, next);
    }

    /// Device share of a request's time. If the reading thread alone takes as long as was measured,
    /// the measurement was bound by it. Then only the transfer time is known of the device.
    fn of_device(&self, bytes: u64, busy: Estimate) -> Estimate {
        let thread = self.host.request_seconds.value;
        if thread < THREAD_BOUND * busy.value {
            return busy;
        }
        let least = self.plan.prices.bytes_seconds(bytes);
        Estimate { value: busy.value.min(least), low: busy.low.min(least), high: busy.high }
    }

    /// Returns true if a later request of the sequence finds its bytes read ahead.
    fn is_read_ahead(&self, read: &PlannedRead) -> bool {
        let Some((_, end)) =
            self.last_end.filter(|(file, end)| *file == read.file && *end <= read.offset_bytes)
        else {
            return false;
        };
        let prices = &self.plan.prices;
        let ahead = prices.sequence_seconds(read.length_bytes, self.sequence_requests).value;
        Prices::is_long_sequence(self.sequence_requests)
            && prices.bytes_seconds(read.offset_bytes - end) < ahead
    }

    /// Additional read-ahead because this request extends its sequence.
    fn read_ahead_seconds(&self, read: &PlannedRead, follows: bool) -> f64 {
        if !follows {
            return 0.0;
        }
        let sequence =
            |requests| (self.figure)(self.plan.prices.sequence_seconds(read.length_bytes, requests));
        sequence(self.sequence_requests + 1) - sequence(self.sequence_requests)
    }

    /// Latency at this queue depth. If the reading thread alone takes as long for all of the
    /// requests, the wait is for the thread, and the device serves them as at a lower depth.
    fn latency(&self, bytes: u64, outstanding: u32) -> Estimate {
        let mut outstanding = outstanding;
        loop {
            let latency = self.plan.prices.latency_seconds(bytes, outstanding);
            let of_thread = self.host.request_seconds.value * f64::from(outstanding);
            if outstanding == 1 || of_thread < THREAD_BOUND * latency.value {
                return latency;
            }
            outstanding /= 2;
        }
    }

    /// Time until the last request in flight at `at` completes: that of a batch of as many, plus
    /// those of the `next` ones that fit in the queue.
    fn drain_seconds(&self, at: f64, next: usize) -> f64 {
        let jumped =
            self.in_flight.iter().filter(|Reverse(one)| one.completed_at > at && one.jumped_bytes > 0);
        let (count, bytes) =
            jumped.fold((0_u64, 0_u64), |(count, bytes), Reverse(one)| (count + 1, bytes + one.jumped_bytes));
        let Some(mean_bytes) = bytes.checked_div(count) else { return 0.0 };
        let depth = u64::from(self.plan.prices.depth(mean_bytes));
        let beside = (next as u64).min(depth.saturating_sub(count));
        let batch = self.plan.prices.batch_seconds(mean_bytes, (count + beside) as f64);
        batch.map_or(0.0, self.figure)
    }

    fn step_ready_at(&self, step: u32) -> f64 {
        let indices = self.plan.want_indices(step);
        let wants = self.plan.wants.get(indices.clone()).unwrap_or_default();
        let extents = self.plan.want_extents.get(indices).unwrap_or_default();
        let ready_at = wants.iter().zip(extents).filter_map(|(want, extent)| {
            let number = (*extent)? as usize;
            let extent = self.plan.extents.get(number)?;
            // The last of its requests to be sent.
            let last = if extent.is_backward {
                extent.requests() - 1 - extent.request_number(want.offset_bytes)
            } else {
                extent.request_number(want.end_bytes().min(extent.end_bytes()) - 1)
            };
            self.there_at.get(self.first_reads.get(number)? + last).copied()
        });
        ready_at.fold(0.0, f64::max)
    }
}
