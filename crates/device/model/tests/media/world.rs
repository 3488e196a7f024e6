//! Media behind the `Io` interface: conformance, faults and power cuts on a world with its own
//! timing.

use nandle_io::conformance::{Faults, MemoryWorld, check};
use nandle_io::runtime::{AsyncDevice, Runtime};
use nandle_io::{Arena, Arrays, Cause, Device, DeviceId, Io, IoError, Nanos, Operation};
use nandle_model::media::{
    CrashImages, Fault, FaultPlan, Media, MediaWorld, PowerCut, Sequence, SharedMedia, When,
};

use crate::common::{Held, held};

const CAPACITY_BYTES: u64 = 4 << 20;
const BLOCK_BYTES: u32 = 512;

/// World of devices with media.
fn world(devices: u64, media: impl Fn(u64) -> Media) -> (MediaWorld<MemoryWorld>, Vec<SharedMedia>, Faults) {
    let mut inner = MemoryWorld::new(64, Nanos::from_micros(50));
    for _ in 0..devices {
        inner.add(CAPACITY_BYTES, u64::from(BLOCK_BYTES));
    }
    let faults = inner.faults();
    let mut world = MediaWorld::new(inner);
    let ids: Vec<DeviceId> = world.devices().iter().map(|device| device.id).collect();
    let media = ids.into_iter().map(|id| world.attach(id, media(u64::from(id.index()))).unwrap()).collect();
    (world, media, faults)
}

fn plain(_device: u64) -> Media {
    Media::new(CAPACITY_BYTES, BLOCK_BYTES)
}

#[test]
fn a_world_with_media_passes_the_suite() {
    let spikes = Fault::LatencySpike { extra_ns: 70_000 };
    let spiky = FaultPlan::seeded(2).and(spikes, When::PerMillion(200_000));
    for (seed, plan) in (1..).zip([FaultPlan::none(), spiky]) {
        let (mut world, media, _) = world(1, |device| plain(device).with_faults(plan.for_device(device)));
        let device = world.devices()[0].clone();
        check(&mut world, &device, seed);
        assert!(media[0].borrow().operations() > 100);
    }
}

#[test]
fn an_array_over_media_passes_the_suite() {
    let (world, ..) = world(4, plain);
    let children: Vec<DeviceId> = world.devices().iter().map(|device| device.id).collect();
    let mut arrays = Arrays::new(Box::new(world));
    let device = arrays.raid10(&children, 4096).unwrap();
    check(&mut arrays, &device, 3);
}

/// Commits on RAID 10: data, flush, header, flush. Returns the sequence's position after each.
async fn commits(
    device: AsyncDevice,
    arena: Arena,
    flushes: bool,
    media: SharedMedia,
) -> Result<Vec<u64>, IoError> {
    let mut acknowledged = vec![0];
    for version in 1..=4_u8 {
        for at in [u64::from(1 + version % 2) * 4096, 0] {
            let mut buffer = arena.allocate(BLOCK_BYTES as usize).unwrap();
            buffer.fill(version);
            device.write(at, buffer.freeze()).await?;
            if flushes || at == 0 {
                device.flush().await?;
            }
        }
        acknowledged.push(media.borrow().position());
    }
    Ok(acknowledged)
}

/// Number of power cuts, and of those that break a promise on either leg.
fn violations(flushes: bool) -> (usize, usize) {
    let sequence = Sequence::default();
    let (world, media, _) = world(2, |device| plain(device).recorded_in(&sequence));
    let children: Vec<DeviceId> = world.devices().iter().map(|device| device.id).collect();
    let mut arrays = Arrays::new(Box::new(world));
    let device: Device = arrays.raid10(&children, 4096).unwrap();
    let runtime = Runtime::new(Box::new(arrays));
    let handle = runtime.handle();
    let arena = Arena::new(1 << 20).unwrap();
    let run = commits(handle.device(device.id), arena, flushes, media[0].clone());
    let acknowledged = runtime.block_on(run).unwrap();
    let promised = |cut: u64| acknowledged.iter().rposition(|at| *at <= cut).unwrap() as u64;
    let media: Vec<_> = media.iter().map(|media| media.borrow()).collect();
    let recordings: Vec<_> = media.iter().map(|media| media.recording().unwrap()).collect();
    let power = PowerCut { choices: 30, ..PowerCut::seeded(1) };
    let (mut images, mut violations) = (0, 0);
    for image in CrashImages::new(&recordings, power).distinct(promised) {
        images += 1;
        let broken = image.contents.iter().any(|leg| {
            // A block of 512 bytes is eight test blocks of the repeated byte `version`.
            let version = |at: u64| match held(leg, at / crate::common::BLOCK_BYTES as u64) {
                Held::Number(number) => number & 0xFF,
                Held::Other(_) => u64::MAX,
            };
            let header = version(0);
            header < promised(image.cut) || (header > 0 && version((1 + header % 2) * 4096) != header)
        });
        violations += usize::from(broken);
    }
    (images, violations)
}

#[test]
fn a_store_on_a_mirror_can_be_cut_everywhere() {
    let (images, found) = violations(true);
    // At first nothing; for each commit both legs' data, old or new, then their headers, and the
    // latter again when acknowledged.
    assert_eq!((images, found), (1 + 4 * (3 + 3 + 1), 0));
    assert!(violations(false).1 > 0, "the skipped flush is found");
}

#[test]
fn a_spike_delays_the_completion_and_lets_others_pass() {
    let spike = Fault::LatencySpike { extra_ns: 70_000 };
    let plan = FaultPlan::none().and(spike, When::Operation(0));
    let (world, ..) = world(1, |device| plain(device).with_faults(plan.clone()));
    let id = world.devices()[0].id;
    let runtime = Runtime::new(Box::new(world));
    let device = runtime.handle().device(id);
    let flushed_at = runtime.block_on(async {
        let replies = [device.request(Operation::Flush), device.request(Operation::Flush)];
        let mut flushed_at = Vec::new();
        for reply in replies {
            flushed_at.push(reply.await.completed_at);
        }
        flushed_at
    });
    assert_eq!(flushed_at, [Nanos::from_micros(120), Nanos::from_micros(50)]);
}

#[test]
fn faults_reach_the_host_as_errors() {
    let plan = FaultPlan::none().and(Fault::NoSpace, When::Operation(1));
    let (world, media, faults) = world(1, |device| plain(device).with_faults(plan.clone()));
    let id = world.devices()[0].id;
    faults.fail_next(id, "flush", Cause::System(5));
    let runtime = Runtime::new(Box::new(world));
    let device = runtime.handle().device(id);
    let arena = Arena::new(1 << 20).unwrap();
    let block = || arena.allocate(BLOCK_BYTES as usize).unwrap().freeze();
    let causes = runtime.block_on(async {
        let results = [device.write(0, block()).await, device.write(0, block()).await, device.flush().await];
        results.map(|result| result.err().map(|error| error.cause))
    });
    assert_eq!(causes, [None, Some(Cause::System(28)), Some(Cause::System(5))]);
    assert_eq!(media[0].borrow().operations(), 3);
}
