//! Measures the costs of temporary data on a device. Meant for modelled drives, where it takes no
//! real time.

use std::collections::VecDeque;

use nandle_io::runtime::{AsyncDevice, Reply, Runtime};
use nandle_io::{Arena, Operation, Shape};
use nandle_spill::{ReadCost, SpillCosts};

use crate::data::mixed;
use crate::{Area, Role, WorkloadError, World};

/// Maximum length of the region that is written and read, in bytes.
const SPAN_BYTES_MAX: u64 = 256 << 20;
const WRITE_BYTES: usize = 1 << 20;
const WRITES_IN_FLIGHT: usize = 4;
/// Lengths of reads as powers of two: 2 KiB to 1 MiB.
const READ_POWERS: std::ops::RangeInclusive<u32> = 11..=20;
const DEPTHS: [u32; 6] = [1, 2, 4, 8, 16, 32];
/// Measured reads, as multiples of the queue depth.
const ROUNDS: u32 = 8;
const READS_MIN: u32 = 24;

/// Measures sequential writes of up to 256 MiB in the temporary area, and random reads in that
/// region, a few dozen at each length and depth. On a modelled drive this takes virtual time only.
/// Overwrites the contents of the area.
///
/// # Errors
/// The device failed, or memory is short.
pub fn measure_costs(world: World) -> Result<SpillCosts, WorkloadError> {
    let area = world.temporary;
    let runtime = Runtime::new(world.io);
    let handle = runtime.handle();
    runtime.block_on(async {
        let device = handle.device(area.device);
        let Some(shape) = device.shape() else {
            let got = area.device.index().into();
            let expected = "a device of the world".to_owned();
            return Err(WorkloadError::Options { what: "the temporary data's device", got, expected });
        };
        let probe = Probe { device, area, shape, now: || handle.now().0 };
        let write_bytes_per_second = probe.writes().await?;
        let mut random_reads = Vec::new();
        for power in READ_POWERS {
            let request_bytes = 1_usize << power;
            if probe.takes(request_bytes) {
                for depth in DEPTHS {
                    random_reads.push(probe.reads(request_bytes, depth).await?);
                }
            }
        }
        Ok(SpillCosts { random_reads, write_bytes_per_second, ..SpillCosts::default() })
    })
}

struct Probe<N> {
    device: AsyncDevice,
    area: Area,
    shape: Shape,
    now: N,
}

impl<N: Fn() -> u64> Probe<N> {
    fn span_bytes(&self) -> u64 {
        self.area.length_bytes.min(SPAN_BYTES_MAX)
    }

    fn takes(&self, request_bytes: usize) -> bool {
        let bytes = request_bytes as u64;
        let fits = bytes <= self.shape.largest_transfer_bytes && bytes <= self.span_bytes();
        fits && bytes.is_multiple_of(self.shape.logical_block_bytes)
    }

    fn per_second(&self, bytes: u64, began_ns: u64) -> f64 {
        bytes as f64 * 1e9 / (self.now)().saturating_sub(began_ns).max(1) as f64
    }

    /// Measures the bandwidth of sequential writes, including the final flush.
    async fn writes(&self) -> Result<f64, WorkloadError> {
        let longest = usize::try_from(self.shape.largest_transfer_bytes).unwrap_or(usize::MAX);
        let write_bytes = WRITE_BYTES.min(longest).min(usize::try_from(self.span_bytes()).unwrap_or(longest));
        let arena = Arena::new((WRITES_IN_FLIGHT + 1) * write_bytes)?;
        let count = self.span_bytes() / write_bytes as u64;
        let began_ns = (self.now)();
        let mut in_flight = VecDeque::new();
        for number in 0..count {
            if in_flight.len() == WRITES_IN_FLIGHT {
                done(&mut in_flight).await?;
            }
            let offset_bytes = self.area.start_bytes + number * write_bytes as u64;
            let buffer = arena.allocate(write_bytes)?.freeze();
            in_flight.push_back(self.device.request(Operation::write(offset_bytes, buffer)));
        }
        while !in_flight.is_empty() {
            done(&mut in_flight).await?;
        }
        in_flight.push_back(self.device.request(Operation::Flush));
        done(&mut in_flight).await?;
        Ok(self.per_second(count * write_bytes as u64, began_ns))
    }

    async fn reads(&self, request_bytes: usize, depth: u32) -> Result<ReadCost, WorkloadError> {
        let count = READS_MIN.max(ROUNDS * depth);
        let places = self.span_bytes() / request_bytes as u64;
        let arena = Arena::new((depth as usize + 1) * request_bytes.next_multiple_of(4096))?;
        let began_ns = (self.now)();
        let mut in_flight = VecDeque::new();
        for number in 0..u64::from(count) {
            if in_flight.len() == depth as usize {
                done(&mut in_flight).await?;
            }
            let place = mixed(number ^ u64::from(depth) << 32 ^ (request_bytes as u64) << 40) % places;
            let offset_bytes = self.area.start_bytes + place * request_bytes as u64;
            let read = Operation::read(offset_bytes, arena.allocate(request_bytes)?);
            in_flight.push_back(self.device.request(read));
        }
        while !in_flight.is_empty() {
            done(&mut in_flight).await?;
        }
        let bytes_per_second = self.per_second(u64::from(count) * request_bytes as u64, began_ns);
        Ok(ReadCost { request_bytes, depth, bytes_per_second })
    }
}

async fn done(in_flight: &mut VecDeque<Reply>) -> Result<(), WorkloadError> {
    let Some(reply) = in_flight.pop_front() else { return Ok(()) };
    reply.await.result.map_err(|source| WorkloadError::Io { role: Role::Temporary, source })
}
